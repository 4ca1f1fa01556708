"""All factorizations: feasible factors, the reported error, and results under permutation and scaling."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import Factorization
from cosep.matrix.gram import GramMatrix
from cosep.matrix.validation import as_matrix
from cosep.nmf.ahals import ahals
from cosep.nmf.biorthogonal import biorthogonal
from cosep.nmf.minvol import minvol
from cosep.nmf.trisymmetric import trisymmetric

NMFS = {
    "ahals": ahals,
    "minvol": minvol,
    "biorthogonal": biorthogonal,
    "trisymmetric": trisymmetric,
}
# Tri-symmetric NMF takes one step for its objective, and the updates of bi-orthogonal NMF may raise it.
FALLING = ("ahals", "minvol", "trisymmetric")
every_nmf = pytest.mark.parametrize("name", NMFS)
# Short of rank, or of what the tolerance asks for, they say so; what they return is tested all the same.
pytestmark = pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")

COUNTS = np.random.default_rng(4).poisson(0.7, size=(30, 20)).astype(float)


def target(name, X):
    """Return the matrix that the factors approximate."""
    return GramMatrix(as_matrix(X)) if name == "trisymmetric" else X


def random_matrix(seed):
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, 16, size=2))
    X = random.gamma(0.5, size=shape) * (random.uniform(size=shape) < random.choice([0.1, 0.5, 1.0]))
    X[0, 0] += 0.1
    return X


def parts(fit):
    return [part for part in (fit.row_factor, fit.core, fit.col_factor) if part is not None]


@pytest.mark.parametrize("name", FALLING)
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(1, 5))
def test_the_objective_falls_at_every_iteration(name, seed, r):
    X = random_matrix(seed)
    objective = np.array(NMFS[name](X, min(r, X.shape[1]), tol=0.0, max_iter=40).meta["objective"])
    assert (np.diff(objective) <= 1e-13).all()


@every_nmf
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(1, 5))
def test_factors_are_nonnegative_and_the_last_objective_is_their_error(name, seed, r):
    X = random_matrix(seed)
    fit = NMFS[name](X, min(r, *X.shape), max_iter=60)
    assert isinstance(fit, Factorization)
    assert min(part.min() for part in parts(fit)) >= 0
    if name != "minvol":
        error = fit.relative_error(target(name, X))
        assert np.sqrt(max(2 * fit.meta["objective"][-1], 0.0)) == pytest.approx(error, abs=1e-6)


@every_nmf
def test_every_kind_of_matrix_gives_the_same_factors(name, kind):
    expected, fit = NMFS[name](COUNTS, 3), NMFS[name](kind(COUNTS), 3)
    for ours, theirs in zip(parts(fit), parts(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6 if name == "minvol" else 1e-9)
    np.testing.assert_array_equal(fit.row_labels, expected.row_labels)
    np.testing.assert_array_equal(fit.col_labels, expected.col_labels)


@every_nmf
def test_the_same_call_gives_the_same_answer(name):
    first, second = (NMFS[name](COUNTS, 3) for _ in range(2))
    assert first.meta == second.meta
    for ours, theirs in zip(parts(first), parts(second), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@every_nmf
@pytest.mark.parametrize("factor", [0.37, 1e-150, 1e150, 1e-300, 1e300])
def test_a_multiple_of_a_matrix_gives_the_same_answer(name, factor):
    expected, fit = NMFS[name](COUNTS, 3), NMFS[name](COUNTS * factor, 3)
    np.testing.assert_array_equal(fit.row_labels, expected.row_labels)
    error = expected.relative_error(target(name, COUNTS))
    assert fit.relative_error(target(name, COUNTS * factor)) == pytest.approx(error, rel=1e-4)


@every_nmf
def test_float32_stays_float32_and_sums_are_those_of_float64(name):
    fit = NMFS[name](COUNTS.astype(np.float32), 3)
    assert {part.dtype for part in parts(fit)} == {np.dtype(np.float32)}
    expected = NMFS[name](COUNTS, 3).relative_error(target(name, COUNTS))
    assert fit.relative_error(target(name, COUNTS)) == pytest.approx(expected, rel=1e-4)


@every_nmf
def test_zero_rows_and_columns_get_zero_factors_and_no_label(name):
    X = COUNTS.copy()
    X[5], X[:, 2] = 0, 0
    fit = NMFS[name](X, 3)
    row = 2 if name == "trisymmetric" else 5
    assert fit.row_labels[row] == fit.col_labels[2] == -1
    np.testing.assert_allclose(fit.row_factor[row], 0.0, atol=1e-300)
    np.testing.assert_allclose(fit.col_factor[:, 2], 0.0, atol=1e-300)


@every_nmf
def test_the_fit_can_be_saved_and_loaded(name, tmp_path):
    fit = NMFS[name](COUNTS, 3)
    fit.save(tmp_path / "fit.npz")
    loaded = Factorization.load(tmp_path / "fit.npz")
    assert loaded.meta == fit.meta
    np.testing.assert_array_equal(loaded.reconstruct(), fit.reconstruct())


@every_nmf
def test_progress_is_reported_step_by_step(name):
    calls = []
    fit = NMFS[name](COUNTS, 3, callback=lambda *call: calls.append(call))
    assert {stage for stage, *_ in calls} == {name}
    steps = [step for _, step, _, _ in calls]
    assert steps == list(range(1, len(steps) + 1))
    assert all(step <= most for _, step, most, _ in calls)
    assert calls[-1][3] == pytest.approx(fit.relative_error(target(name, COUNTS)), rel=1e-2)


@pytest.mark.parametrize("name", ["ahals", "minvol", "biorthogonal"])
def test_convergence_is_reported(name):
    assert NMFS[name](COUNTS, 3, tol=1e-3).meta["converged"] is True
    stopped = NMFS[name](COUNTS, 3, tol=0.0, max_iter=2)
    assert stopped.meta["converged"] is False
    assert len(stopped.meta["objective"]) == 3


@pytest.mark.parametrize("name", ["ahals", "biorthogonal"])
def test_planted_blocks_are_found_whatever_the_order_and_the_side(name):
    random = np.random.default_rng(8)
    blocks = np.kron(np.diag([3.0, 2.0]), np.ones((6, 5))) * random.uniform(0.9, 1.1, size=(12, 10))
    rows, cols = random.permutation(12), random.permutation(10)
    fit, moved, turned = (NMFS[name](X, 2) for X in (blocks, blocks[rows][:, cols], blocks.T))
    np.testing.assert_array_equal(fit.row_labels, np.repeat([0, 1], 6))
    np.testing.assert_array_equal(fit.col_labels, np.repeat([0, 1], 5))
    np.testing.assert_array_equal(moved.row_labels, fit.row_labels[rows])
    np.testing.assert_array_equal(moved.col_labels, fit.col_labels[cols])
    np.testing.assert_array_equal(turned.row_labels, fit.col_labels)
    assert moved.relative_error(blocks[rows][:, cols]) == pytest.approx(fit.relative_error(blocks), rel=1e-3)
    assert turned.relative_error(blocks.T) == pytest.approx(fit.relative_error(blocks), rel=1e-3)


def test_a_large_sparse_matrix_is_factored_without_making_it_dense():
    X = scipy.sparse.random_array((3000, 2000), density=0.002, rng=np.random.default_rng(5), format="csr")
    for name, nmf in NMFS.items():
        assert nmf(X, 2, max_iter=2).shape == ((2000, 2000) if name == "trisymmetric" else X.shape)
