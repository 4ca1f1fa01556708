"""Random small matrices in blocks of rows and the same matrices in memory: the results must be equal.

Matrices are dense or sparse, with ties, repeated rows and zero rows. Blocks end anywhere, and some are empty. The
selected rows and columns must be those of the fit in memory, weights and fidelities equal up to rounding. In blocks,
the factors are fitted by another method, so clusters are compared with those of a single block. Zero rows and columns,
and no others, belong to no cluster.
"""

import warnings
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import dask
import numpy as np
import scipy.sparse

from cosep import CoSeparableNMF, SelectionWarning, make_coseparable, row_blocks
from cosep.matrix.row_blocks import RowBlocks
from cosep.select import BOTH_SELECTORS
from fuzz.harness import Case, Limits
from fuzz.outcomes import WRONG_ANSWER, CaseEnded

CASES = 500
BATCH = 25
LIMITS = Limits(cpu=20.0)
EQUAL_TOL = 1e-7
KINDS = ("planted", "counts", "ties", "repeated", "noise")


def prepare(folder: Path) -> None:
    """Fit once by every method, in memory and in blocks."""
    X = matrix(Random(0), "planted")
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in BOTH_SELECTORS:
            for form in (np.asarray, scipy.sparse.csr_array):
                with suppress(ValueError, CaseEnded):  # errors are counted later
                    compare(X, form, [3, len(X)], {"n_rows": 2, "n_cols": 2, "method": method})
    del folder


def matrix(random: Random, kind: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a random matrix of one kind."""
    m, n = random.randint(4, 40), random.randint(3, 15)
    draw = np.random.default_rng(random.getrandbits(64))
    if kind == "planted":
        r = min(3, m - 1, n - 1)
        X = make_coseparable(m, n, r, r, noise=random.choice((0.0, 0.1)), random_state=random.getrandbits(31))[0]
    elif kind == "counts":
        X = draw.poisson(draw.gamma(0.3, 2.0, size=(m, n))).astype(float)
    elif kind == "ties":
        X = draw.integers(0, 3, size=(m, n)).astype(float)
    elif kind == "repeated":
        X = np.round(draw.uniform(size=(4, n)), 2)[draw.integers(0, 4, size=m)]
    else:
        X = draw.uniform(size=(m, n)) * 10.0 ** random.choice((0, 0, -30, 5))
    if random.random() < 0.4:
        X[draw.integers(0, m, size=max(1, m // 5))] = 0.0
    if random.random() < 0.3:
        X[:, draw.integers(0, n)] = 0.0
    return X


def make(random: Random, folder: Path) -> Case:
    """Choose a matrix, its storage, its blocks, and the options of the fit."""
    kind = random.choice(KINDS)
    X = matrix(random, kind)
    m, n = X.shape
    cuts = sorted(random.choice((0, m, random.randint(0, m))) for _ in range(random.randint(1, 6)))
    form = random.choice((np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_array))
    options: dict[str, Any] = {
        "n_rows": random.randint(1, min(4, m)),
        "n_cols": random.randint(1, min(4, n)),
        "method": random.choice(sorted(BOTH_SELECTORS)),
        "random_state": 0,
        "scaling": random.choice((None, "rows", "columns", "degree", "degree", "pair")),
    }
    if options["scaling"] == "pair":
        options["scaling"] = tuple([random.uniform(0.1, 10.0) for _ in range(size)] for size in X.shape)
    if random.random() < 0.3:
        options["sample_weight"] = [random.choice((0, 1, 1, 2, 0.5, 7.0)) for _ in range(m)]
    np.save(folder / "X.npy", X)
    (folder / "options.txt").write_text(f"{options}\n{form.__name__}, cut at {cuts}\n", encoding="utf-8")
    return Case(f"{kind}, {options['method']}", partial(compare, X, form, cuts, options))


def cut_into_blocks(X: Any, form: Any, cuts: list[int]) -> RowBlocks:
    """Return a matrix in blocks of rows, also empty ones."""
    ends = [0, *cuts, len(X)]
    return row_blocks([form(X[a:b]) for a, b in pairwise(ends)])


def compare(X: Any, form: Any, cuts: list[int], options: dict[str, Any]) -> None:
    """Fit in memory, in one block and in several; all must agree, also on errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        whole = _fit_or_error(form(X), options)
        single = _fit_or_error(cut_into_blocks(X, form, []), options)
        parts = _fit_or_error(cut_into_blocks(X, form, cuts), options)
    errors = [one for one in (whole, single, parts) if isinstance(one, ValueError)]
    if len(errors) == 3:
        raise errors[-1]
    if errors:
        detail = f"not all raise an error: memory {whole}, one block {single}, blocks {parts}"
        raise CaseEnded(WRONG_ANSWER, detail, f"error of {options['method']}")
    _check_equal(whole, parts, ("row_indices_", "col_indices_"), options, "memory")
    _check_equal(single, parts, ("row_labels_", "column_labels_"), options, "one block")
    for name in ("row_weights_", "col_weights_", "row_fidelity_", "col_fidelity_", "core_fidelity_"):
        one, other = (np.asarray(getattr(model, name), dtype=float) for model in (whole, parts))
        if not np.allclose(one, other, rtol=0, atol=EQUAL_TOL * max(1.0, float(np.abs(one).max(initial=0.0)))):
            detail = f"{name} differs by {np.abs(one - other).max():.1e}"
            raise CaseEnded(WRONG_ANSWER, detail, f"{name} {options['method']}")
    for model, where in ((whole, "memory"), (parts, "blocks")):
        for name, axis in (("row_labels_", 1), ("column_labels_", 0)):
            # Columns are those of the rows that are not left out.
            counted = X if axis == 1 else X[np.asarray(options.get("sample_weight", np.ones(len(X)))) > 0]
            if not np.array_equal(np.asarray(getattr(model, name)) == -1, ~counted.any(axis=axis)):
                detail = f"{name} in {where}: {np.asarray(getattr(model, name)).tolist()}"
                raise CaseEnded(WRONG_ANSWER, f"not -1 for zeros alone, {detail}", f"zeros, {name} in {where}")


def _check_equal(one: Any, other: Any, names: tuple[str, ...], options: dict[str, Any], where: str) -> None:
    for name in names:
        expected, got = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
        if not np.array_equal(expected, got):
            detail = f"{name}: {expected.tolist()} in {where}, {got.tolist()} in blocks"
            raise CaseEnded(WRONG_ANSWER, detail, f"{name} {options['method']}, {where}")


def _fit_or_error(X: Any, options: dict[str, Any]) -> Any:
    """Return the fitted model, or the error."""
    try:
        parameters = {name: value for name, value in options.items() if name != "sample_weight"}
        return CoSeparableNMF(**parameters).fit(X, sample_weight=options.get("sample_weight"))
    except ValueError as error:
        return error
