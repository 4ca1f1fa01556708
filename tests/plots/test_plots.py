"""The figures: what is in them, in which order, and that names are neither lost nor read as markup."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

import stand_ins
from cosep import CUR, CoSeparableNMF, Factorization, Selection, mix, plots
from cosep.findings.overview import MOST_LINES, overview
from cosep.findings.topics import topics_of
from cosep.findings.wording import brief, excerpt, name_of, percent, points, quantity, readable, squeezed
from cosep.matrix.scaling import scale
from cosep.matrix.validation import as_matrix
from cosep.plots.drawing import hovering, label
from cosep.utils.messages import counted


@pytest.fixture(scope="module")
def data():
    X, rows, cols = stand_ins.blocks()
    return X, stand_ins.factorize(X, rows, cols[::-1])


def test_the_core_has_its_columns_next_to_their_topics(data):
    _, result = data
    trace = plots.core(result).data[0]
    assert trace.z.argmax(axis=0).tolist() == [0, 1, 2]
    shown = [[float(value) for value in row] for row in trace.hovertext]
    np.testing.assert_allclose(shown, result.core[:, ::-1], rtol=1e-3)
    assert trace.customdata[0, 0].tolist() == ["1. document 0", "word 0"]


def test_colours_of_the_core_do_not_depend_on_scales(data):
    X, result = data
    scaled = np.diag(np.geomspace(1e-3, 1e3, len(X))) @ X
    other = mix(scaled, result.selection, max_iter=1)
    np.testing.assert_allclose(plots.core(other).data[0].z, plots.core(result).data[0].z, rtol=1e-6)


def test_equal_names_stay_apart(data):
    X, result = data
    twins = replace(result, row_names=np.full(len(X), "same"), col_names=np.full(X.shape[1], "same"))
    assert plots.core(twins).data[0].z.shape == (3, 3)
    assert plots.matrix(X, twins).data[0].z.shape == X.shape


def test_a_large_core_is_cut_and_says_so():
    r = MOST_LINES + 50
    X = np.eye(r + 5) + 1e-3
    result = stand_ins.factorize(X, range(r), range(r))
    figure = plots.core(result)
    assert figure.data[0].z.shape == (100, 100)
    assert f"first 100 of {r} rows" in figure.layout.meta["note"]
    assert plots.matrix(X, result).data[0].z.shape == (MOST_LINES, MOST_LINES)
    assert "first 100 of each side" in plots.stability(stand_ins.stability(result)).layout.meta["note"]


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array, np.float32])
def test_the_reordered_matrix_shows_each_block_on_the_diagonal(data, kind):
    X, result = data
    mixed = np.random.default_rng(0).permutation(len(X))
    rows = np.argsort(mixed)[result.selection.row_indices]
    shuffled = mix(X[mixed], Selection(rows, result.selection.col_indices))
    z = plots.matrix(kind(X[mixed]), shuffled).data[0].z
    assert z.shape == X.shape
    np.testing.assert_array_equal(z > 0, X > 0)


@pytest.mark.parametrize("scaling", [None, "degree"])
def test_averages_keep_the_sum_of_what_they_average(scaling):
    X, result, _ = stand_ins.large(m=2000, n=400)
    M = as_matrix(X)
    A, norm = scale(M, scaling)
    result = replace(result, scaling=norm)
    seen = overview(result, topics_of(result), M)
    lengths = [np.array([len(part) for part in side.members]) for side in (seen.rows, seen.cols)]
    assert lengths[0] @ seen.values @ lengths[1] == pytest.approx(float(A.raw.sum()))
    for side, size in ((seen.rows, 2000), (seen.cols, 400)):
        assert len(side.members) <= MOST_LINES
        assert sorted(np.concatenate(side.members).tolist()) == list(range(size))
        starts = side.clusters[np.flatnonzero(np.diff(side.clusters, prepend=-2))]
        assert len(set(starts.tolist())) == len(starts)
    note = plots.matrix(X, result).layout.meta["note"]
    assert "is the mean of about" in note
    assert "of 2,000" in note
    assert ("(scaling: degree)" in note) == (scaling == "degree")


def test_zero_rows_are_left_out_of_the_picture_and_it_is_said():
    X, rows, cols = stand_ins.blocks()
    X[3], X[:, 2] = 0.0, 0.0
    figure = plots.matrix(X, CoSeparableNMF(3, 3).fit(X).factorization_)
    assert figure.data[0].z.shape == (17, 14)
    assert "1 all-zero row left out" in figure.layout.meta["note"]
    bare = replace(stand_ins.factorize(X, rows, cols), row_labels=None, col_labels=None)
    assert plots.matrix(X, bare).data[0].z.shape == (17, 14)


def test_shares_of_rows_are_sorted_named_and_thinned_honestly():
    values = np.random.default_rng(0).uniform(0, 1, 5000)
    values[7] = np.nan
    errors = SimpleNamespace(row_errors=values, col_errors=np.array([0.5, 0.25]))
    figure = plots.errors(errors, col_names=["half", "<b>quarter</b>"])
    rows, cols = figure.data
    assert len(rows.y) == 400
    assert (np.diff(rows.y) <= 0).all()
    assert rows.y[-1] == pytest.approx(100 * (1 - np.nanmax(values) ** 2))
    assert list(cols.y) == [93.75, 75.0]
    assert rows.customdata[-1] == f"row {np.nanargmax(values)}"
    assert list(cols.customdata) == ["&lt;b&gt;quarter&lt;/b&gt;", "half"]
    assert "400 of 4,999 rows" in figure.layout.meta["note"]
    nothing = plots.errors(SimpleNamespace(row_errors=np.array([np.nan]), col_errors=np.array([0.0])))
    assert len(nothing.data[0].y) == 0


def test_stability_shows_every_selected_row_and_column(data):
    _, result = data
    known = stand_ins.stability(result)
    figure = plots.stability(known, row_names=result.row_names)
    np.testing.assert_allclose(figure.data[0].x, 100 * known.rows["frequency"])
    np.testing.assert_allclose(figure.data[3].x, 100 * known.cols["similarity"])
    assert list(figure.layout.yaxis.ticktext) == [
        *("document 0", "document 8", "document 14"),
        *("column 12", "column 5", "column 0"),
    ]


def test_the_path_shows_the_shares_the_bound_and_what_is_added(data):
    _, result = data
    known = stand_ins.path(result)
    figure = plots.selection_path(known, row_names=result.row_names)
    for curve, part in zip(figure.data, ("rows", "cols", "core", "bound"), strict=True):
        np.testing.assert_allclose(curve.y, 100 * getattr(known, part))
        assert list(curve.x) == [1, 2, 3]
    assert list(figure.data[0].customdata) == ["document 14", "document 8", "document 0"]
    assert list(figure.data[1].customdata) == ["column 0", "column 5", "column 12"]


def test_the_rank_curve_is_one_path_or_one_curve_a_number_of_columns():
    path = plots.rank_curve(stand_ins.rank_choice(((2, 3), (4, 6), (8, 9))))
    assert len(path.data) == 2
    assert list(path.data[0].x) == [2, 4, 8]
    assert list(path.data[0].marker.symbol) == ["circle", "circle", "star"]
    choice = stand_ins.rank_choice(((2, 3), (4, 6), (8, 9)))
    choice.n_rows, choice.n_cols = 4, 6
    assert list(plots.rank_curve(choice).data[0].marker.symbol) == ["circle", "star", "diamond"]
    grid = plots.rank_curve(stand_ins.rank_choice())
    assert [trace.name for trace in grid.data[::2]] == ["2 columns", "3 columns"]
    assert grid.data[0].marker.color == grid.data[1].marker.color
    single = plots.rank_curve(stand_ins.rank_choice(((1, 1),)))
    assert list(single.data[0].x) == [1]


@pytest.mark.parametrize("draw", [plots.core, lambda result: plots.matrix(np.ones((18, 15)), result)])
@pytest.mark.parametrize(
    "result",
    [
        None,
        "core",
        np.ones((2, 2)),
        Factorization(np.ones((18, 1)), None, np.ones((1, 15))),
        mix(np.eye(4) + 1, Selection(None, np.array([0, 1]))),
        Factorization(np.ones((18, 1)), np.ones((1, 1)), np.ones((1, 15)), Selection(np.array([0]), None)),
    ],
    ids=["none", "text", "array", "no core", "one side", "no columns"],
)
def test_what_has_no_core_is_refused(draw, result):
    with pytest.raises(ValueError, match="model"):
        draw(result)


def test_a_factorization_of_another_kind_is_refused():
    X = np.random.default_rng(0).uniform(size=(6, 5))
    model = CUR(2, 2).fit(X)
    other = Factorization(
        np.ones((6, 2)), np.ones((2, 2)), np.ones((2, 5)), Selection(model.row_indices_, model.col_indices_)
    )
    with pytest.raises(ValueError, match="weights of both"):
        plots.core(other)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((3, 3)), "shape"),
        (np.full((18, 15), np.nan), "NaN"),
        (-np.ones((18, 15)), "Negative"),
        (np.zeros((18, 15)), "no nonzero entry"),
        ("matrix", "two dimensions"),
    ],
)
def test_a_matrix_that_does_not_fit_is_refused(data, X, message):
    with pytest.raises(ValueError, match=message):
        plots.matrix(X, data[1])


@pytest.mark.parametrize("draw", [plots.errors, plots.stability, plots.selection_path, plots.rank_curve])
@pytest.mark.parametrize("thing", [None, 3, "text", {}])
def test_what_lacks_its_tables_is_refused(draw, thing):
    with pytest.raises(ValueError, match="must have"):
        draw(thing)


def test_labels_hold_nothing_that_plotly_reads_as_markup():
    for name in stand_ins.HOSTILE:
        for text in (label(readable(name)), hovering(readable(name)).replace("<br>", "")):
            assert not set(text) & {"<", ">", "$"}
    assert label("a&lt;b") == "a&amp;lt;b"
    assert max(map(len, hovering("x" * 300).split("<br>"))) <= 44


def test_names_are_cut_where_it_says_so():
    assert readable("short") == "short"
    assert readable("  a\nb\x00c ") == "a b c"
    for letter in ("x", "\u65e5", "\U0001f600"):
        long = readable(letter * 1000, 100)
        assert len(long.encode()) <= 100
        assert long.endswith("\u2026")
    assert readable("bad \udcff").encode("utf-8") == b"bad ?"
    assert squeezed("abcdefghij", 10) == "abcdefghij"
    assert squeezed("abcdefghijk", 10) == "abcd\u2026ghijk"
    assert name_of(None, 3, "row") == "row 3"
    assert name_of(["\x00"], 0, "row") == "row 0"


def test_excerpts_end_on_a_word_and_keep_paragraphs():
    wrapped = "A line that an editor has broken because it was too long for\nit.\n\n\n\nNext\nshort line"
    assert excerpt(wrapped, 500) == wrapped.replace("for\nit", "for it").replace("\n\n\n\n", "\n\n")
    cut = excerpt("word " * 500, 100)
    assert cut.endswith("word \u2026")
    assert len(cut) <= 102
    assert len(excerpt("x" * 500, 100)) == 102


def test_numbers_are_never_rounded_to_nothing_or_all():
    assert [percent(share) for share in (0.0, 1e-9, 0.5, 1 - 1e-9, 1.0)] == [
        "0.0%",
        "less than 0.1%",
        "50.0%",
        "more than 99.9%",
        "100.0%",
    ]
    assert percent(-0.25) == "\u221225.0%"
    assert brief(1e-9) == "<0.1%"
    assert points(-0.0125) == "1.25 points"
    assert points(1e-9) == "less than 0.01 points"
    assert [quantity(value) for value in (3.0, 1234567.0, 1e-150, np.inf, np.nan)] == [
        "3",
        "1.235e+06",
        "1e-150",
        "infinite",
        "not known",
    ]
    assert [counted(1, "row"), counted(1876, "row")] == ["1 row", "1,876 rows"]
