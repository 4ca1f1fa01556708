"""The records: products, errors, transposes, and the way to disk and back."""

import json
import os
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import Factorization, Scaling, Selection, make_coseparable, mix, relative_approximation
from cosep.records.archive import write_arrays
from cosep.records.model_file import ARRAYS, STORED, pack
from cosep.records.panel_moments import PanelMoments

RANDOM = np.random.default_rng(1)


def make(m=8, n=6, r1=3, r2=2, dtype=np.float64, **parts):
    return Factorization(
        RANDOM.uniform(size=(m, r1)).astype(dtype),
        RANDOM.uniform(size=(r1, r2)).astype(dtype),
        RANDOM.uniform(size=(r2, n)).astype(dtype),
        **parts,
    )


FULL = make(
    selection=Selection(np.array([4, 1, 0]), np.array([2, 5]), gap=1e-5, n_iter=3, history=((0.5, None), (0.25, 1e-5))),
    row_weights=RANDOM.uniform(size=(8, 3)),
    col_weights=RANDOM.uniform(size=(2, 6)),
    row_labels=np.array([0, 1, 2, 0, 1, 2, 0, -1]),
    col_labels=np.array([0, 1, 0, 1, 0, 1]),
    row_names=np.array([f"row {i}" for i in range(8)]),
    col_names=np.array(["a", "b", "c", "d", "e", "naïve"], dtype=object),
    scaling=Scaling("degree", *(RANDOM.uniform(0.1, 2, size) for size in (8, 6, 8, 6))),
    panel=PanelMoments(8.0, *(RANDOM.uniform(size=size) for size in (6, 6, (6, 2), 2))),
    meta={"objective": [0.5, 0.25], "words": {"stop": "english"}},
)


def assert_same(left, right):
    for name in ARRAYS:
        a, b = getattr(left, name), getattr(right, name)
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b), err_msg=name)
            assert name.endswith("_names") or a.dtype == b.dtype, name
    assert left.meta == right.meta
    assert (left.selection is None) == (right.selection is None)
    if left.selection is not None:
        for side in ("row_indices", "col_indices"):
            np.testing.assert_array_equal(getattr(left.selection, side), getattr(right.selection, side))
        assert [getattr(left.selection, x) for x in ("gap", "n_iter", "history")] == [
            getattr(right.selection, x) for x in ("gap", "n_iter", "history")
        ]
    if left.scaling is not None:
        assert left.scaling.name == right.scaling.name
        for part in ("rows", "cols", "row_copies", "col_copies"):
            np.testing.assert_array_equal(getattr(left.scaling, part), getattr(right.scaling, part))


def test_records_are_frozen_and_compare_by_identity():
    with pytest.raises(FrozenInstanceError):
        FULL.core = None
    assert replace(FULL) != FULL


def test_saving_knows_every_field():
    assert {field.name for field in fields(Factorization)} == {*ARRAYS, "selection", "scaling", "panel", "meta"}
    assert set(pack(vars(FULL))) == set(STORED)


def test_reconstruct_gives_all_or_some_rows():
    product = FULL.row_factor @ FULL.core @ FULL.col_factor
    np.testing.assert_allclose(FULL.reconstruct(), product)
    np.testing.assert_allclose(FULL.reconstruct(rows=[5, 2]), product[[5, 2]])
    np.testing.assert_allclose(FULL.reconstruct(rows=slice(1, 4)), product[1:4])
    nmf = Factorization(FULL.row_factor, None, RANDOM.uniform(size=(3, 6)))
    np.testing.assert_allclose(nmf.reconstruct(), nmf.row_factor @ nmf.col_factor)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 4), st.integers(1, 4)),
    distance=st.sampled_from([0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 1.0]),
    scale=st.sampled_from([1e-200, 1e-3, 1.0, 1e200]),
    form=st.sampled_from([np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_matrix]),
)
def test_the_error_without_the_reconstruction_equals_the_direct_one(seed, shape, distance, scale, form):
    random = np.random.default_rng(seed)
    m, n, r1, r2 = shape
    factors = random.uniform(size=(m, r1)), random.uniform(size=(r1, r2)), random.uniform(size=(r2, n))
    product = factors[0] @ factors[1] @ factors[2]
    X = product * (1.0 + distance * random.uniform(size=(m, n)))
    direct = np.linalg.norm(X - product) / np.linalg.norm(X)
    factorization = Factorization(factors[0], factors[1] * scale, factors[2])
    assert factorization.relative_error(form(X * scale)) == pytest.approx(direct, abs=1e-10)


def test_the_error_of_an_all_zero_matrix_is_zero_or_infinite():
    zero = np.zeros((2, 2))
    assert Factorization(np.zeros((2, 1)), None, np.ones((1, 2))).relative_error(zero) == 0.0
    assert Factorization(np.ones((2, 1)), None, np.ones((1, 2))).relative_error(zero) == np.inf


def test_the_transpose_swaps_both_sides_and_is_its_own_inverse():
    np.testing.assert_allclose(FULL.T.reconstruct(), FULL.reconstruct().T)
    np.testing.assert_array_equal(FULL.T.row_names, FULL.col_names)
    np.testing.assert_array_equal(FULL.T.col_weights, FULL.row_weights.T)
    np.testing.assert_array_equal(FULL.T.selection.row_indices, FULL.selection.col_indices)
    assert_same(FULL.T.T, FULL)


NMF = Factorization(np.ones((2, 1)), None, np.ones((1, 3)))
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)


@pytest.mark.parametrize("factorization", [FULL, make(), make(dtype=np.float32), NMF])
def test_saving_and_loading_returns_the_same_record(factorization, tmp_path):
    path = tmp_path / "model.anything"
    factorization.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.anything"]
    assert_same(Factorization.load(str(path)), factorization)


@settings(deadline=None, max_examples=25)
@given(
    sizes=st.tuples(*[st.integers(1, 5)] * 4),
    core=st.booleans(),
    names=st.lists(NAMES, min_size=5, max_size=5),
    meta=st.dictionaries(st.text(max_size=3), st.none() | st.booleans() | st.integers() | st.text(max_size=3)),
)
def test_any_record_survives_the_round_trip(tmp_path_factory, sizes, core, names, meta):
    m, n, r1, r2 = sizes
    r2 = r2 if core else r1
    factorization = Factorization(
        RANDOM.uniform(size=(m, r1)),
        RANDOM.uniform(size=(r1, r2)) if core else None,
        RANDOM.uniform(size=(r2, n)),
        row_names=np.array(names[:m]),
        meta=meta,
    )
    path = tmp_path_factory.mktemp("models") / "model.npz"
    factorization.save(path)
    assert_same(Factorization.load(path), factorization)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "model.npz"
    FULL.save(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        make(meta={"function": print}).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.npz"]


def test_a_save_that_breaks_off_leaves_no_temporary_file(tmp_path, monkeypatch):
    def broken(*_args, **_kwargs):
        msg = "disk full"
        raise OSError(msg)

    monkeypatch.setattr(np.lib.format, "write_array", broken)
    with pytest.raises(OSError, match="disk full"):
        FULL.save(tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


def altered(path, **arrays):
    """Save a record with some of its arrays replaced."""
    write_arrays(path, pack(vars(make(row_names=np.array(list("abcdefgh"))))) | arrays)


@pytest.mark.parametrize("point", [0xD800, 0x110000, 0x7FFFFFFF])
def test_names_beyond_unicode_are_refused(point, tmp_path):
    altered(tmp_path / "model.npz", row_names=np.full(8, point, dtype=np.uint32).view("U1"))
    with pytest.raises(ValueError, match=r"not a readable factorization .*not valid Unicode"):
        Factorization.load(tmp_path / "model.npz")


def test_names_and_settings_that_could_not_be_loaded_are_not_saved(tmp_path):
    for parts in ({"row_names": np.array(["\ud800"] * 8)}, {"row_names": np.array(["\udc00"] * 8, dtype=object)}):
        with pytest.raises(ValueError, match="row_names contain text that is not valid Unicode"):
            make(**parts).save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="only what JSON can store"):
        make(meta={"name": "\ud800"}).save(tmp_path / "model.npz")
    header = {"format": "cosep-factorization", "version": 1, "meta": {"name": "\ud800"}}
    altered(tmp_path / "model.npz", header=np.array(json.dumps(header)))
    with pytest.raises(ValueError, match="surrogates not allowed"):
        Factorization.load(tmp_path / "model.npz")


@pytest.mark.parametrize(
    "arrays",
    [{"row_factor": np.zeros((1 << 12, 1 << 12))}, {"row_labels": np.zeros(1 << 23, dtype=np.int8)},
     {"header": np.array(" " * (1 << 20))}],
)  # fmt: skip
def test_a_file_whose_arrays_would_fill_the_memory_is_not_loaded(arrays, tmp_path, monkeypatch):
    monkeypatch.setattr("cosep.utils.memory.LARGEST_UNPACKED", 1 << 24)
    altered(tmp_path / "model.npz", **arrays)
    with pytest.raises(ValueError, match=r"it would take .* bytes, from a file of \d+; is the file sound"):
        Factorization.load(tmp_path / "model.npz")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="it is not a regular file"):
        Factorization.load(tmp_path / "model.npz")


@pytest.mark.parametrize("name", ["row_factor", "core", "row_weights"])
@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array])
def test_a_broken_sparse_part_is_refused(name, form):
    part = form(np.ones((8 if name != "core" else 3, 3 if name != "core" else 2)))
    (part.coords[0] if part.format == "coo" else part.indices)[0] = 1 << 28
    with pytest.raises(ValueError, match=rf"{name} is a broken {part.format} matrix: its parts do not fit its shape"):
        replace(FULL, **{name: part})


@pytest.mark.parametrize(
    "parts",
    [
        {"row_factor": np.ones((3, 2)), "core": np.ones((3, 2)), "col_factor": np.ones((2, 4))},
        {"row_factor": np.ones(3), "core": None, "col_factor": np.ones((3, 4))},
        {"row_factor": np.ones((3, 2)), "core": None, "col_factor": np.ones((3, 4))},
    ],
)
def test_factors_that_do_not_multiply_are_refused(parts):
    with pytest.raises(ValueError, match=r"product exists|must be a matrix"):
        Factorization(**parts)


WRONG = {"weights": np.ones((11, 11)), "labels": np.arange(11), "names": np.array(["a"] * 11)}


@pytest.mark.parametrize("label", [2, 2**45, -2])
@pytest.mark.parametrize("side", ["row", "col"])
def test_labels_of_other_components_are_refused(side, label):
    """A damaged model with a label of 2**45 asked for 256 TiB of memory."""
    labels = {f"{side}_labels": np.array([0, 1, label])}
    with pytest.raises(ValueError, match=rf"{side}_labels must be between -1 and 1"):
        Factorization(np.ones((3, 2)), None, np.ones((2, 3)), **labels)


@pytest.mark.parametrize("name", ["row_weights", "row_labels", "row_names", "col_weights", "col_labels", "col_names"])
def test_parts_that_do_not_fit_the_factors_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} has shape"):
        make(**{name: WRONG[name.split("_")[1]]})


def test_the_error_of_factors_of_any_sign_is_that_of_a_matrix_of_any_sign():
    random = np.random.default_rng(0)
    left, right = random.normal(size=(6, 2)), random.normal(size=(2, 5))
    data = left @ right + 0.1 * random.normal(size=(6, 5))
    expected = np.linalg.norm(data - left @ right) / np.linalg.norm(data)
    for core in (None, -np.eye(2)):
        fit = Factorization(left if core is None else -left, core, right)
        assert fit.relative_error(data) == pytest.approx(expected)
    with pytest.raises(ValueError, match="Negative values"):
        Factorization(np.abs(left), None, np.abs(right)).relative_error(data)


@pytest.mark.parametrize("factor", [1e-200, 1e-150, 1e150, 1e200])
def test_components_may_carry_their_scale_on_either_side(factor):
    random = np.random.default_rng(0)
    left, right = random.uniform(size=(6, 3)), random.uniform(size=(3, 5))
    right[2] = 0.0
    data = left @ right * (1 + 0.1 * random.uniform(size=(6, 5)))
    scales = np.array([1.0, factor, 1e250])
    fit = Factorization(left * scales, None, right * (factor / scales)[:, None])
    expected = np.linalg.norm(data - left @ right) / np.linalg.norm(data)
    assert fit.relative_error(data * factor) == pytest.approx(expected)


# ---------------------------------------------------------------------------------------------------------------------
# Fidelity, and what to know about a core


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_fidelities_are_what_the_weights_explain(form, scale):
    X = np.random.default_rng(4).poisson(1.5, size=(30, 20)).astype(float)
    rows, cols = [3, 8, 1, 20], [4, 0, 11]
    fit = mix(form(scale * X), Selection(rows, cols))
    U, V = fit.row_weights, fit.col_weights
    core = X[np.ix_(rows, cols)]
    explained = (U @ X[rows], X[:, cols] @ V, U @ core @ V, fit.row_factor @ core @ fit.col_factor)
    expected = [1 - (np.linalg.norm(X - part) / np.linalg.norm(X)) ** 2 for part in explained]
    np.testing.assert_allclose(fit.fidelity(form(scale * X)), expected, rtol=1e-8)
    # Each is the best of its kind: another choice of weights explains less.
    assert expected[0] >= 1 - (np.linalg.norm(X - 0.9 * explained[0]) / np.linalg.norm(X)) ** 2
    transposed = fit.T.fidelity(form(scale * X).T)
    np.testing.assert_allclose(transposed, [expected[1], expected[0], *expected[2:]], rtol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("scaling", ["degree", "rows", "columns", "sinkhorn", "pair"])
def test_errors_and_fidelities_are_those_of_the_norm_of_the_factorization(form, scale, scaling):
    random = np.random.default_rng(4)
    X = random.poisson(1.5, size=(30, 20)) + 0.1 * random.random((30, 20))
    pair = random.uniform(0.5, 2, 30), random.uniform(0.5, 2, 20)
    fit = mix(form(scale * X), Selection([3, 8, 1], [4, 0, 11]), scaling=pair if scaling == "pair" else scaling)
    D, E = np.ldexp(fit.scaling.rows, -np.frexp(fit.scaling.rows[0])[1])[:, None], fit.scaling.cols
    E = np.ldexp(E, -np.frexp(E[0])[1])
    left = X - fit.row_factor @ (fit.core / scale) @ fit.col_factor
    error = np.linalg.norm(D * left * E) / np.linalg.norm(D * X * E)
    assert fit.relative_error(form(scale * X)) == pytest.approx(error, rel=1e-9)
    assert fit.fidelity(form(scale * X)).refitted == pytest.approx(1 - error**2, rel=1e-9)
    rows = np.linalg.norm(left * E, axis=1) / np.linalg.norm(X * E, axis=1)
    np.testing.assert_allclose(fit.row_errors(form(scale * X)), rows, rtol=1e-9)
    plain = np.linalg.norm(left) / np.linalg.norm(X)
    assert replace(fit, scaling=None).relative_error(form(scale * X)) == pytest.approx(plain, rel=1e-9)
    assert relative_approximation(form(scale * X), fit) == pytest.approx(1 - plain, rel=1e-9)


def test_one_side_has_one_fidelity():
    X = np.random.default_rng(5).uniform(size=(9, 8))
    columns, rows = mix(X, Selection(None, [1, 2])), mix(X, Selection([1, 2], None))
    share = 1 - columns.relative_error(X) ** 2
    assert columns.fidelity(X) == (None, pytest.approx(share), None, pytest.approx(share))
    share = 1 - rows.relative_error(X) ** 2
    assert rows.fidelity(X) == (pytest.approx(share), None, None, pytest.approx(share))


def test_a_planted_selection_explains_everything_on_its_own():
    X, truth = make_coseparable(40, 30, 4, 4, random_state=3)
    np.testing.assert_allclose(mix(X, truth).fidelity(X), 1.0, atol=1e-6)


def test_fidelity_needs_weights_and_a_matrix_of_the_same_shape():
    X = np.ones((3, 2))
    with pytest.raises(ValueError, match=r"fidelity needs a selection and its weights; make .* cosep.mix"):
        Factorization(np.ones((3, 1)), None, np.ones((1, 2))).fidelity(X)
    with pytest.raises(ValueError, match=r"X has shape \(2, 3\), but the factors are those of .* \(3, 2\)"):
        mix(X, Selection([0], [0])).fidelity(X.T)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize(
    ("core", "expected"),
    [
        ([[0, 2, 0], [0, 0, 1], [5, 0, 0]], (3, 0, 0, 1.0, True)),
        ([[1, 0], [0, 0]], (1, 1, 1, np.inf, False)),
        ([[1, 1], [1, 1]], (4, 0, 0, np.inf, False)),
        ([[3]], (1, 0, 0, 1.0, False)),
        ([[1, 0, 0], [0, 1, 0]], (2, 0, 1, 1.0, False)),
    ],
)
def test_a_core_is_diagnosed(core, expected, scale):
    core = scale * np.array(core, dtype=float)
    facts = Factorization(np.ones((4, len(core))), core, np.ones((core.shape[1], 5))).diagnose_core()
    assert facts[:3] == expected[:3]
    assert facts.condition == pytest.approx(expected[3])
    assert facts.permuted_diagonal is expected[4]


def test_without_a_core_there_is_nothing_to_diagnose():
    with pytest.raises(ValueError, match=r"There is no core to diagnose"):
        Factorization(np.ones((3, 1)), None, np.ones((1, 2))).diagnose_core()
