"""Every statement of Pan and Ng (2023), named after it: as printed where it is true, corrected where it is not.

Where a printed claim is false, its counterexample stands beside the corrected form. Sizes are decided by the library
and, on small integer matrices, by trying every choice with a linear program.
"""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from cosep import Factorization, Scaling, Selection
from cosep.theory import (
    compress,
    extreme_rays,
    from_biorthogonal,
    from_cur,
    is_coseparable,
    is_generalized_separable,
    is_separable,
    is_unique,
    minimal_coseparable,
    to_cur,
)
from oracles import brute_force_columns, lp_is_separable, unscale

SQUARE = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1], [1, 0, 0]], dtype=float)


def counts(rows=None, cols=None, most=4):
    """Small matrices of whole numbers."""
    rows, cols = (st.integers(1, 4) if side is None else side for side in (rows, cols))
    return st.tuples(rows, cols).flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(0, most)))


def draw(seed, *shape):
    return np.random.default_rng(seed).integers(0, 5, shape).astype(float)


def planted(seed, m=7, n=8, r1=3, r2=4):
    """Return P1, S, P2 and where their identities stand, with rows and columns in random order."""
    random = np.random.default_rng(seed)
    S, W, H = random.uniform(size=(r1, r2)), random.uniform(size=(m - r1, r1)), random.uniform(size=(r2, n - r2))
    rows, cols = random.permutation(m), random.permutation(n)
    P1, P2 = np.vstack([np.eye(r1), W]), np.hstack([np.eye(r2), H])
    chosen = Selection(np.argsort(rows)[:r1], np.argsort(cols)[:r2])
    return P1[rows], S, P2[:, cols], chosen


def assert_is_definition_1(M, answer, atol=1e-9):
    """Check P1, S and P2 against the definition, entry by entry."""
    P1, S, P2 = answer.factorization.row_factor, answer.factorization.core, answer.factorization.col_factor
    rows, cols = answer.selection.row_indices, answer.selection.col_indices
    assert answer
    assert (P1 >= 0).all()
    assert (P2 >= 0).all()
    np.testing.assert_array_equal(P1[rows], np.eye(len(rows)))
    np.testing.assert_array_equal(P2[:, cols], np.eye(len(cols)))
    np.testing.assert_array_equal(S, np.asarray(M, dtype=float)[np.ix_(rows, cols)])
    np.testing.assert_allclose(P1 @ S @ P2, M, atol=atol * max(1.0, np.max(M)))


# ---------------------------------------------------------------------------------------------------------------------
# Section 1


@pytest.mark.parametrize("seed", range(5))
def test_definition_1(seed):
    P1, S, P2, chosen = planted(seed)
    M = P1 @ S @ P2
    assert_is_definition_1(M, is_coseparable(M, chosen))
    M[0, 0] += 1.0
    assert not is_coseparable(M, chosen)


@given(counts())
@settings(deadline=None, max_examples=30)
def test_definition_1_every_matrix_is_co_m_n_separable(M):
    m, n = M.shape
    assert_is_definition_1(M, is_coseparable(M, Selection(np.arange(m), np.arange(n))))
    assert minimal_coseparable(M).admits(m, n)


def test_definition_1_an_r_separable_matrix_is_co_m_r_separable():
    _, S, P2, chosen = planted(0)
    M = S @ P2
    assert is_separable(M, chosen.col_indices)
    assert_is_definition_1(M, is_coseparable(M, Selection(np.arange(len(M)), chosen.col_indices)))


def test_the_special_case_tri_symnmf_needs_a_positive_z_and_not_the_identity():
    z = np.array([2.0, 0.5])
    W = np.vstack([np.diag(z), [[1.0, 3.0], [0.0, 1.0]]])
    S = np.array([[2.0, 1.0], [1.0, 3.0]])
    answer = is_coseparable(W @ S @ W.T, Selection([0, 1], [0, 1]))
    assert_is_definition_1(W @ S @ W.T, answer)
    np.testing.assert_allclose(answer.factorization.row_factor, W / z)
    np.testing.assert_allclose(answer.factorization.col_factor, (W / z).T)


# ---------------------------------------------------------------------------------------------------------------------
# Section 2: properties


@pytest.mark.parametrize("seed", range(3))
def test_characterization_1(seed):
    P1, S, P2, chosen = planted(seed)
    answer = is_coseparable(P1 @ S @ P2, chosen)
    rest = [np.setdiff1d(np.arange(size), side) for size, side in ((7, chosen.row_indices), (8, chosen.col_indices))]
    W, H = answer.factorization.row_factor[rest[0]], answer.factorization.col_factor[:, rest[1]]
    order = [np.concatenate([side, others]) for side, others in zip(indices(answer), rest, strict=True)]
    blocks = np.block([[S, S @ H], [W @ S, W @ S @ H]])
    np.testing.assert_allclose((P1 @ S @ P2)[np.ix_(*order)], blocks, atol=1e-9)


def indices(answer):
    return answer.selection.row_indices, answer.selection.col_indices


@pytest.mark.parametrize("seed", range(3))
def test_characterization_2(seed):
    P1, S, P2, chosen = planted(seed)
    M = P1 @ S @ P2
    answer = is_coseparable(M, chosen)
    X, Y = np.zeros((7, 7)), np.zeros((8, 8))
    X[:, chosen.row_indices], Y[chosen.col_indices] = answer.factorization.row_factor, answer.factorization.col_factor
    np.testing.assert_allclose(X @ M @ Y, M, atol=1e-9)


@given(counts(), st.data())
@settings(deadline=None, max_examples=40)
def test_characterization_3(M, data):
    m, n = M.shape
    rows = data.draw(st.sets(st.integers(0, m - 1), min_size=1))
    cols = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    answer = is_coseparable(M, Selection(sorted(rows), sorted(cols)))
    assert bool(answer) == (lp_is_separable(M, cols) and lp_is_separable(M.T, rows))
    if answer:
        assert_is_definition_1(M, answer)


@pytest.mark.parametrize("seed", range(3))
def test_remark_1(seed):
    P1, S, P2, chosen = planted(seed)
    M = P1 @ S @ P2
    assert is_separable(M[:, chosen.col_indices].T, chosen.row_indices)
    assert is_separable(M[chosen.row_indices], chosen.col_indices)


@pytest.mark.parametrize("seed", range(5))
def test_property_on_reducing_a_core(seed):
    P1, _, P2, chosen = planted(seed, 12, 11, 6, 6)
    Q1, T, Q2, inner = planted(seed + 100, 6, 6, 3, 3)
    M = P1 @ (Q1 @ T @ Q2) @ P2
    smaller = compress(M, chosen)
    assert_is_definition_1(M, smaller)
    assert smaller.shape == minimal_coseparable(M).shape == (3, 3)
    np.testing.assert_array_equal(
        np.sort(smaller.selection.row_indices), np.sort(chosen.row_indices[inner.row_indices])
    )
    within = np.argsort(smaller.selection.row_indices), np.argsort(chosen.row_indices[inner.row_indices])
    np.testing.assert_allclose(smaller.factorization.row_factor[:, within[0]], (P1 @ Q1)[:, within[1]], atol=1e-7)


def test_property_on_reducing_a_core_needs_no_condition_on_the_sizes():
    """A 10 x 3 core that is co-(5,3): printed is max(5, 3) <= min(10, 3), which fails."""
    angles = 2 * np.pi * np.arange(5) / 5
    pentagon = np.column_stack([np.ones(5), 1 + np.cos(angles), 1 + np.sin(angles)])
    core = np.vstack([pentagon, 0.5 * (pentagon + np.roll(pentagon, 1, axis=0))])
    assert minimal_coseparable(core).shape == (5, 3)
    M = np.vstack([core, core[:4] + core[3:7]]) @ np.hstack([np.eye(3), np.ones((3, 2))])
    smaller = compress(M, Selection(np.arange(10), np.arange(3)))
    assert_is_definition_1(M, smaller)
    assert smaller.shape == (5, 3)


def test_remark_2():
    assert minimal_coseparable(SQUARE).shape == (4, 3)
    assert not minimal_coseparable(SQUARE).admits(3, 3)
    assert minimal_coseparable(SQUARE.T).shape == (3, 4)


def example_1_alphas(M):
    """Return alpha of the last column as ``sum alpha_i m_i - alpha_r m_r``."""
    r = len(M)
    solution = np.linalg.solve(M[:, :r], M[:, r])
    solution[r - 1] *= -1
    return solution


EXAMPLE_1 = {
    "[[1,1,0],[4,2,2]]": ([[1, 1, 0], [4, 2, 2]], True),
    "one other alpha": ([[4, 3, 3, 1], [2, 1, 1, 1], [2, 2, 1, 1]], True),
    "two other alphas": ([[2, 2, 3, 1], [4, 0, 0, 4], [4, 4, 1, 7]], False),
}


@pytest.mark.parametrize("case", EXAMPLE_1)
def test_example_1_as_printed_is_false(case):
    data, admitted = EXAMPLE_1[case]
    M = np.array(data, dtype=float)
    alphas = example_1_alphas(M)
    assert (alphas >= -1e-12).all()  # the printed premise
    assert alphas[-1] > 0
    assert minimal_coseparable(M).admits(len(M), len(M)) == admitted  # the printed conclusion: False for all
    assert ((alphas[:-1] > 1e-12).sum() < 2) == admitted


@pytest.mark.slow
@given(counts(st.just(3), st.just(3)), hnp.arrays(np.float64, 3, elements=st.integers(0, 3)))
@settings(deadline=None, max_examples=60)
def test_example_1_corrected(B, alphas):
    assume(abs(np.linalg.det(B)) > 0.5)
    last = alphas[0] * B[:, 0] + alphas[1] * B[:, 1] - alphas[2] * B[:, 2]
    assume((last >= 0).all())
    M = np.column_stack([B, last])
    corrected = alphas[2] > 0 and (alphas[:2] > 0).sum() >= 2
    assert minimal_coseparable(M).admits(3, 3) == (not corrected)
    assert minimal_coseparable(M).admits(3, 4)


def is_co(M, r1, r2):
    """Decide co-(r1, r2)-separability by trying every choice."""
    sides = ((M.T, r1), (M, r2))
    return all(any(lp_is_separable(A, cols) for cols in combinations(range(A.shape[1]), r)) for A, r in sides)


def minimal_as_printed(M, r1, r2):
    return is_co(M, r1, r2) and not any(is_co(M, a, b) for a in range(1, r1) for b in range(1, r2))


def minimal_corrected(M, r1, r2):
    smaller = [(a, b) for a in range(1, r1 + 1) for b in range(1, r2 + 1) if (a, b) != (r1, r2)]
    return is_co(M, r1, r2) and not any(is_co(M, a, b) for a, b in smaller)


def test_definition_2_as_printed_calls_ones_minimal_co_3_1():
    ones = np.ones((3, 3))
    assert minimal_as_printed(ones, 3, 1)
    assert not minimal_corrected(ones, 3, 1)
    assert minimal_corrected(ones, 1, 1)
    assert minimal_coseparable(ones).shape == (1, 1)


@pytest.mark.slow
@given(counts(st.integers(1, 4), st.integers(1, 4), 3))
@settings(deadline=None, max_examples=15)
def test_definition_2_corrected_has_one_size_the_numbers_of_extreme_rays(M):
    assume(M.any())
    m, n = M.shape
    sizes = [(r1, r2) for r1 in range(1, m + 1) for r2 in range(1, n + 1)]
    core = minimal_coseparable(M)
    assert [size for size in sizes if minimal_corrected(M, *size)] == [core.shape]
    assert [size for size in sizes if is_co(M, *size)] == [size for size in sizes if core.admits(*size)]


positive_vectors = hnp.arrays(np.float64, st.integers(1, 5), elements=st.integers(0, 5)).filter(np.any)


@given(positive_vectors, positive_vectors)
@settings(deadline=None, max_examples=30)
def test_property_on_rank_one(u, v):
    core = minimal_coseparable(np.outer(u, v))
    assert core.shape == (1, 1)
    assert_is_definition_1(np.outer(u, v), core)


@given(counts(st.integers(2, 6), st.just(2)), counts(st.just(2), st.integers(2, 6)))
@settings(deadline=None, max_examples=40)
def test_property_on_rank_two(W, H):
    assume(np.linalg.matrix_rank(W @ H) == 2)
    core = minimal_coseparable(W @ H)
    assert core.shape == (2, 2)
    assert_is_definition_1(W @ H, core)


@given(counts())
@settings(deadline=None, max_examples=30)
def test_property_on_the_idealized_model(M):
    """``min ||X||_col,0 + ||Y||_row,0`` over ``M = XM``, ``M = MY`` is r1 + r2; it needs M to be nonzero."""
    fewest = len(brute_force_columns(M.T)[0]) + len(brute_force_columns(M)[0])
    core = minimal_coseparable(M)
    assert fewest == (sum(core.shape) if M.any() else 0)


@given(counts(), st.data())
@settings(deadline=None, max_examples=40)
def test_property_on_scaling(M, data):
    factors = st.sampled_from([1e-2, 0.5, 1.0, 3.0, 100.0])
    d1, d2 = (np.array(data.draw(st.lists(factors, min_size=size, max_size=size))) for size in M.shape)
    core, scaled = minimal_coseparable(M), minimal_coseparable(d1[:, None] * M * d2)
    assert scaled.shape == core.shape
    np.testing.assert_array_equal(scaled.selection.row_indices, core.selection.row_indices)
    np.testing.assert_array_equal(scaled.selection.col_indices, core.selection.col_indices)
    back = unscale(scaled.factorization, Scaling("any", d1, d2))
    np.testing.assert_allclose(back.reconstruct(), M, atol=1e-6)
    np.testing.assert_allclose(back.row_factor[core.selection.row_indices], np.eye(core.shape[0]), atol=1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# Section 2.1: uniqueness

# Four rows on a square, and their sum: the last row is the sum of either diagonal.
TWO_DIAGONALS = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 1, 1]], dtype=float)


@pytest.mark.parametrize("seed", range(5))
def test_property_on_uniqueness(seed):
    P1, S, P2, _ = planted(seed, 9, 8, 4, 4)
    M = P1 @ S @ P2
    assert np.linalg.matrix_rank(M) == 4
    assert is_unique(M).two_mixes is None


def test_property_on_uniqueness_needs_the_rank():
    answer = is_unique(TWO_DIAGONALS)
    assert answer.core.shape == (4, 4)
    assert np.linalg.matrix_rank(TWO_DIAGONALS) == 3
    assert not answer


@given(counts(st.integers(2, 4), st.integers(2, 4)))
@settings(deadline=None, max_examples=40)
def test_property_on_uniqueness_need_not_ask_for_minimality(M):
    """The numbers of rays are at least the rank, so a core of that size is the smallest."""
    assume(M.any())
    rank = int(np.linalg.matrix_rank(M))
    core = minimal_coseparable(M)
    assert core.admits(rank, rank) == (core.shape == (rank, rank))


def test_example_2_selections_are_not_unique():
    S, W, H = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[1.0, 1.0]]), np.array([[2.0], [1.0]])
    D1, D2 = np.diag([2.0, 5.0]), np.diag([3.0, 0.5])
    M = np.vstack([np.eye(2), D1, W]) @ S @ np.hstack([D2, np.eye(2), H])
    for rows, cols in (([0, 1], [2, 3]), ([2, 3], [0, 1])):
        assert_is_definition_1(M, is_coseparable(M, Selection(rows, cols)))
    answer = is_unique(M)
    assert not answer
    assert answer.two_mixes is None
    assert answer.exchange == ("row", 0, 2)
    np.testing.assert_allclose(M[2] / M[2, 0], M[0] / M[0, 0])


def test_property_on_unique_selections_as_printed_is_false():
    answer = is_unique(TWO_DIAGONALS)
    assert answer.core.shape == (4, 4)  # minimal, r1 = r2, and no proportional rows or columns
    assert answer.exchange is None
    side, position, weights, others = answer.two_mixes
    assert (side, position) == ("row", 4)
    assert {tuple(np.round(weights, 9)), tuple(np.round(others, 9))} == {(1, 0, 1, 0), (0, 1, 0, 1)}


@given(counts(st.integers(2, 4), st.integers(2, 4), 3))
@settings(deadline=None, max_examples=25)
def test_property_on_unique_selections_corrected(M):
    """The index sets are unique if and only if no other row or column is a multiple of a selected one."""
    assume(M.any())
    answer = is_unique(M)
    only = all(len(brute_force_columns(side)) == 1 for side in (M.T, M))
    assert (answer.exchange is None) == only
    if int(np.linalg.matrix_rank(M)) == answer.core.shape[0] == answer.core.shape[1]:
        assert answer.two_mixes is None
        assert bool(answer) == only


# ---------------------------------------------------------------------------------------------------------------------
# Section 3: generalized separable matrices

EXAMPLE_3 = np.array([[1, 2, 8, 7], [2, 2, 8, 7], [2, 1, 7, 5], [0, 0, 2, 1]], dtype=float)


def test_definition_of_generalized_separable_needs_nonnegative_weights():
    M = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    Z = np.linalg.lstsq(M[:, [0, 2]], M, rcond=None)[0]
    np.testing.assert_allclose(M[:, [0, 2]] @ Z, M, atol=1e-12)  # the printed definition
    assert (Z < -0.5).any()
    assert not is_generalized_separable(M, Selection(None, [0, 2]))
    assert is_generalized_separable(M, Selection(None, [0, 1]))


def test_remark_that_a_generalized_separable_matrix_is_zero_where_its_rows_and_columns_cross():
    assert is_generalized_separable(EXAMPLE_3, Selection([3], [0, 1]))
    assert not EXAMPLE_3[np.ix_([3], [0, 1])].any()
    crossed = EXAMPLE_3.copy()
    crossed[3, 0] = 1.0
    assert not is_generalized_separable(crossed, Selection([3], [0, 1]))


def intersection(seed, m=12, n=11, r1=6, r2=5, l1=2, l2=2):
    """Draw the blocks of the property and return the matrix, K1, K2, L1 and L2."""
    random = np.random.default_rng(seed)
    W0, W1 = random.uniform(size=(r1 - l1, l2)), random.uniform(size=(r1 - l1, l1))
    H0, H1 = random.uniform(size=(l1, r2 - l2)), random.uniform(size=(l2, r2 - l2))
    U0, U1 = random.uniform(size=(r2 - l2, n - r2)), random.uniform(size=(l2, n - r2))
    Q0, Q1 = random.uniform(size=(m - r1, r1 - l1)), random.uniform(size=(m - r1, l1))
    middle = W0 @ H1 + W1 @ H0
    upper = Q0 @ middle + Q1 @ H0
    M = np.block(
        [
            [Q0 @ W0, upper, Q0 @ W0 @ U1 + upper @ U0],
            [W0, middle, W0 @ U1 + middle @ U0],
            [np.zeros((l1, l2)), H0, H0 @ U0],
        ]
    )
    return M, Selection(np.arange(m - r1, m), np.arange(r2)), Selection(np.arange(m - l1, m), np.arange(l2))


@pytest.mark.parametrize("seed", range(5))
def test_property_on_the_intersection_with_generalized_separable_matrices(seed):
    M, K, L = intersection(seed)
    assert_is_definition_1(M, is_coseparable(M, K))
    answer = is_generalized_separable(M, L)
    assert answer
    Z1, C = np.split(answer.factorization.row_factor, [2], axis=1)
    R, Z2 = np.split(answer.factorization.col_factor, [2], axis=0)
    np.testing.assert_array_equal(C, M[:, L.col_indices])
    np.testing.assert_array_equal(R, M[L.row_indices])
    np.testing.assert_array_equal(Z1[L.row_indices], np.eye(2))
    np.testing.assert_array_equal(Z2[:, L.col_indices], np.eye(2))
    assert (Z1 >= 0).all()
    assert (Z2 >= 0).all()
    np.testing.assert_allclose(C @ Z2 + Z1 @ R, M, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("M", [EXAMPLE_3, draw(0, 4, 4), draw(1, 4, 3), SQUARE])
def test_property_on_the_intersection_no_core_is_smaller_than_the_generalized_selection(M):
    m, n = M.shape
    fewest = min(
        l1 + l2
        for l1 in range(m + 1)
        for l2 in range(n + 1)
        for rows in combinations(range(m), l1)
        for cols in combinations(range(n), l2)
        if l1 + l2 and is_generalized_separable(M, Selection(rows or None, cols or None))
    )
    assert min(minimal_coseparable(M).shape) >= fewest


@pytest.mark.parametrize("seed", range(3))
def test_remark_3(seed):
    P1, S, _, chosen = planted(seed)
    M = P1 @ S
    assert is_generalized_separable(M, Selection(chosen.row_indices, None))
    assert_is_definition_1(M, is_coseparable(M, Selection(chosen.row_indices, np.arange(4))))
    assert is_generalized_separable(M.T, Selection(None, chosen.row_indices))


def test_example_3_first_matrix():
    assert is_generalized_separable(EXAMPLE_3, Selection([3], [0, 1]))
    core = minimal_coseparable(EXAMPLE_3)
    assert core.shape == (4, 3)
    assert not core.admits(3, 3)


def test_example_3_second_matrix_as_printed_is_false():
    M = np.array([[2.0, 1.0, 3.0], [1.0, 2.0, 3.0], [3.0, 3.0, 6.0]])
    assert_is_definition_1(M, is_coseparable(M, Selection([0, 1], [0, 1])))
    assert is_generalized_separable(M, Selection([0, 1], None))  # l1 + l2 = 2 < 3 = min(m, n)


@pytest.mark.parametrize("seed", range(3))
def test_example_3_second_matrix_corrected(seed):
    """With rows and columns both selected, a positive matrix has no zero where they cross."""
    P1, S, P2, chosen = planted(seed)
    M = P1 @ S @ P2
    assert (M > 0).all()
    assert is_coseparable(M, chosen)
    for row, col in zip(chosen.row_indices, chosen.col_indices, strict=False):
        assert not is_generalized_separable(M, Selection([row], [col]))


# ---------------------------------------------------------------------------------------------------------------------
# Section 3: bi-orthogonal tri-factorization


@given(st.data())
@settings(deadline=None, max_examples=30)
def test_property_on_bi_orthogonal_tri_factorization(data):
    seed = data.draw(st.integers(0, 10**6))
    random = np.random.default_rng(seed)
    labels = [np.concatenate([np.arange(r), random.integers(-1, r, size)]) for r, size in ((3, 4), (2, 5))]
    F, G = (
        np.where(side[:, None] == np.arange(side.max() + 1), random.uniform(0.1, 1, len(side))[:, None], 0.0)
        for side in labels
    )
    S = random.integers(0, 4, (F.shape[1], G.shape[1])).astype(float)
    F, G = F / np.linalg.norm(F, axis=0), (G / np.linalg.norm(G, axis=0)).T
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-12)
    M = F @ S @ G
    answer = from_biorthogonal(F, S, G)
    rows, cols = answer.selection.row_indices, answer.selection.col_indices
    np.testing.assert_array_equal(answer.row_factor[rows], np.eye(3))
    np.testing.assert_array_equal(answer.col_factor[:, cols], np.eye(2))
    np.testing.assert_allclose(answer.core, M[np.ix_(rows, cols)], atol=1e-12)
    np.testing.assert_allclose(answer.reconstruct(), M, atol=1e-12)
    assert is_coseparable(M, answer.selection)


def test_outline_that_a_bi_orthogonal_matrix_is_minimal_is_false():
    answer = from_biorthogonal(np.eye(2), np.ones((2, 2)), np.eye(2))
    assert answer.core.shape == (2, 2)
    assert minimal_coseparable(answer.reconstruct()).shape == (1, 1)


# ---------------------------------------------------------------------------------------------------------------------
# Section 3: CUR


@pytest.mark.parametrize("sizes", [(4, 4), (6, 3), (3, 6), (1, 1)])
def test_property_on_cur_i_for_any_rank_of_the_core_and_without_minimality(sizes):
    P1, S, P2, chosen = planted(3, 9, 8, *sizes)
    for core in (S, np.outer(S[:, 0], S[0])):
        M = P1 @ core @ P2
        cur = to_cur(M, chosen)
        assert cur.core.shape == sizes[::-1]
        assert cur.relative_error(M) < 1e-12
        np.testing.assert_allclose(core @ cur.core @ core, core, atol=1e-9)


def test_property_on_cur_i_is_the_inverse_of_an_invertible_core():
    P1, S, P2, chosen = planted(4, 9, 8, 4, 4)
    np.testing.assert_allclose(to_cur(P1 @ S @ P2, chosen).core, np.linalg.inv(S), rtol=1e-6)


def test_property_on_cur_ii():
    S, W, H = np.diag([2.0, 3.0])[:, ::-1], np.array([[1.0, 4.0]]), np.array([[1.0, 0.0], [2.0, 5.0]])
    M = np.vstack([np.eye(2), W]) @ S @ np.hstack([np.eye(2), H])
    chosen = Selection([0, 1], [0, 1])
    cur = Factorization(M[:, :2], np.linalg.inv(S), M[:2], selection=chosen)
    assert (cur.core >= 0).all()
    assert_is_definition_1(M, from_cur(M, cur))
    wrong = Factorization(M[:, :2], 2 * np.linalg.inv(S), M[:2], selection=chosen)
    assert not from_cur(M, wrong)


def test_property_on_cur_ii_that_it_is_minimal_is_false():
    ones = np.ones((2, 2))
    answer = from_cur(ones, Factorization(ones, np.array([[1.0, 0.0], [0.0, 0.0]]), ones, Selection([0, 1], [0, 1])))
    assert_is_definition_1(ones, answer)
    assert answer.shape == (2, 2)
    assert minimal_coseparable(ones).shape == (1, 1)


@given(counts(st.just(3), st.just(3)))
@settings(deadline=None, max_examples=60)
def test_property_on_cur_ii_of_full_rank_is_met_by_permuted_diagonal_cores_only(S):
    assume(abs(np.linalg.det(S)) > 0.5)
    permuted_diagonal = ((S > 0).sum(axis=0) == 1).all() and ((S > 0).sum(axis=1) == 1).all()
    assert bool((np.linalg.inv(S) >= -1e-12).all()) == permuted_diagonal


EXAMPLE_4_U = np.array([[1, -1, -1], [0, 1, -1], [0, 0, 1]], dtype=float)


@pytest.mark.parametrize(("entry", "right"), [(3.0, False), (1.0, True)])
def test_example_4_needs_a_one_where_a_three_is_printed(entry, right):
    M = np.array([[1, 1, 2, 2], [0, 1, 1, 2], [0, 0, 1, entry], [1, 2, 2, 3]], dtype=float)
    assert np.allclose(M[:, :3] @ EXAMPLE_4_U @ M[:3], M) == right


def test_example_4_corrected_is_not_co_3_3_on_either_side():
    M = np.array([[1, 1, 2, 2], [0, 1, 1, 2], [0, 0, 1, 1], [1, 2, 2, 3]], dtype=float)
    assert to_cur(M, Selection([0, 1, 2], [0, 1, 2])).relative_error(M) < 1e-12
    core = minimal_coseparable(M)
    assert core.shape == (4, 4)
    assert not core.admits(3, 4)
    assert not core.admits(4, 3)


# ---------------------------------------------------------------------------------------------------------------------
# Section 4: the convex model


def least_trace(M, allowed, bound_all):
    """Minimise trace(Y) over ``M = M Y``, ``Y >= 0``, ``Y(t,t) <= 1`` and the pairwise bounds; inf if there is none."""
    n = M.shape[1]
    w = M.sum(axis=0)
    bounds = [(0, 1 if bound_all or t == l else None) for t in range(n) for l in range(n)]
    pairs = np.zeros((n * n, n, n))
    for t in range(n):
        for l in range(n):
            (left, row, col), (right, diagonal) = allowed(w, t, l)
            pairs[n * t + l, row, col] += left
            pairs[n * t + l, diagonal, diagonal] -= right
    answer = linprog(
        np.eye(n).ravel(),
        A_ub=pairs.reshape(n * n, n * n),
        b_ub=np.zeros(n * n),
        A_eq=np.kron(M, np.eye(n)),
        b_eq=M.ravel(),
        bounds=bounds,
    )
    return answer.fun if answer.status == 0 else np.inf


def corrected_pair(w, t, l):
    """``w_t Y(t,l) <= w_l Y(t,t)``."""
    return (w[t], t, l), (w[l], t)


def omega_1_pair(w, i, j):
    """Printed ``w_i X(i,j) <= w_j X(j,j)``, with ``Y = X'``: ``w_i Y(j,i) <= w_j Y(j,j)``."""
    return (w[i], j, i), (w[j], j)


def test_omega_bounds_the_diagonal_only():
    M = np.array([[1.0, 0.0, 3.0], [0.0, 1.0, 3.0]])
    assert least_trace(M, corrected_pair, bound_all=False) == pytest.approx(len(extreme_rays(M)))
    assert least_trace(M, corrected_pair, bound_all=True) > 2.1


def test_omega_1_as_printed_has_its_indices_swapped():
    M = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
    assert least_trace(M.T, corrected_pair, bound_all=False) == pytest.approx(len(extreme_rays(M.T)))
    assert least_trace(M.T, omega_1_pair, bound_all=False) > 2.1


def test_the_table_of_statements_names_every_test_here_and_no_other():
    table = (Path(__file__).parents[2] / "docs" / "theory" / "statements.md").read_text()
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    listed = {f"test_{name}" for row in rows for name in re.findall(r"`(\w+)`", row[5])}
    here = {name for name in globals() if name.startswith("test_") and not name.startswith("test_the_table")}
    assert listed == here
