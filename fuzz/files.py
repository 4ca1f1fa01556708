"""Files and folders that `cosep.io` reads, damaged in their bytes or in their structure, and sound ones in any form.

A case reads one input by `read` or `read_blocks`, looks at the matrix and its names, and fits a small model to it. An
answer is wrong if the matrix is not finite and nonnegative, if names do not fit, if something outside of the input was
read, or if anything in it was executed. Sound inputs must give the matrix that was written. Damage to the stored
numbers themselves cannot be seen and does not count.
"""

import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import dask
import numpy as np
import scipy.sparse

from cosep import CoSeparableNMF
from cosep.io import read, read_blocks
from fuzz import sound
from fuzz.harness import Case, Limits
from fuzz.mutations import bytes_of
from fuzz.outcomes import WRONG_ANSWER, Found
from fuzz.seeds import Seed, put, seeds
from fuzz.structures import structure_of
from fuzz.traps import EXECUTED, SECRET_NUMBER, SECRET_WORD, put_secrets

CASES = 10_000
BATCH = 40
LIMITS = Limits()
# Inputs that are fitted have at most so many entries, and names are read of at most so many rows.
SMALL, FEW = 20_000, 5000
# Shares of cases: sound inputs, and of the others changes to bytes alone.
SOUND_SHARE, BYTES_SHARE = 0.1, 0.5

_SEEDS: list[Seed] = []


def prepare(folder: Path) -> None:
    """Make the seeds and the secrets, and read every seed once."""
    made = folder / "seeds"
    made.mkdir(exist_ok=True)
    found = seeds(made)
    # HDF5 has the most code below it, and that of others: its files are tried three times as often.
    _SEEDS[:] = [seed for seed in found for _ in range(3 if "h5ad" in seed.kind else 1)]
    put_secrets(folder)
    # Threads of Dask would be lost in a child; those that it starts itself are its own.
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, seed in enumerate(_SEEDS):
            place = folder / f"warm-{k}"
            put(place, seed.files)
            with suppress(ValueError, Found):  # what is refused here is counted later
                look(seed, place / seed.entry)


def make(random: Random, folder: Path) -> Case:
    """Choose a seed and change it, or write a sound matrix in any form."""
    if random.random() < SOUND_SHARE:
        return sound.make(random, folder)
    seed = random.choice(_SEEDS)
    if random.random() < BYTES_SHARE:
        name = random.choice(sorted(seed.files))
        other = random.choice(_SEEDS)
        part = other.files[random.choice(sorted(other.files))]
        files = {**seed.files, name: bytes_of(random, seed.files[name], part)}
    else:
        files = structure_of(random, seed.files, folder)
    put(folder, files)
    return Case(seed.kind, partial(look, seed, folder / seed.entry))


def look(seed: Seed, path: Path) -> None:
    """Read an input, look at everything in it, and fit a small model."""
    try:
        if seed.blocks:
            _look_at_blocks(read_blocks(path, **seed.options))
        else:
            _look_at_matrix(read(path, **seed.options))
    finally:
        if (path.parent / EXECUTED).exists():
            raise Found(WRONG_ANSWER, "something in the file was executed", "executed")


def _look_at_matrix(data: Any) -> None:
    values = data.values
    entries = values.data if scipy.sparse.issparse(values) else values
    if values.dtype not in (np.float32, np.float64) or not (np.isfinite(entries) & (entries >= 0)).all():
        raise Found(WRONG_ANSWER, "the matrix is not finite and nonnegative", "matrix")
    m, n = values.shape
    for names, size in ((data.row_names, m), (data.col_names, n), (data.labels, m)):
        _check_names(names, size)
    if SECRET_NUMBER in entries or SECRET_WORD in data.col_names:
        raise Found(WRONG_ANSWER, "a file outside of the input was read", "outside")
    if m * n <= SMALL:
        CoSeparableNMF(min(2, m), min(2, n), method="spa").fit(values)


def _look_at_blocks(blocks: Any) -> None:
    m, n = blocks.shape
    if n <= FEW:
        _check_names(blocks.col_names, n)
    if blocks.row_names is not None and m <= FEW:
        _check_names(blocks.row_names(np.arange(m)), m)
    if m * n <= SMALL:
        model = CoSeparableNMF(min(2, m), min(2, n), method="spa").fit(blocks)
        if SECRET_NUMBER in model.core_:
            raise Found(WRONG_ANSWER, "a file outside of the input was read", "outside")


def _check_names(names: Any, size: int) -> None:
    if names is None:
        return
    if len(names) != size or not all(isinstance(name, str) for name in np.asarray(names).tolist()):
        raise Found(WRONG_ANSWER, f"{len(names)} names for {size}", "names")
    for name in np.asarray(names).tolist():
        try:
            name.encode()
        except UnicodeEncodeError:
            raise Found(WRONG_ANSWER, f"the name {name!r} is no Unicode", "names") from None
