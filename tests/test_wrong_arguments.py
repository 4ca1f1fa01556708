"""Arguments of the wrong kind: a ValueError of one short line that names the argument, whatever was passed."""

import os
import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from cosep import (
    HALSNMF,
    CoSeparableNMF,
    Factorization,
    Pool,
    Scaling,
    Selection,
    TriSymmetricNMF,
    annotate,
    both_sides,
    choose_rank,
    clustering_accuracy,
    describe,
    explain,
    fgm,
    make_coseparable,
    mix,
    plots,
    preselected,
    row_blocks,
    selection_path,
    spa,
    stability,
)
from cosep.io import NamedMatrix, TextOptions, read, read_blocks, read_labels, read_names, vectorise, write_blocks
from cosep.matrix.checks import check_jobs
from cosep.report import write_report
from cosep.theory import is_separable, to_cur

X = np.random.default_rng(0).integers(1, 9, (9, 7)).astype(float)
CHOSEN = Selection([0, 1, 2], [0, 1, 2])
SIDE = {"index": np.arange(3), "frequency": np.ones(3), "similarity": np.ones(3)}
TRIED = {"n_rows": [2, 3], "n_cols": [2, 3], "error": [0.5, 0.4], "error_se": [0.1, 0.1], "stability": [1.0, 0.5]}
REASONS = {name: np.zeros(3) for name in ("share", "loss", "runner_up_loss")} | {
    "index": [0, 1, 2],
    "runner_up": [-1] * 3,
}


@cache
def fit():
    return mix(X, CHOSEN)


def report_of(path, **parts):
    return write_report(X, fit(), path, **parts)


def raising(*names):
    """Return an object that raises when one of these special methods is called."""

    def refuse(*_args):
        msg = "no\nlook \x1b[31m"
        raise RuntimeError(msg)

    return type("Raising", (), dict.fromkeys(names, refuse))()


def broken():
    A = sp.csr_array(X)
    A.data = None
    return A


# Values that are wrong for every argument below.
WRONG = {
    "object": object(),
    "array of three dimensions": np.ones((2, 3, 4)),
    "complex array": X * 1j,
    "list of arrays": [X, {"a": X[0]}],
    "table of text": pd.DataFrame({"a": ["x\n", "y"], "b": ["\x1b[31m", "w"]}),
    "broken sparse matrix": broken(),
    "record": Factorization(X, None, np.ones((7, 2))),
    "1 + 10**5000": 1 + 10**5000,
    "bytes": b"\x00spam",
    "generator": lambda: (i for i in range(3)),
    "huge range": range(10**18),
    "hidden text": raising("__repr__", "__str__"),
    "hidden numbers": raising("__array__", "__iter__", "__len__", "__getitem__"),
    "hidden attributes": raising("__getattr__"),
}


def with_field(draw, fields, name):
    return lambda value: draw(SimpleNamespace(**fields | {name: value}))


ERRORS = {"rows": REASONS, "cols": REASONS, "row_errors": np.ones(9), "col_errors": np.ones(7), "sum_of_errors": 0.5}
DRAWS = {"rows": SIDE, "cols": SIDE, "n_draws": 4, "share": 0.5}
PATH = {
    "row_indices": [0, 1, 2],
    "col_indices": [0, 1, 2],
    **dict.fromkeys(("rows", "cols", "core", "bound"), np.ones(3)),
}
CHOICE = {"n_rows": 2, "n_cols": 2, "reason": "it is", "table": TRIED}
CALLS = {
    "X of spa": ("X", lambda value: spa(value, 2)),
    "X of fit": ("X", lambda value: HALSNMF(2).fit(value)),
    "X of row_blocks": ("X", row_blocks),
    "r": ("r", lambda value: spa(X, value)),
    "tol": ("tol", lambda value: spa(X, 2, tol=value)),
    "pool": ("pool", lambda value: spa(X, 2, pool=value)),
    "pool.candidates": ("pool.candidates", lambda value: spa(X, 2, pool=Pool(value))),
    "pool.include": ("pool.include", lambda value: spa(X, 2, pool=Pool(include=value))),
    "col_pool.candidates": (
        "col_pool.candidates",
        lambda value: CoSeparableNMF(2, 2, col_pool=Pool(value)).fit(pd.DataFrame(X, columns=list("abcdefg"))),
    ),
    "trace": ("trace", lambda value: fgm(X, 2, trace=value)),
    "trace and penalty": ("trace", lambda value: fgm(X, 2, trace=value, penalty=0.1)),
    "callback": ("callback", lambda value: mix(X, CHOSEN, callback=value)),
    "callback of both_sides": ("callback", lambda value: both_sides(spa)(X, 2, 2, callback=value)),
    "selector of both_sides": ("selector", both_sides),
    "selector of preselected": ("selector", lambda value: preselected(value, 4, 4)(X, 2, 2)),
    "method": ("method", lambda value: CoSeparableNMF(2, 2, method=value).fit(X)),
    "scaling": ("scaling", lambda value: CoSeparableNMF(2, 2, scaling=value).fit(X)),
    "scaling of blocks": ("scaling", lambda value: CoSeparableNMF(2, 2, scaling=value).fit(row_blocks(X))),
    "checkpoint": ("checkpoint", lambda value: CoSeparableNMF(2, 2, checkpoint=value).fit(row_blocks(X))),
    "random_state": ("random_state", lambda value: CoSeparableNMF(2, 2, random_state=value).fit(X)),
    "selection": ("selection", lambda value: mix(X, value)),
    "selection of to_cur": ("selection", lambda value: to_cur(X, value)),
    "col_indices": ("col_indices", lambda value: is_separable(X, value)),
    "model": ("model", lambda value: explain(X, value)),
    "model of selection_path": ("model", lambda value: selection_path(X, value)),
    "model of stability": ("model", lambda value: stability(X, value)),
    "model of describe": ("model", lambda value: describe(X, value)),
    "path of load of a model": ("path", CoSeparableNMF.load),
    "n_rows of grow": ("n_rows", lambda value: CoSeparableNMF(2, 2).fit(X).grow(X, value)),
    "X of grow": ("X", lambda value: CoSeparableNMF(2, 2).fit(X).grow(value)),
    "ranks": ("ranks", lambda value: choose_rank(X, value)),
    "n_jobs": ("n_jobs", lambda value: stability(X, CHOSEN, n_jobs=value)),
    "labels_true": ("labels_true", lambda value: clustering_accuracy(value, [0, 1])),
    "m": ("m", lambda value: make_coseparable(value, 5, 2, 2)),
    "row_indices": ("row_indices", lambda value: Selection(value, None)),
    "gap": ("gap", lambda value: Selection([0], None, gap=value)),
    "rows of Scaling": ("rows", lambda value: Scaling("rows", value, np.ones(3))),
    "row_factor": ("row_factor", lambda value: Factorization(value, None, X)),
    "row_labels": ("row_labels", lambda value: Factorization(X, None, np.eye(7), row_labels=value)),
    "row_names": ("row_names", lambda value: Factorization(X, None, np.eye(7), row_names=value)),
    "meta": ("meta", lambda value: Factorization(X, None, np.eye(7), meta=value)),
    "rows of reconstruct": ("rows", lambda value: fit().reconstruct(value)),
    "path of save": ("path", lambda value: fit().save(value)),
    "path of load": ("path", Factorization.load),
    "path of write_report": ("path", report_of),
    "path of write_blocks": ("path", lambda value: write_blocks(value, [X])),
    "path of read": ("path", read),
    "path of read_blocks": ("path", read_blocks),
    "path of read_names": ("path", read_names),
    "kind": ("kind", lambda value: read("no.csv", kind=value)),
    "text": ("text", lambda value: read("no.csv", text=value)),
    "row_names of read_labels": ("row_names", lambda value: read_labels("no.csv", value)),
    "texts": ("texts", vectorise),
    "options": ("options", lambda value: vectorise(["tea and jam"], value)),
    "column": ("column", lambda value: TextOptions(column=value)),
    "min_df": ("min_df", lambda value: TextOptions(min_df=value)),
    "vocabulary": ("vocabulary", lambda value: TextOptions(vocabulary=value)),
    "vocabulary of from_mapping": ("vocabulary", lambda value: TextOptions.from_mapping({}, value)),
    "settings": ("settings", TextOptions.from_mapping),
    "values": ("values", lambda value: NamedMatrix(value, ["a"], ["b"])),
    "row_names of NamedMatrix": ("row_names", lambda value: NamedMatrix(X, value, ["b"] * 7)),
    "texts of NamedMatrix": ("texts", lambda value: NamedMatrix(X, ["a"] * 9, ["b"] * 7, texts=value)),
    "layer": ("layer", lambda value: annotate(cells(), 2, 2, layer=value)),
    "layer of row_blocks": ("layer", lambda value: row_blocks(cells(), layer=value)),
    "model of plots.core": ("model", plots.core),
    "explanation of plots.errors": ("explanation", plots.errors),
    "row_names of plots.errors": ("row_names", lambda value: plots.errors(SimpleNamespace(**ERRORS), row_names=value)),
    "col_names of plots": ("col_names", lambda value: plots.stability(SimpleNamespace(**DRAWS), col_names=value)),
    **{f"{name} of plots.errors": (name, with_field(plots.errors, ERRORS, name)) for name in list(ERRORS)[2:4]},
    **{f"{name} of plots.stability": (name, with_field(plots.stability, DRAWS, name)) for name in DRAWS},
    **{f"{name} of plots.stability.rows": (
        name, lambda value, name=name: plots.stability(SimpleNamespace(**DRAWS | {"rows": SIDE | {name: value}}))
    ) for name in SIDE},
    **{f"{name} of plots.rank_curve": (name, with_field(plots.rank_curve, CHOICE, name)) for name in list(CHOICE)[::3]},
    **{f"{name} of plots.rank_curve.table": (
        name, lambda value, name=name: plots.rank_curve(SimpleNamespace(**CHOICE | {"table": TRIED | {name: value}}))
    ) for name in TRIED},
    **{f"{part} of write_report": (
        part, lambda value, part=part: report_of("report.html", **{part: value})
    ) for part in ("explanation", "stability", "rank", "selection_path", "texts", "command")},
    **{f"{name} of the report's explanation": (
        name, with_field(lambda record: report_of("report.html", explanation=record), ERRORS, name)
    ) for name in ERRORS},
    **{f"{name} of the report's stability": (
        name, with_field(lambda record: report_of("report.html", stability=record), DRAWS, name)
    ) for name in DRAWS},
    **{f"{name} of plots.selection_path": (name, with_field(plots.selection_path, PATH, name)) for name in PATH},
    **{f"{name} of the report's path": (
        name, with_field(lambda record: report_of("report.html", selection_path=record), PATH, name)
    ) for name in PATH},
    **{f"{name} of the report's rank": (
        name, with_field(lambda record: report_of("report.html", rank=record), CHOICE, name)
    ) for name in CHOICE},
}  # fmt: skip


# Values that are right for some of them.
RIGHT = {
    "n_jobs": ("1 + 10**5000",),
    "row_names of read_labels": ("list of arrays",),
    "vocabulary": ("table of text",),
    "vocabulary of from_mapping": ("table of text",),
    "values": ("complex array", "broken sparse matrix"),
}


def cells():
    return pytest.importorskip("anndata").AnnData(X.copy())


def assert_clear(message, parameter):
    """Assert that a message is one short, printable line that names the parameter and prints no array."""
    assert message.isprintable()
    assert len(message) <= 400
    assert re.search(rf"\b{re.escape(parameter)}\b", message), message
    assert "array([" not in message


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_named_in_one_short_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parameter, call = CALLS[name]
    for kind in WRONG.keys() - RIGHT.get(name, ()):
        value = WRONG[kind]
        with pytest.raises(ValueError, match=re.escape(parameter)) as caught:
            call(value() if kind == "generator" else value)
        assert_clear(str(caught.value), parameter)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", ["", "a\0b", "n" * 5000, "\ud800"])
@pytest.mark.parametrize("call", [lambda path: fit().save(path), Factorization.load, report_of, read])
def test_names_that_no_file_can_have_are_refused(call, value):
    with pytest.raises(ValueError, match="path=") as caught:
        call(value)
    assert_clear(str(caught.value), "path")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("tea and jam", r"texts .* got a single text; write \[text\]"),
        (["tea", None], "texts .* got None at position 1"),
        (["tea", b"jam"], "texts .* position 1"),
        ((1 // k for k in (1, 0)), "texts .* got 1 at position 0"),
        (("tea" * (1 // k) for k in (1, 0)), "texts .* division"),
    ],
)
def test_texts_must_be_a_list_of_strings(texts, message):
    with pytest.raises(ValueError, match=message):
        vectorise(texts)


def test_a_wrong_function_is_refused_before_anything_is_computed():
    for wrong in (lambda: None, lambda _stage: None, len):
        with pytest.raises(ValueError, match="callback="):
            mix(X, CHOSEN, callback=wrong)
        with pytest.raises(ValueError, match="selector="):
            both_sides(lambda: None)
    with pytest.raises(ValueError, match="selector="):
        preselected(lambda _X: CHOSEN, 4, 4)(X, 2, 2)


def test_other_feature_names_are_reported_in_one_line():
    fitted = HALSNMF(2).fit(pd.DataFrame(X, columns=list("abcdefg")))
    with pytest.raises(ValueError, match="feature names should match") as caught:
        fitted.transform(pd.DataFrame(X, columns=list("tuvwxyz")))
    assert_clear(str(caught.value), "X")
    with pytest.raises(ValueError, match="string names") as caught:
        HALSNMF(2).fit(pd.DataFrame(X[:, :2], columns=["a", 1]))
    assert_clear(str(caught.value), "X")


def test_what_does_not_fit_into_floats_or_memory_is_refused():
    with pytest.raises(ValueError, match="X is so near the largest float"):
        HALSNMF(2).fit(X).transform(X * 1e307)
    with pytest.raises(ValueError, match="X does not fit into memory"):
        spa(sp.coo_array((10**13, 3)), 2)
    with pytest.raises(ValueError, match=r"m=.* and n=.* more than"):
        make_coseparable(10**9, 10**9)


def test_zeros_that_must_be_included_are_refused():
    with pytest.raises(ValueError, match="X has no nonzero entry"):
        TriSymmetricNMF(1, pool=Pool(include=[0])).fit(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="1 of the r=2 anchors explain nothing"):
        TriSymmetricNMF(2, pool=Pool(include=[0])).fit(np.array([[0.0, 1.0, 2.0], [0.0, 2.0, 1.0]]))


def test_no_more_processes_are_started_than_there_are_processors():
    assert check_jobs(10**400) == os.cpu_count()
    assert check_jobs(-(10**400)) == -os.cpu_count()
    assert check_jobs(None) is None
    assert check_jobs(1) == 1
