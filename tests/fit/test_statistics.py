import numpy as np
import pytest

from cosep.fit.row_uniforms import uniforms
from cosep.fit.sampling import draw_sample
from cosep.fit.statistics import Draw, Drawn, drawn_rows, statistics
from cosep.matrix.norm import Norm, RowRule
from in_blocks import DATA, FORMATS, lengths_of, local


def draw(seed, most, X, power=0.0, weights=None):
    """Draw by a norm that divides rows by a power of their sums, and multiplies columns by 1 to 2."""
    return Draw(seed, most, Norm("rows", np.linspace(1, 2, X.shape[1]), RowRule(power), weights=weights))


def gathered(X, lengths, drawing, make=np.asarray):
    return local(X, lengths, make).reduce(statistics, drawing)


def slow_statistics(X, seed, most, power=0.0, weights=1.0):
    """All of it at once, by sorting."""
    sums = X.sum(axis=1)
    squares = ((X * np.linspace(1, 2, X.shape[1])) ** 2).sum(axis=1)
    sizes = weights * squares / np.where(sums > 0, sums, 1) ** (2 * power)
    priorities = sizes / uniforms(np.arange(len(X)), seed)
    drawn = sorted(np.flatnonzero(sizes), key=lambda i: (-priorities[i], i))[:most]
    return X.sum(axis=0), X.max(), priorities[drawn], np.array(drawn), sizes[drawn]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("count", "ragged", "name"), [(1, False, "csc"), (9, True, "dense"), (40, False, "csr")])
@pytest.mark.parametrize("most", [1, 50, 10_000])
def test_statistics_of_blocks_are_those_of_the_whole(data, count, ragged, name, most):
    X = DATA[data]
    found = gathered(X, lengths_of(len(X), count, ragged=ragged), draw(3, most, X), FORMATS[name])
    sums, largest, priorities, drawn, sizes = slow_statistics(X, 3, most)
    np.testing.assert_allclose(found.col_sums, sums, rtol=1e-13)
    assert found.n_filled == X.any(axis=1).sum()
    assert found.largest == largest
    assert found.drawn.max_drawn == most
    stored = X.shape[1] if name == "dense" else np.count_nonzero(X[drawn], axis=1)
    np.testing.assert_array_equal(found.drawn.stored, stored)
    np.testing.assert_array_equal(found.drawn.indices, drawn)
    np.testing.assert_allclose(found.drawn.priorities, priorities, rtol=1e-12)
    np.testing.assert_allclose(found.drawn.sizes, sizes, rtol=1e-12)


def test_rows_drawn_in_a_pass_of_their_own_are_those_drawn_with_the_statistics():
    X = DATA["counts"]
    drawing = draw(3, 50, X, 0.5)
    own, together = local(X, [300] * 3).reduce(drawn_rows, drawing), gathered(X, [300] * 3, drawing).drawn
    for one, other in zip(own, together, strict=True):
        np.testing.assert_array_equal(one, other)
    nothing = gathered(X, [300] * 3, draw(3, 0, X)).drawn
    assert len(nothing.indices) == 0
    assert not nothing.has_all


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_weights_and_the_norm_of_rows_count_in_the_statistics(power):
    X = DATA["counts"]
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    found = gathered(X, [300] * 3, draw(3, 50, X, power, weights))
    _, _, priorities, drawn, sizes = slow_statistics(X, 3, 50, power, weights)
    np.testing.assert_allclose(found.col_sums, weights @ X, rtol=1e-13)
    assert found.n_filled == weights[X.any(axis=1)].sum()
    np.testing.assert_array_equal(found.col_counts, weights @ (X != 0))
    assert found.row_squares == weights @ (X != 0).sum(axis=1) ** 2
    np.testing.assert_array_equal(found.drawn.indices, drawn)
    np.testing.assert_allclose(found.drawn.priorities, priorities, rtol=1e-12)
    np.testing.assert_allclose(found.drawn.sizes, sizes, rtol=1e-12)
    assert (weights[found.drawn.indices] > 0).all()


def test_of_rows_with_the_same_priority_the_first_is_drawn():
    part = Drawn(3, np.array([5.0, 2.0]), np.array([7, 9]), np.ones(2), np.ones(2, int))
    other = part._replace(indices=np.array([12, 10]))
    merged = part.merge([other])
    assert merged.indices.tolist() == [7, 12, 9]
    assert merged.priorities.tolist() == [5, 5, 2]


def test_uniforms_belong_to_positions_not_to_blocks():
    whole = uniforms(np.arange(1000), 5)
    np.testing.assert_array_equal(
        np.concatenate([uniforms(np.arange(a, a + 100), 5) for a in range(0, 1000, 100)]), whole
    )
    assert not np.array_equal(uniforms(np.arange(1000), 6), whole)


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 2, 2**32 - 1])
@pytest.mark.parametrize("start", [0, 10**9])
def test_uniforms_look_uniform_and_unrelated(seed, start):
    u = uniforms(np.arange(start, start + 100_000), seed)
    assert 0 < u.min() < u.max() < 1
    # Kolmogorov's distance is above 2.2 / sqrt(n) for one seed in 8000; the seeds are fixed.
    assert np.abs(np.sort(u) - (np.arange(len(u)) + 0.5) / len(u)).max() < 2.2 / np.sqrt(len(u))
    for lag in (1, 2, 64):
        assert abs(np.corrcoef(u[:-lag], u[lag:])[0, 1]) < 5 / np.sqrt(len(u))
    assert abs(np.corrcoef(u, uniforms(np.arange(start, start + len(u)), seed - 1 if seed else 1))[0, 1]) < 5 / np.sqrt(
        len(u)
    )


@pytest.mark.parametrize("certain", [[], [3, 500, 899], list(range(0, 900, 9))])
def test_the_sample_estimates_squared_norms_without_bias(certain):
    X, certain = DATA["noisy"] * np.linspace(0.2, 3, 900)[:, None], np.array(certain, dtype=np.intp)
    truth, runs = (X**2).sum(axis=0), 300
    estimates = np.zeros((runs, X.shape[1]))
    for seed in range(runs):
        found = gathered(X, [900], draw(seed, 151, X)).drawn
        sample = draw_sample(found, 150, certain)
        estimates[seed] = (sample.counts[:, None] * X[sample.indices] ** 2).sum(axis=0)
    spread = estimates.std(axis=0, ddof=1) / np.sqrt(runs)
    # A normal variable is beyond five of its deviations once in two million times.
    assert (np.abs(estimates.mean(axis=0) - truth) < 5 * spread).all()
    assert (estimates.std(axis=0) > 0).all()


def test_where_there_is_room_for_all_rows_each_counts_once():
    X = DATA["counts"]
    sample = draw_sample(gathered(X, [300] * 3, draw(0, 5000, X)).drawn, 4999, np.zeros(0, dtype=np.intp))
    np.testing.assert_array_equal(sample.indices, np.flatnonzero(X.any(axis=1)))
    assert (sample.counts == 1).all()


@pytest.mark.parametrize("certain", [[0], [0, 10, 20], "drawn", "all"])
@pytest.mark.parametrize("size", [5, 100])
def test_a_sample_has_the_certain_rows_and_drawn_rows_only(certain, size):
    X = DATA["noisy"]
    found = gathered(X, [900], draw(0, size + 1, X)).drawn
    certain = {"drawn": np.sort(found.indices), "all": np.arange(900)}.get(str(certain), certain)
    sample = draw_sample(found, size, np.array(certain, dtype=np.intp))
    assert np.isin(certain, sample.indices).all()
    assert (np.diff(sample.indices) > 0).all()
    assert (sample.counts >= 1).all()
    assert (sample.counts[np.isin(sample.indices, certain)] == 1).all()
    assert np.isin(sample.indices, np.union1d(certain, found.indices[:size])).all()


def test_fewer_rows_drawn_are_the_first_ones():
    X = DATA["noisy"]
    found = gathered(X, [900], draw(0, 200, X)).drawn.fewer(50)
    expected = gathered(X, [900], draw(0, 50, X)).drawn
    assert found.max_drawn == 50
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.sizes, expected.sizes)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1.7e308])
def test_the_largest_entry_is_found_if_squares_overflow(scale):
    X = DATA["noisy"] / DATA["noisy"].max() * scale
    assert gathered(X, [300] * 3, draw(0, 10, X)).largest == X.max()
