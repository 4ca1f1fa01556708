"""Model files that `Factorization.save` wrote, with damaged bytes or a damaged structure.

A case loads the file, by the library and by `cosep transform`, and uses the model: error, core, names, explanation, new
rows, and sometimes the report. Damage to the stored numbers themselves cannot be detected.
"""

import io
import json
import warnings
import zipfile
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse

from cosep import CoSeparableNMF, Factorization, explain, mix, spa
from cosep.cli.model_folder import load_model
from cosep.cli.transform import completed, transformed
from cosep.io import NamedMatrix
from cosep.report import write_report
from fuzz.binary_mutations import mutate_archive, write_archive
from fuzz.canaries import EXECUTED
from fuzz.corpus import COL_NAMES, ROW_NAMES, matrix
from fuzz.harness import Case, Limits
from fuzz.mutations import mutate_bytes, mutate_json
from fuzz.outcomes import WRONG_ANSWER, CaseEnded

CASES = 2000
BATCH = 25
LIMITS = Limits(cpu=10.0)
# Cases below these draws change bytes, the header or the norm, the others change entries.
BYTES_SHARE, HEADER_SHARE, SCALING_SHARE = 0.35, 0.6, 0.75
# The share of cases that write a report.
REPORT_SHARE = 0.05
# Factors of a norm that are not positive, not finite, or whose squares are beyond the range of floats.
WRONG_FACTORS = (0.0, -0.0, -1.0, np.nan, np.inf, -np.inf, 5e-324, 1e-308, 1e-160, 1e160, 1e308)

_MODELS: dict[str, bytes] = {}


def prepare(folder: Path) -> None:
    """Save models of several kinds, and use each once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, record in records().items():
            path = folder / f"{name}.npz"
            record.save(path)
            _MODELS[name] = path.read_bytes()
            with suppress(ValueError):  # the command rejects a model of one side
                use(path, folder / "warm.html")


def records() -> dict[str, Factorization]:
    """Return factorizations of several kinds, with names and without."""
    X = matrix()
    names: dict[str, Any] = {"row_names": np.array(ROW_NAMES), "col_names": np.array(COL_NAMES)}
    meta = {"method": "faithful", "scaling": None, "command": "cosep fit x.csv"}
    full = CoSeparableNMF(3, 2, scaling=None).fit(X).factorization_
    weights = np.arange(len(X)) % 3 + 1
    weighted = CoSeparableNMF(2, 2, scaling="rows").fit(X, sample_weight=weights).factorization_
    scaled = CoSeparableNMF(2, 3, scaling="degree").fit(scipy.sparse.csr_array(X)).factorization_
    narrow = CoSeparableNMF(2, 2).fit(X.astype(np.float32)).factorization_
    text = {"column": None, "stop_words": "english", "min_df": 2, "top_words": None, "lowercase": True}
    return {
        "full": replace(full, **names, meta={**full.meta, **meta}),
        "scaled": replace(scaled, **names, meta={**scaled.meta, **meta}),
        "weighted": replace(weighted, **names, meta={**weighted.meta, **meta}),
        "texts": replace(narrow, **names, meta={**narrow.meta, **meta, "text": text}),
        "one side": mix(X, spa(X, 3)),
    }


def make(random: Random, folder: Path) -> Case:
    """Choose a model and mutate it."""
    kind = random.choice(sorted(_MODELS))
    data, share = _MODELS[kind], random.random()
    if share < BYTES_SHARE:
        data = mutate_bytes(random, data, _MODELS[random.choice(sorted(_MODELS))])
    elif share < HEADER_SHARE:
        data = _with_another_header(random, data)
    elif share < SCALING_SHARE:
        data = _with_another_scaling(random, data)
    else:
        data = mutate_archive(random, data, folder)
    path = folder / "model.npz"
    path.write_bytes(data)
    page = folder / "page.html" if random.random() < REPORT_SHARE else None
    return Case(kind, partial(use, path, page))


def _with_another_header(random: Random, data: bytes) -> bytes:
    """Change the JSON header of a model, or its names."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    changed = []
    for name, held in entries:
        if name == "header.npy":
            text = mutate_json(random, str(np.load(io.BytesIO(held)).item()))
            # NumPy stores any number as a character, also numbers that are not valid Unicode.
            letters = np.array(list(map(ord, text)) or [32], dtype=np.uint32)
            if random.random() < 0.05:
                letters[random.randrange(len(letters))] = random.choice((0x110000, 0xD800, 0xFFFFFFFF))
            sink = io.BytesIO()
            np.save(sink, letters.view(f"<U{len(letters)}").reshape(()))
            held = sink.getvalue()
        elif name.endswith("_names.npy") and random.random() < 0.3:
            names = np.load(io.BytesIO(held))
            letters = names.view(np.uint32).copy()
            letters[random.randrange(len(letters))] = random.choice((0x110000, 0xD800, 0x1B, 0x0A, 0x0D, 0, 0x202E))
            sink = io.BytesIO()
            np.save(sink, letters.view(names.dtype))
            held = sink.getvalue()
        changed.append((name, held))
    return write_archive(random, changed)


def _with_another_scaling(random: Random, data: bytes) -> bytes:
    """Change the factors of the norm: their values, number, type or shape, or whether they are there."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {info.filename: archive.read(info) for info in archive.infolist()}
    rows, cols = "scaling_rows.npy", "scaling_cols.npy"
    target = random.choice((rows, cols))
    factors = np.load(io.BytesIO(entries[target])) if target in entries else np.ones(random.choice((3, 8)))
    change = random.choice(("value", "value", "all", "length", "type", "shape", "drop", "swap"))
    if change == "drop":
        entries.pop(target, None)
    elif change == "swap" and rows in entries:
        entries[rows], entries[cols] = entries[cols], entries[rows]
    else:
        sink = io.BytesIO()
        np.save(sink, _changed_factors(random, factors, change))
        entries[target] = sink.getvalue()
    return write_archive(random, list(entries.items()))


def _changed_factors(random: Random, factors: Any, change: str) -> Any:
    """Return factors with one change."""
    factors = factors.copy()
    if change == "value":
        factors[random.randrange(len(factors))] = random.choice(WRONG_FACTORS)
    elif change == "all":
        factors = factors * 0 + random.choice(WRONG_FACTORS)
    elif change == "length":
        factors = factors[: random.choice((0, 1, len(factors) - 1))]
    elif change == "type":
        factors = factors.astype(random.choice(("f2", "f4", ">f8", "g", "c16", "i8", "U8", "?")))
    else:
        factors = random.choice((factors[None], factors[:, None], np.asarray(factors[0])))
    return factors


def use(path: Path, page: Path | None) -> None:
    """Load a model by the library and by the command, and use it."""
    try:
        record = Factorization.load(path)
        _check(record)
        X = matrix()
        if record.shape == X.shape:
            _measure(record, X, page)
        loaded = load_model(path)
        n = loaded.shape[1]
        rows = np.array([f"new {k}" for k in range(4)])
        data = NamedMatrix(np.ones((4, n)), rows, np.asarray(loaded.col_names))
        for table in (transformed(loaded, data), completed(loaded, data)):
            json.dumps(table)
    finally:
        if (path.parent / EXECUTED).exists():
            raise CaseEnded(WRONG_ANSWER, "something in the file was executed", "executed")


def _measure(record: Factorization, X: Any, page: Path | None) -> None:
    error = record.relative_error(X)
    if not error >= 0:
        raise CaseEnded(WRONG_ANSWER, f"the relative error is {error}", "relative error")
    record.T.row_errors(X.T)
    if record.core is None or record.selection is None:
        return
    record.diagnose_core()
    if record.row_weights is None or record.col_weights is None:
        return
    record.fidelity(X)
    explanation = explain(X, record)
    if page is not None:
        write_report(X, record, page, explanation=explanation)


def _check(record: Factorization) -> None:
    """Check that all names are valid Unicode and all factors finite."""
    for name in ("row_names", "col_names"):
        names = getattr(record, name)
        for one in [] if names is None else names.tolist():
            try:
                one.encode()
            except UnicodeEncodeError:
                raise CaseEnded(WRONG_ANSWER, f"{name} has {one!r}, which is not valid Unicode", "names") from None
    for name in ("row_factor", "core", "col_factor", "row_weights", "col_weights"):
        part = getattr(record, name)
        if part is not None and not np.isfinite(part).all():
            raise CaseEnded(WRONG_ANSWER, f"{name} is not finite", name)
    json.dumps(dict(record.meta))
