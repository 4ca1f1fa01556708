"""Files and folders that `cosep.io` reads, with damaged bytes or a damaged structure, and intact ones in all variants.

A case reads one input by `read` or `read_blocks`, checks the matrix and its names, and fits a small model to it. An
answer is wrong if the matrix is not finite and nonnegative, if the names do not match its shape, if a file outside of
the input was read, or if anything in the input was executed. Intact inputs must give the matrix that was written.
Damage to the stored numbers themselves cannot be detected and does not count.
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
from fuzz import intact_files
from fuzz.canaries import CANARY_NUMBER, CANARY_WORD, EXECUTED, write_canaries
from fuzz.corpus import SampleInput, sample_inputs, write_files
from fuzz.harness import Case, Limits
from fuzz.mutations import mutate_bytes
from fuzz.outcomes import WRONG_ANSWER, CaseEnded
from fuzz.structure_mutations import mutate_structure

CASES = 10_000
BATCH = 40
LIMITS = Limits()
# Fit a model to inputs with at most this many entries, and read the names of at most this many rows.
MAX_FITTED_ENTRIES, MAX_NAMED_ROWS = 20_000, 5000
# Share of cases with intact inputs, and share of byte mutations among the others.
INTACT_SHARE, BYTES_SHARE = 0.1, 0.5

_SAMPLES: list[SampleInput] = []


def prepare(folder: Path) -> None:
    """Write the sample inputs and the canaries, and read every sample once."""
    samples_folder = folder / "samples"
    samples_folder.mkdir(exist_ok=True)
    samples = sample_inputs(samples_folder)
    # The HDF5 library is large and not ours, so its files are tried three times as often.
    _SAMPLES[:] = [sample for sample in samples for _ in range(3 if "h5ad" in sample.kind else 1)]
    write_canaries(folder)
    # Threads of Dask would not survive the fork. Children start their own.
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, sample in enumerate(_SAMPLES):
            place = folder / f"warm-{k}"
            write_files(place, sample.files)
            with suppress(ValueError, CaseEnded):  # errors are counted later
                check_input(sample, place / sample.entry)


def make(random: Random, folder: Path) -> Case:
    """Choose a sample input and mutate it, or write an intact input."""
    if random.random() < INTACT_SHARE:
        return intact_files.make(random, folder)
    sample = random.choice(_SAMPLES)
    if random.random() < BYTES_SHARE:
        name = random.choice(sorted(sample.files))
        other = random.choice(_SAMPLES)
        part = other.files[random.choice(sorted(other.files))]
        files = {**sample.files, name: mutate_bytes(random, sample.files[name], part)}
    else:
        files = mutate_structure(random, sample.files, folder)
    write_files(folder, files)
    return Case(sample.kind, partial(check_input, sample, folder / sample.entry))


def check_input(sample: SampleInput, path: Path) -> None:
    """Read an input, check the matrix and its names, and fit a small model."""
    try:
        if sample.blocks:
            _check_blocks(read_blocks(path, **sample.options))
        else:
            _check_matrix(read(path, **sample.options))
    finally:
        if (path.parent / EXECUTED).exists():
            raise CaseEnded(WRONG_ANSWER, "something in the file was executed", "executed")


def _check_matrix(data: Any) -> None:
    values = data.values
    entries = values.data if scipy.sparse.issparse(values) else values
    if values.dtype not in (np.float32, np.float64) or not (np.isfinite(entries) & (entries >= 0)).all():
        raise CaseEnded(WRONG_ANSWER, "the matrix is not finite and nonnegative", "matrix")
    m, n = values.shape
    for names, size in ((data.row_names, m), (data.col_names, n), (data.labels, m)):
        _check_names(names, size)
    if CANARY_NUMBER in entries or CANARY_WORD in data.col_names:
        raise CaseEnded(WRONG_ANSWER, "a file outside of the input was read", "outside")
    if m * n <= MAX_FITTED_ENTRIES:
        CoSeparableNMF(min(2, m), min(2, n), method="spa").fit(values)


def _check_blocks(blocks: Any) -> None:
    m, n = blocks.shape
    if n <= MAX_NAMED_ROWS:
        _check_names(blocks.col_names, n)
    if blocks.row_names is not None and m <= MAX_NAMED_ROWS:
        _check_names(blocks.row_names(np.arange(m)), m)
    if m * n <= MAX_FITTED_ENTRIES:
        model = CoSeparableNMF(min(2, m), min(2, n), method="spa").fit(blocks)
        if CANARY_NUMBER in model.core_:
            raise CaseEnded(WRONG_ANSWER, "a file outside of the input was read", "outside")


def _check_names(names: Any, size: int) -> None:
    if names is None:
        return
    if len(names) != size or not all(isinstance(name, str) for name in np.asarray(names).tolist()):
        raise CaseEnded(WRONG_ANSWER, f"{len(names)} names for {size}", "names")
    for name in np.asarray(names).tolist():
        try:
            name.encode()
        except UnicodeEncodeError:
            raise CaseEnded(WRONG_ANSWER, f"the name {name!r} is not valid Unicode", "names") from None
