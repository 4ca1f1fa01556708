import os
import pickle
import shutil
import signal
import subprocess
import sys
from dataclasses import fields
from functools import partial
from itertools import pairwise
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from cosep import CoSeparableNMF, Pool, Selection, SelectionWarning, cosfgm, make_coseparable, row_blocks
from cosep.fit import column_factors, in_blocks, sample_selection
from cosep.fit.candidates import ROWS_PER_DIRECTION
from cosep.fit.explainer import factors_of_rows
from cosep.fit.result import FitResult
from cosep.matrix.block import BlockError
from cosep.matrix.dask import DaskBlocks
from cosep.matrix.scaling import norm_of
from cosep.matrix.validation import as_matrix
from in_blocks import (
    DATA,
    FORMATS,
    array,
    by_dask,
    chunked,
    counts,
    deadly,
    failing,
    lengths_of,
    local,
    noisy,
    noted,
    reads,
)
from selector_names import BOTH_CORNERS

pytestmark = pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")

SIZES = {"noisy": (5, 3), "counts": (3, 5), "repeated": (4, 4)}
SAMPLE_SIZE = 300
PASSES = {"statistics", "draw", "sample", "candidates", "factors", "outcome"}
# Rows that two searches add to the sample of a fit that selects 5 rows.
MAX_FOUND = sample_selection.MAX_SEARCHES * 2 * 5 * ROWS_PER_DIRECTION
SHORT = ("row_indices_", "col_indices_", "sample_indices_", "column_labels_", "col_factor_", "col_weights_", "core_")
LONG = ("row_factor_", "row_weights_", "row_labels_", "rows_")
FIGURES = (
    "n_passes_",
    "reconstruction_err_",
    "row_fidelity_",
    "col_fidelity_",
    "core_fidelity_",
    "refitted_fidelity_",
    "n_iter_",
    "history_",
)


def fitted(X, sizes=(5, 3), **options):
    return CoSeparableNMF(*sizes, **{"sample_size": SAMPLE_SIZE, **options}).fit(X)


def assert_same(model, other, tol=0.0):
    """Assert that two models agree: in every bit, or within a tolerance in everything but indices."""
    for name in SHORT[:4]:
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), err_msg=name)
    long = dask.compute(*(getattr(one, name) for name in LONG for one in (model, other)))
    pairs = dict(zip(LONG, zip(long[::2], long[1::2], strict=True), strict=True))
    np.testing.assert_array_equal(*pairs["row_labels_"])
    np.testing.assert_array_equal(*pairs["rows_"])
    if tol:
        # With more rows than columns selected, rows have many best mixes; their product with the core is unique.
        P1, P1_other = pairs["row_factor_"]
        pairs["row_factor_"] = (P1 @ model.core_, P1_other @ other.core_)
    for name in ("row_factor_", "row_weights_"):
        np.testing.assert_allclose(*pairs[name], rtol=0, atol=tol * max(1, np.abs(pairs[name][0]).max()), err_msg=name)
    for name in SHORT[4:]:
        parts = getattr(model, name), getattr(other, name)
        np.testing.assert_allclose(*parts, rtol=0, atol=tol * max(1, np.abs(parts[0]).max()), err_msg=name)
    assert model.n_passes_ == other.n_passes_
    for name in FIGURES[1:6]:
        assert getattr(model, name) == pytest.approx(getattr(other, name), rel=tol, abs=tol)


@pytest.fixture(scope="module")
def references():
    """The fits of local dense blocks, one for each data set."""
    return {name: fitted(local(X, lengths_of(len(X), 6)), SIZES[name]) for name, X in DATA.items()}


@pytest.mark.parametrize(
    ("count", "ragged", "name"), [(1, False, "csc"), (9, True, "coo"), (40, False, "csr"), (40, True, "dense")]
)
@pytest.mark.parametrize("data", DATA)
def test_blocks_of_any_kind_and_size_give_the_same_answer(data, count, ragged, name, references):
    X = DATA[data]
    model = fitted(local(X, lengths_of(len(X), count, ragged=ragged), FORMATS[name]), SIZES[data])
    assert len(model.sample_indices_) < 400
    assert_same(model, references[data], 1e-8)


@pytest.mark.parametrize(
    ("data", "make", "count", "ragged", "name"),
    [
        ("noisy", chunked, 1, False, "dense"),
        ("noisy", by_dask, 40, True, "dense"),
        ("counts", chunked, 9, True, "csr"),
        ("repeated", by_dask, 9, False, "csc"),
        ("repeated", chunked, 20, False, "coo"),
    ],
)
def test_dask_on_threads_gives_the_answer_of_local_blocks_bit_for_bit(data, make, count, ragged, name):
    X = DATA[data]
    lengths = lengths_of(len(X), count, ragged=ragged)
    twin = fitted(local(X, lengths, FORMATS[name]), SIZES[data])
    assert_same(fitted(make(X, lengths, FORMATS[name]), SIZES[data]), twin)


@pytest.mark.parametrize(
    ("data", "count", "ragged", "name"), [("counts", 9, True, "csr"), ("noisy", 3, False, "dense")]
)
@pytest.mark.usefixtures("scheduler")
def test_every_scheduler_gives_the_answer_of_local_blocks_bit_for_bit(data, count, ragged, name):
    X = DATA[data].astype(np.float32) if data == "noisy" else DATA[data]
    lengths = lengths_of(len(X), count, ragged=ragged)
    model = fitted(by_dask(X, lengths, FORMATS[name]), SIZES[data])
    twin = fitted(local(X, lengths, FORMATS[name]), SIZES[data])
    assert_same(model, twin)
    assert model.row_factor_.dtype == model.col_factor_.dtype == X.dtype
    assert isinstance(model.row_factor_, da.Array)
    assert isinstance(twin.row_factor_, np.ndarray)


@pytest.mark.parametrize("data", DATA)
def test_a_sample_of_all_rows_gives_the_selection_in_memory(data):
    X = DATA[data]
    model = fitted(local(X, lengths_of(len(X), 9, ragged=True)), SIZES[data], sample_size=None)
    np.testing.assert_array_equal(model.sample_indices_, np.flatnonzero(X.any(axis=1)))
    whole = CoSeparableNMF(*SIZES[data]).fit(X)
    np.testing.assert_array_equal(model.row_indices_, whole.row_indices_)
    np.testing.assert_array_equal(model.col_indices_, whole.col_indices_)
    np.testing.assert_allclose(model.row_weights_, whole.row_weights_, atol=1e-8)
    np.testing.assert_allclose(model.col_weights_, whole.col_weights_, atol=1e-8)
    for name in ("row_fidelity_", "col_fidelity_", "core_fidelity_"):
        assert getattr(model, name) == pytest.approx(getattr(whole, name), abs=1e-8)
    np.testing.assert_allclose(model.fidelity_bound_, whole.fidelity_bound_, atol=1e-6)
    np.testing.assert_allclose(model.plain_fidelity_[:3], whole.plain_fidelity_[:3], atol=1e-8)
    assert model.reconstruction_err_ < 1.02 * whole.reconstruction_err_


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_planted_rows_and_columns_are_found(noise):
    X, truth = make_coseparable(6000, 60, 5, 5, noise=noise, random_state=0)
    model = fitted(local(X, lengths_of(len(X), 7)), (5, 5))
    whole = CoSeparableNMF(5, 5).fit(X)
    assert set(model.row_indices_) == set(truth.row_indices) == set(whole.row_indices_)
    assert set(model.col_indices_) == set(truth.col_indices) == set(whole.col_indices_)
    assert len(model.sample_indices_) < 400
    assert model.n_passes_ <= 2 + sample_selection.MAX_SEARCHES + column_factors.MAX_STEPS + 2


@pytest.mark.parametrize("scaling", ["degree", "rows", "columns", None])
@pytest.mark.parametrize("data", DATA)
def test_figures_are_those_of_the_factors(data, scaling):
    X = DATA[data]
    model = fitted(chunked(X, lengths_of(len(X), 5)), SIZES[data], scaling=scaling)
    scale = norm_of(as_matrix(X), scaling).scaling_of(as_matrix(X))
    D, E = (np.ones((len(X), 1)), 1.0) if scale is None else (scale.rows[:, None], scale.cols)
    P1, U = dask.compute(model.row_factor_, model.row_weights_)
    R, C, V = X[model.row_indices_], X[:, model.col_indices_], model.col_weights_
    products = [U @ R, C @ V, U @ model.core_ @ V, P1 @ model.components_]
    np.testing.assert_array_equal(model.core_, R[:, model.col_indices_])
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(D * (X - products[3]) * E), rel=1e-9)
    assert model.score(X) == pytest.approx(model.refitted_fidelity_, rel=1e-9)
    shares = [1 - (np.linalg.norm(D * (X - Y) * E) / np.linalg.norm(D * X * E)) ** 2 for Y in products]
    np.testing.assert_allclose(model.result_.fidelity, shares, rtol=1e-9)
    plain = [1 - (np.linalg.norm(X - Y) / np.linalg.norm(X)) ** 2 for Y in products]
    np.testing.assert_allclose(model.plain_fidelity_, plain, rtol=1e-9, atol=1e-9)
    squares = np.linalg.svd(D * X * E, compute_uv=False) ** 2
    ranks = (*model.core_.shape, *[min(model.core_.shape)] * 2)
    for share, bound, rank in zip(shares, model.fidelity_bound_, ranks, strict=True):
        assert share <= bound <= 1
        # The bound comes from two to five passes, with the leading vectors of a third of the rows as a start.
        exact = squares[:rank].sum() / squares.sum()
        assert exact - 1e-12 <= bound <= exact + 1e-5
    labels = model.row_labels_.compute()
    assert ((labels == -1) == ~X.any(axis=1)).all()
    np.testing.assert_array_equal(model.rows_.compute(), labels == np.arange(model.n_rows_)[:, None])
    np.testing.assert_array_equal(model.get_indices(0)[0], np.flatnonzero(labels == 0))
    assert model.get_shape(0) == (np.count_nonzero(labels == 0), np.count_nonzero(model.columns_[0]))
    record = model.sample_factorization_
    np.testing.assert_array_equal(model.sample_indices_[record.selection.row_indices], model.row_indices_)
    np.testing.assert_allclose(record.row_factor, P1[model.sample_indices_], atol=1e-9)
    np.testing.assert_array_equal(record.row_labels, labels[model.sample_indices_])


def test_a_sample_that_is_too_large_for_memory_is_made_smaller(monkeypatch):
    X = noisy(2000)
    monkeypatch.setattr(in_blocks, "MAX_SAMPLE_ENTRIES", 150 * X.shape[1])
    model = fitted(local(X, lengths_of(2000, 5)), sample_size=None)
    assert 100 < len(model.sample_indices_) <= 150 + MAX_FOUND
    twin = fitted(local(X, lengths_of(2000, 5)), sample_size=150)
    np.testing.assert_array_equal(model.row_indices_, twin.row_indices_)
    np.testing.assert_array_equal(model.sample_indices_, twin.sample_indices_)
    rows = model.transform(X[model.sample_indices_])
    np.testing.assert_allclose(model.sample_factorization_.row_factor @ model.core_, rows @ model.core_, atol=1e-8)


def test_rows_with_many_entries_make_the_sample_smaller(monkeypatch):
    X = np.vstack([np.eye(30)[np.arange(1800) % 30], 1 + noisy(200, 30)])
    monkeypatch.setattr(in_blocks, "MAX_SAMPLE_ENTRIES", 100 * 30)
    model = fitted(local(X, lengths_of(2000, 5), sp.csr_array), sample_size=None)
    assert np.count_nonzero(X[model.sample_indices_]) < 150 * 30


# Faults.


def test_a_worker_that_dies_in_the_middle_of_a_fit_changes_nothing(client, tmp_path):
    X, lengths = DATA["counts"], lengths_of(900, 10)
    ends = np.cumsum([0, *lengths])
    pieces = [partial(deadly, tmp_path, X[a:b], 33) for a, b in pairwise(ends)]
    before = set(client.scheduler_info()["workers"])
    model = fitted(DaskBlocks(pieces, lengths, X.shape[1]))
    assert Path(tmp_path, "dead").exists()
    client.wait_for_workers(2, timeout=60)
    assert set(client.scheduler_info()["workers"]) != before
    assert_same(model, fitted(local(X, lengths)))


class Stopped(BaseException):
    """Ends a program wherever it is."""


def stopping(at, steps):
    """Return a callback that notes passes, and stops at the step of this number."""

    def note(stage, step, total, _value):
        if stage in PASSES:
            steps.append((stage, step, total))
            if len(steps) == at:
                raise Stopped

    return note


@pytest.mark.parametrize(("make", "every"), [(local, 1), (chunked, 4)])
def test_a_stopped_fit_continues_where_it_was(make, every, tmp_path):
    X, lengths = DATA["counts"], lengths_of(900, 4)
    undisturbed, steps = fitted(make(X, lengths)), []
    fitted(make(X, lengths), callback=stopping(0, steps))
    starts = [i for i, (_, step, _) in enumerate(steps) if step == 1]
    assert len(starts) == undisturbed.n_passes_ > 6
    with dask.config.set(scheduler="synchronous"):
        for at in [1, *(start + 2 for start in starts[::every])]:
            with pytest.raises(Stopped):
                fitted(make(X, lengths), callback=stopping(at, []), checkpoint=tmp_path / "kept")
            rest = []
            model = fitted(make(X, lengths), callback=stopping(0, rest), checkpoint=tmp_path / "kept")
            assert_same(model, undisturbed)
            done = [start for start in starts if start < at]
            assert rest == steps[done[-1] :], "passes that were done are not run again"
            assert not (tmp_path / "kept").exists()


PROGRAM = """
import os, signal, sys
from in_blocks import counts, lengths_of, local
from cosep import CoSeparableNMF

def die(stage, step, *_):
    if stage == sys.argv[1] and step == 2:
        os.kill(os.getpid(), signal.SIGKILL)

X = counts()
CoSeparableNMF(5, 3, sample_size=300, checkpoint=sys.argv[2], callback=die).fit(local(X, lengths_of(900, 4)))
"""


def test_a_killed_program_continues_where_it_was(tmp_path):
    undisturbed = fitted(local(counts(), lengths_of(900, 4)))
    places = {"candidates": ["statistics", "draw", "sample", "selection"], "outcome": ["factors", "candidates"]}
    path = os.pathsep.join([str(Path(in_blocks.__file__).parents[2]), str(Path(__file__).parents[1])])
    programs = {
        stage: subprocess.Popen(
            [sys.executable, "-c", PROGRAM, stage, tmp_path / stage], env={**os.environ, "PYTHONPATH": path}
        )
        for stage in places
    }
    for stage, program in programs.items():
        assert program.wait(timeout=120) == -signal.SIGKILL
        kept = {path.name.partition("-")[0] for path in (tmp_path / stage).iterdir()}
        assert kept.issuperset(places[stage])
        rest = []
        model = fitted(local(counts(), lengths_of(900, 4)), checkpoint=tmp_path / stage, callback=stopping(0, rest))
        assert_same(model, undisturbed)
        assert not {name for name, _, _ in rest} & set(places[stage]) - {stage}
        assert not (tmp_path / stage).exists()


@pytest.mark.parametrize("method", ["xray", "spa"])
@pytest.mark.parametrize("state", [lambda: None, lambda: 3, lambda: np.random.RandomState(3)])
def test_random_numbers_are_the_same_after_a_stop(method, state, tmp_path):
    X, lengths, steps = DATA["counts"], lengths_of(900, 4), []
    undisturbed = fitted(local(X, lengths), method=method, random_state=state(), callback=stopping(0, steps))
    at = 1 + next(i for i, (stage, _, _) in enumerate(steps) if stage == "factors")
    with pytest.raises(Stopped):
        fitted(local(X, lengths), method=method, random_state=state(), callback=stopping(at, []), checkpoint=tmp_path)
    assert_same(fitted(local(X, lengths), method=method, random_state=state(), checkpoint=tmp_path), undisturbed)


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """The checkpoint of a fit that was stopped in its last pass."""
    folder = tmp_path_factory.mktemp("left")

    def stop(stage, *_):
        if stage == "outcome":
            raise Stopped

    with pytest.raises(Stopped):
        fitted(local(counts(), lengths_of(900, 4)), callback=stop, checkpoint=folder)
    return folder


@pytest.mark.parametrize(
    "changes",
    [
        {"X": counts(seed=1)},
        {"sizes": (4, 3)},
        {"random_state": 7},
        {"count": 5},
        {"scaling": None},
        {"method": "spa"},
        {"col_pool": Pool(include=[3])},
        {"row_pool": Pool(include=[3])},
    ],
    ids=str,
)
def test_results_of_another_fit_are_not_used(changes, left, tmp_path):
    shutil.copytree(left, tmp_path, dirs_exist_ok=True)
    options = dict(changes)
    X, sizes, count = options.pop("X", counts()), options.pop("sizes", (5, 3)), options.pop("count", 4)
    blocks = local(X, lengths_of(900, count))
    assert_same(fitted(blocks, sizes, checkpoint=tmp_path, **options), fitted(blocks, sizes, **options))


def test_a_checkpoint_with_a_method_of_the_user_or_data_in_memory(tmp_path):
    X = DATA["noisy"]
    model = fitted(local(X, lengths_of(900, 4)), method=cosfgm, checkpoint=tmp_path / "kept")
    assert_same(model, fitted(local(X, lengths_of(900, 4)), method="cosfgm"))
    assert not (tmp_path / "kept").exists()
    with pytest.raises(ValueError, match=r"checkpoint=.*in memory"):
        fitted(X, sample_size=None, checkpoint=tmp_path)


@pytest.mark.parametrize("where", [0, 2])
@pytest.mark.usefixtures("scheduler")
def test_an_unreadable_block_is_named_on_any_scheduler(where):
    X = DATA["noisy"]
    parts = [da.from_array(X[i : i + 300], chunks=(300, -1)) for i in range(0, 900, 300)]
    parts[where] = da.from_delayed(dask.delayed(failing)("bad sector"), (300, X.shape[1]), X.dtype)
    with pytest.raises(BlockError, match=rf"X: block {where} .*bad sector"):
        fitted(da.concatenate(parts))


# Odd input.


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e300])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_entries_whose_squares_overflow_are_refused(scale, make):
    with pytest.raises(ValueError, match=r"X has a largest entry of .* multiply X by a constant"):
        fitted(row_blocks(make(DATA["noisy"] * scale)))


@pytest.mark.parametrize("scale", [1e-50, 1e50])
def test_scale_changes_nothing_but_the_scale(scale):
    X, lengths = DATA["noisy"], lengths_of(900, 4)
    scale = 2.0 ** round(np.log2(scale))
    for scaling, power in ((None, 1), ("degree", 0)):
        model, twin = (fitted(local(data, lengths), scaling=scaling) for data in (X * scale, X))
        np.testing.assert_array_equal(model.row_indices_, twin.row_indices_)
        np.testing.assert_allclose(model.row_weights_, twin.row_weights_, atol=1e-8)
        assert model.reconstruction_err_ == pytest.approx(scale**power * twin.reconstruction_err_)


def test_a_block_of_tiny_entries_among_ordinary_ones():
    X = DATA["noisy"].copy()
    X[300:600] *= 1e-200
    model = fitted(local(X, [300, 300, 300]))
    twin = fitted(local(np.vstack([X[:300], np.zeros((300, X.shape[1])), X[600:]]), [300, 300, 300]))
    np.testing.assert_array_equal(model.row_indices_, twin.row_indices_)
    assert np.isfinite(model.row_factor_).all()
    assert (model.row_labels_[300:600] >= 0).all()
    assert model.score(local(X, [300, 300, 300])) == pytest.approx(
        twin.score(X[~np.isin(np.arange(900), np.arange(300, 600))])
    )
    with pytest.raises(BlockError, match=r"block 0 .*rows 0 to 899.* too small"):
        fitted(local(X, [900]))


@pytest.mark.parametrize("kind", [np.int8, np.uint16, bool, np.float32, object, str])
def test_entries_of_any_type(kind):
    X = DATA["counts"].clip(max=100).astype(np.int64 if kind is str else kind)
    expected = fitted(local(X.astype(np.float64), lengths_of(900, 4)))
    X = X.astype(str) if kind is str else X
    model = fitted(DaskBlocks([partial(np.copy, X[i : i + 225]) for i in range(0, 900, 225)], [225] * 4, X.shape[1]))
    np.testing.assert_array_equal(model.row_indices_, expected.row_indices_)


def test_fewer_rows_than_asked_for():
    X = np.zeros((900, 30))
    X[[5, 300, 800]] = DATA["repeated"][[1, 2, 3]]
    with pytest.warns(SelectionWarning, match="Only 3 of the 5 rows"):
        model = fitted(local(X, lengths_of(900, 4)), (5, 3))
    assert sorted(model.row_indices_) == [5, 300, 800]
    assert model.row_labels_.tolist().count(-1) == 897
    with pytest.raises(ValueError, match="n_rows=901 must be at most n_samples=900"):
        fitted(local(X, lengths_of(900, 4)), (901, 3), sample_size=None)
    with pytest.raises(ValueError, match="no nonzero entry"):
        fitted(local(0 * X, lengths_of(900, 4)))


def test_one_row_one_column_and_one_block_a_row():
    X = DATA["noisy"]
    assert fitted(local(X[:1], [1]), (1, 1)).row_indices_.tolist() == [0]
    assert fitted(local(X[:, :1], lengths_of(900, 3)), (1, 1)).core_.shape == (1, 1)
    model = fitted(local(X[:60], [1] * 60), sample_size=None)
    np.testing.assert_array_equal(model.row_indices_, CoSeparableNMF(5, 3).fit(X[:60]).row_indices_)


@pytest.mark.parametrize("scaling", ["rows", "columns", "degree"])
def test_the_selection_with_a_scaling_is_that_in_memory(scaling):
    X = DATA["counts"]
    model = fitted(local(X, lengths_of(900, 4)), scaling=scaling, sample_size=None)
    whole = CoSeparableNMF(5, 3, scaling=scaling).fit(X)
    np.testing.assert_array_equal(model.row_indices_, whole.row_indices_)
    np.testing.assert_array_equal(model.col_indices_, whole.col_indices_)


def test_sinkhorn_scaling_is_refused_before_anything_is_read(tmp_path):
    X = DATA["noisy"]
    lazy = da.from_delayed(dask.delayed(partial(noted, tmp_path, X, "x"))(), X.shape, X.dtype)
    lazy = da.concatenate([lazy, lazy])
    with pytest.raises(ValueError, match=r"scaling='sinkhorn' .* use 'degree'"):
        fitted(lazy, scaling="sinkhorn")
    assert reads(tmp_path) == 0


@pytest.mark.parametrize("method", BOTH_CORNERS)
def test_methods_find_what_was_planted(method):
    X, truth = make_coseparable(900, 30, 4, 4, random_state=1)
    model = fitted(local(X, lengths_of(900, 5)), (4, 4), method=method)
    assert set(model.row_indices_) == set(truth.row_indices)
    assert set(model.col_indices_) == set(truth.col_indices)
    assert model.score(X) > 0.999


def test_a_method_of_the_user_may_have_any_history():
    def first_ones(_X, n_rows, n_cols):
        return Selection(np.arange(n_rows), np.arange(n_cols), history=({"step": np.arange(3)},))

    model = fitted(local(DATA["noisy"], lengths_of(900, 4)), method=first_ones)
    assert model.history_[0]["step"].tolist() == [0, 1, 2]


POOLS = {
    "include": {"row_pool": Pool(include=[17, 800])},
    "a few": {"row_pool": Pool(candidates=np.arange(0, 900, 30))},
    "a few and one more": {"row_pool": Pool(candidates=range(0, 900, 30), include=[17])},
    "all": {"row_pool": Pool(candidates=np.arange(900))},
    "columns": {"col_pool": Pool(candidates=[1, 2, 3, 4, 5], include=[3])},
}


@pytest.mark.parametrize("case", POOLS)
@pytest.mark.parametrize("equal", [False, True])
def test_pools_are_respected(case, equal):
    X = DATA["noisy"]
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if equal else X
    model = fitted(local(X, lengths_of(900, 4)), sample_size=60, **POOLS[case])
    for pool, chosen in (
        (POOLS[case].get("row_pool", Pool()), model.row_indices_),
        (POOLS[case].get("col_pool", Pool()), model.col_indices_),
    ):
        assert np.isin(pool.include, chosen).all()
        assert pool.candidates is None or np.isin(chosen, [*pool.candidates, *pool.include]).all()
    assert_same(fitted(local(X, lengths_of(900, 9)), sample_size=60, **POOLS[case]), model, 1e-8)


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        (Pool(include=[900]), "between 0 and n_samples"),
        (Pool(candidates=[1, 2]), "at most the 2 candidates"),
        (Pool(include=range(6)), "names 6, but n_rows=5"),
        (Pool(include=["a"]), "no such names"),
        ([1, 2, 3], "must be a cosep.Pool"),
    ],
)
def test_impossible_pools_are_refused(pool, message):
    with pytest.raises(ValueError, match=f"(?s)row_pool.*{message}|{message}.*row_pool"):
        fitted(local(DATA["noisy"], [900]), row_pool=pool)


def test_a_zero_row_may_be_asked_for():
    X = DATA["counts"]
    with pytest.warns(SelectionWarning, match="degenerate"):
        model = fitted(local(X, lengths_of(900, 4)), row_pool=Pool(include=[50]))
    assert 50 in model.row_indices_
    assert np.isfinite(model.row_factor_).all()


def test_a_row_without_a_topic_belongs_to_the_strongest_one():
    X = np.zeros((61, 11))
    X[:20, :5], X[20:60, 5:10], X[60, 10] = 5, 3, 0.01
    model, whole = fitted(local(X, lengths_of(61, 4)), (2, 2)), CoSeparableNMF(2, 2).fit(X)
    assert set(model.row_indices_) <= set(range(60))
    np.testing.assert_array_equal(model.row_labels_, whole.row_labels_)
    assert model.row_labels_[60] >= 0
    assert not model.row_weights_[60].any()


@pytest.mark.parametrize("state", [None, 3, np.random.RandomState(3)])
def test_a_method_that_draws_gets_the_same_seed_every_time(state):
    seeds = []

    def drawing(X, n_rows, n_cols, *, random_state=None):
        seeds.append(random_state)
        return cosfgm(X, n_rows, n_cols)

    fitted(local(DATA["counts"], lengths_of(900, 4)), method=drawing, random_state=state)
    assert len(seeds) > 1
    assert len(set(seeds)) == 1
    assert isinstance(seeds[0], int)


# The estimator.


def counting(tmp_path, X, length=90):
    parts = [
        da.from_delayed(
            dask.delayed(partial(noted, tmp_path, X[i : i + length], "x"))(), X[i : i + length].shape, X.dtype
        )
        for i in range(0, len(X), length)
    ]
    return da.concatenate(parts)


def test_transform_of_dask_is_lazy_and_that_in_memory(tmp_path):
    X = DATA["noisy"]
    model = fitted(local(X, lengths_of(900, 4)))
    lazy = counting(tmp_path, X)
    mixtures, rows = model.transform(lazy), model.inverse_transform(model.transform(lazy))
    completed = model.complete(lazy[:, model.col_indices_])
    assert reads(tmp_path) == 0
    assert mixtures.chunks[0] == rows.chunks[0] == completed.chunks[0] == (90,) * 10
    np.testing.assert_allclose(mixtures.compute(), model.transform(X), atol=1e-9)
    np.testing.assert_allclose(rows.compute(), model.inverse_transform(model.transform(X)), atol=1e-12)
    np.testing.assert_allclose(completed.compute(), model.complete(X[:, model.col_indices_]), atol=1e-12)
    assert model.score(lazy) == pytest.approx(model.score(X), rel=1e-9)
    np.testing.assert_allclose(model.transform(row_blocks(X)), model.row_factor_, atol=1e-9)


@pytest.mark.parametrize("name", ["transform", "inverse_transform", "complete", "score"])
def test_other_widths_are_refused_before_anything_is_read(name, tmp_path):
    X = DATA["noisy"]
    model = fitted(local(X, [900]))
    with pytest.raises(ValueError, match=r"features|columns"):
        getattr(model, name)(counting(tmp_path, X[:, :-1], 900))
    assert reads(tmp_path) == 0


def test_names_of_a_dask_frame_are_kept_and_compared():
    X = DATA["counts"]
    frame = pd.DataFrame(X, columns=[f"word {j}" for j in range(X.shape[1])])
    lazy = dd.from_pandas(frame, npartitions=4)
    model = fitted(lazy, col_pool=Pool(include=["word 3"]))
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert model.selected_features_.tolist() == [f"word {j}" for j in model.col_indices_]
    assert "word 3" in model.selected_features_
    assert model.sample_factorization_.col_names.tolist() == frame.columns.tolist()
    np.testing.assert_allclose(model.transform(lazy).compute() @ model.core_, model.transform(frame) @ model.core_)
    np.testing.assert_allclose(model.complete(lazy).compute(), model.complete(frame), atol=1e-12)
    with pytest.raises(ValueError, match="fitted to others"):
        model.transform(lazy[frame.columns[::-1]])
    with pytest.raises(ValueError, match="lacks the selected columns"):
        model.complete(lazy[["word 0"]])
    with pytest.warns(UserWarning, match="feature names"):
        model.transform(array(X, [900]))
    with pytest.raises(ValueError, match="col_pool names"):
        fitted(lazy, col_pool=Pool(include=["no word"]))


def test_row_names_of_the_sample_are_kept():
    def name(indices):
        return np.array([f"row {i}" for i in indices])

    model = fitted(local(DATA["noisy"], lengths_of(900, 4), row_names=name))
    assert model.sample_factorization_.row_names.tolist() == [f"row {i}" for i in model.sample_indices_]


def test_a_model_with_lazy_arrays_is_cloned_pickled_and_fitted_again():
    X = DATA["noisy"]
    model = fitted(array(X, lengths_of(900, 4)), random_state=1)
    twin = clone(model)
    assert not hasattr(twin, "core_")
    assert twin.get_params() == model.get_params()
    assert_same(pickle.loads(pickle.dumps(model)), model)
    assert_same(twin.set_params(n_rows=5).fit(array(X, lengths_of(900, 4))), model)


BLOCK_ATTRIBUTES = ("sample_indices_", "sample_factorization_", "n_passes_")


def test_fits_in_memory_and_in_blocks_leave_no_attributes_of_each_other():
    X = DATA["noisy"]
    frame = pd.DataFrame(X, columns=[f"word {j}" for j in range(X.shape[1])])
    model, whole = CoSeparableNMF(5, 3), CoSeparableNMF(5, 3).fit(X)
    for _ in range(2):
        model.fit(frame)
        assert isinstance(model.row_factor_, np.ndarray)
        assert model.factorization_.shape == X.shape
        assert model.factorization_.col_names.tolist() == frame.columns.tolist()
        assert len(model.selected_features_) == 3
        assert not any(hasattr(model, name) for name in BLOCK_ATTRIBUTES)
        model.set_params(sample_size=300).fit(array(X, lengths_of(900, 4)))
        assert all(hasattr(model, name) for name in BLOCK_ATTRIBUTES)
        assert not any(hasattr(model, name) for name in ("factorization_", "selected_features_", "feature_names_in_"))
        assert model.sample_factorization_.shape == (len(model.sample_indices_), X.shape[1])
        model.set_params(sample_size=None)
    model.fit(X)
    assert vars(model).keys() == vars(whole).keys()
    np.testing.assert_array_equal(model.row_factor_, whole.row_factor_)


def test_a_missing_record_says_which_one_to_use():
    model = CoSeparableNMF(5, 3)
    assert not any(hasattr(model, name) for name in ("factorization_", *BLOCK_ATTRIBUTES))
    model.fit(row_blocks(DATA["noisy"]))
    with pytest.raises(AttributeError, match=r"factorization_ is not set .* use sample_factorization_"):
        _ = model.factorization_
    assert not hasattr(pickle.loads(pickle.dumps(model)), "factorization_")
    model.fit(DATA["noisy"])
    with pytest.raises(AttributeError, match=r"sample_factorization_ is set by a fit to blocks .* use factorization_"):
        _ = model.sample_factorization_


def test_both_places_return_the_same_record():
    X = DATA["noisy"]
    whole, model = CoSeparableNMF(5, 3).fit(X).result_, CoSeparableNMF(5, 3).fit(row_blocks(X)).result_
    for field in fields(FitResult):
        name = field.name
        here, there = getattr(whole, name), getattr(model, name)
        if name in {"sample", "explainer", "n_passes"}:
            assert here is None
            assert there is not None
        elif name in {"norm", "scaling"}:
            continue
        else:
            assert type(here) is type(there), name
            assert np.shape(here) == np.shape(there) or name == "objective", name
    np.testing.assert_allclose(model.norm.cols, whole.norm.cols)
    assert model.norm.rule == pytest.approx(whole.norm.rule)
    assert model.norm_of_data == pytest.approx(whole.norm_of_data)
    assert model.error**2 == pytest.approx((1 - model.fidelity.refitted) * model.norm_of_data**2)
    P1, U, labels = factors_of_rows(model.explainer, as_matrix(X[100:200]), 100)
    np.testing.assert_allclose(P1 @ model.core, model.row_factor[100:200] @ model.core, atol=1e-9)
    np.testing.assert_allclose(U, model.row_weights[100:200], atol=1e-9)
    np.testing.assert_array_equal(labels, model.row_labels[100:200])
    with pytest.raises(ValueError, match=r"use sample.factorization"):
        _ = model.factorization


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_size": 4}, "sample_size=4 must be at least n_rows=5; sample more rows"),
        ({"sample_size": 0}, "sample_size=0 must be a whole number of at least 1"),
        ({"sample_size": 7.5}, "sample_size=7.5 must be a whole number"),
        ({"preselect": 50}, r"preselect=50 asks for candidate rows.* use sample_size .*preselect=\(None, n\)"),
        ({"preselect": (50, None)}, r"preselect=\(50, None\) asks for candidate rows.* use sample_size"),
        ({"preselect": (None, 2)}, "preselect=2 must be at least n_cols=3"),
    ],
)
def test_sizes_that_do_not_apply_to_blocks_are_refused_before_anything_is_read(options, message, tmp_path):
    X = DATA["noisy"]
    with pytest.raises(ValueError, match=message):
        fitted(counting(tmp_path, X), **options)
    assert reads(tmp_path) == 0


def test_the_size_of_the_sample_does_not_apply_in_memory():
    with pytest.raises(ValueError, match=r"sample_size=300 .* but X is in memory; drop it, or fit cosep.row_blocks"):
        fitted(DATA["noisy"])


def test_columns_of_blocks_are_preselected():
    X = DATA["noisy"]
    model = fitted(local(X, lengths_of(900, 4)), sample_size=None, preselect=(None, 10))
    whole = CoSeparableNMF(5, 3, preselect=(None, 10)).fit(X)
    np.testing.assert_array_equal(model.row_indices_, whole.row_indices_)
    np.testing.assert_array_equal(model.col_indices_, whole.col_indices_)
    assert model.row_fidelity_ == pytest.approx(whole.row_fidelity_, abs=1e-8)


def test_random_state_is_the_seed_of_the_sample():
    X, lengths = DATA["noisy"], lengths_of(900, 4)
    models = [fitted(local(X, lengths), random_state=state) for state in (None, None, 1, np.random.RandomState(1))]
    np.testing.assert_array_equal(models[0].sample_indices_, models[1].sample_indices_)
    assert not np.array_equal(models[0].sample_indices_, models[2].sample_indices_)
    assert not np.array_equal(models[2].sample_indices_, models[3].sample_indices_)
    with pytest.raises(ValueError, match="random_state"):
        fitted(local(X, lengths), random_state=-1)


@pytest.mark.usefixtures("scheduler")
def test_every_pass_reports_its_progress():
    seen = []
    X = DATA["counts"]
    model = fitted(by_dask(X, lengths_of(900, 9)), callback=lambda *step: seen.append(step))
    passes = [step for step in seen if step[0] in PASSES]
    assert sum(done == total for _, done, total, _ in passes) == model.n_passes_
    for (_, done, total, _), (later, further, all_of_it, _) in pairwise(passes):
        assert total == all_of_it == 9
        assert further > done or (done == total and later in PASSES - {"statistics"})
    assert passes[0][0] == "statistics"
    assert passes[-1][:3] == ("outcome", 9, 9)
