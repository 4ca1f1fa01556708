"""Tables as people have them: other separators and decimal marks, Excel files, columns to keep and to leave out."""

import datetime as dt
import sys

import numpy as np
import openpyxl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep.io import TextOptions, read, read_labels
from cosep.io.weights import read_weights

TABLE = [["name", "a", "b", "c"], ["r", "1.5", "0.25", "3"], ["s", "4", "5", "6.125"]]


def write(path, rows, separator=",", decimal="."):
    text = "\n".join(separator.join(one.replace(".", decimal) for one in row) for row in rows)
    path.write_text(text + "\n")
    return path


def write_workbook(path, *sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for k, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {k}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def values(matrix):
    return matrix.row_names.tolist(), matrix.col_names.tolist(), np.asarray(matrix.values).tolist()


EXPECTED = (["r", "s"], ["a", "b", "c"], [[1.5, 0.25, 3], [4, 5, 6.125]])


@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ",")])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_separator_and_decimal_mark_are_found(separator, decimal, suffix, tmp_path):
    path = write(tmp_path / f"x.{suffix}", TABLE, separator, decimal)
    assert values(read(path)) == EXPECTED
    assert values(read(path, sep={"\t": "tab"}.get(separator, separator), decimal=decimal)) == EXPECTED


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.floats(0, 1e6).map(lambda x: round(x, 2)), min_size=6, max_size=6),
    st.sampled_from([(";", ","), (";", "."), ("\t", "."), ("|", ","), (",", ".")]),
)
def test_any_numbers_survive_any_marks(tmp_path_factory, numbers, marks):
    path = tmp_path_factory.mktemp("marks") / "x.csv"
    rows = [["n", "a", "b", "c"], ["r", *map("{:.2f}".format, numbers[:3])], ["s", *map("{:.2f}".format, numbers[3:])]]
    assert read(write(path, rows, *marks)).values.sum() == pytest.approx(sum(numbers))


def test_commas_in_a_header_and_in_numbers_do_not_hide_semicolons(tmp_path):
    (tmp_path / "x.csv").write_text("name;height, m;weight, kg;age\na;1,5;2,5;7\nb;1,25;2,5;8\n")
    matrix = read(tmp_path / "x.csv")
    assert matrix.col_names.tolist() == ["height, m", "weight, kg", "age"]
    assert matrix.values.tolist() == [[1.5, 2.5, 7], [1.25, 2.5, 8]]
    (tmp_path / "x.csv").write_text("name,a;b,c,d\nx,1,2,3\ny;z,4,5,6\n")
    assert read(tmp_path / "x.csv").row_names.tolist() == ["x", "y;z"]


def test_semicolons_separate_labels_weights_and_texts_too(tmp_path):
    (tmp_path / "x.csv").write_text("name;class\nr;1\ns;2\n")
    assert read_labels(tmp_path / "x.csv", ["s", "r"]).tolist() == ["2", "1"]
    assert read_weights(tmp_path / "x.csv", np.array(["s", "r"])).tolist() == [2, 1]
    (tmp_path / "x.csv").write_text("id;text\n1;red fish\n2;blue fish\n")
    assert read(tmp_path / "x.csv", text=TextOptions("text", min_df=1)).col_names.tolist() == ["blue", "fish", "red"]


def test_the_first_sheet_is_read_or_the_one_that_is_named(tmp_path):
    numbers = [["name", "a", "b", "c"], ["r", 1.5, 0.25, 3], [None, None], ["s", "4", 5, 6.125, None]]
    path = write_workbook(tmp_path / "x.xlsx", [[], *numbers], [["a", "b", "c"], [True, 2, 3]])
    said = r"x\.xlsx: of its 2 sheets only the first was read, 'sheet 0'; pass sheet= for another: 'sheet 1'\.$"
    with pytest.warns(UserWarning, match=said):
        assert values(read(path)) == EXPECTED
    assert values(read(path, sheet="sheet 1", layout="wide")) == (["row 0"], ["a", "b", "c"], [[1, 2, 3]])
    with pytest.raises(ValueError, match="sheet='x' is not a sheet of this file; it has: 'sheet 0', 'sheet 1'"):
        read(path, sheet="x")
    with pytest.raises(ValueError, match="sep=';' does not apply"):
        read(path, sep=";")


def test_an_error_in_the_first_of_several_sheets_names_it_and_the_option(tmp_path):
    table = [["name", "a", "b", "c"], ["r", 1, 2, 3]]
    path = write_workbook(tmp_path / "x.xlsx", [["About", "By"], ["this", "me"]], table)
    with pytest.raises(
        ValueError, match=r"x.xlsx, sheet 'sheet 0' \(the first of 2; sheet= names another\): column 'By'"
    ):
        read(path)
    assert read(path, sheet="sheet 1").row_names.tolist() == ["r"]


def test_blank_sheets_are_not_mentioned(tmp_path):
    assert values(read(write_workbook(tmp_path / "x.xlsx", [["n", "a", "b"], ["r", 1, 2]], []), layout="wide")) == (
        ["r"],
        ["a", "b"],
        [[1, 2]],
    )


def test_a_workbook_may_hold_triplets_texts_and_dates(tmp_path):
    path = write_workbook(tmp_path / "x.xlsx", [["doc", "word", "count"], ["d", "red", 2], ["e", 2019, 1]])
    assert read(path).col_names.tolist() == ["red", "2019"]
    path = write_workbook(tmp_path / "x.xlsx", [["id", "t"], [7, "red fish"], [8, "blue fish"]])
    matrix = read(path, text=TextOptions("t", min_df=1), index="id")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["7", "8"], ["blue", "fish", "red"])
    day = dt.date(2020, 1, 2)
    path = write_workbook(tmp_path / "x.xlsx", [["n", "a", "when", "b"], ["r", 1, day, 2], ["s", 3, day, 4]])
    with pytest.raises(
        ValueError, match="column 'when' holds text, such as '2020-01-02 00:00:00'; leave it out by drop="
    ):
        read(path)
    assert read(path, drop="when", layout="wide").values.tolist() == [[1, 2], [3, 4]]


def test_a_workbook_needs_an_extra(tmp_path, monkeypatch):
    path = write_workbook(tmp_path / "x.xlsx", [["a"], [1]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"reading \.xlsx needs openpyxl: install cosep\[excel\]"):
        read(path)


def test_columns_are_kept_and_left_out_by_name(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('name,a,"b, c",kind,d\nr,1,2,x,3\ns,4,5,y,6\n')
    for options in (
        {"columns": ["b, c", "d"]},
        {"columns": ["name", "b, c", "d"]},
        {"drop": ["a", "kind"]},
        {"drop": "a,kind"},
        {"drop": "kind", "columns": ["b, c", "d, kind"]},
        {"labels": "kind", "drop": "a"},
    ):
        matrix = read(path, layout="wide", **options)
        assert values(matrix) == (["r", "s"], ["b, c", "d"], [[2, 3], [5, 6]])
    assert matrix.labels.tolist() == ["x", "y"]
    assert read(path, drop="name,kind", layout="wide").row_names.tolist() == ["row 0", "row 1"]
    for wrong in ({"drop": "z"}, {"columns": ["a", "z"]}):
        with pytest.raises(
            ValueError, match=r"(drop|columns)='z': there is no column of this name; the columns are 'name'"
        ):
            read(path, **wrong)
    for wrong in ({"drop": []}, {"columns": 3}, {"drop": [1]}):
        with pytest.raises(ValueError, match="must be a str, a list of them with at least one, or None"):
            read(path, **wrong)


@pytest.mark.parametrize("sep", ["", "a", ";;", '"', "\n", "."])
def test_a_separator_is_one_character(sep, tmp_path):
    with pytest.raises(ValueError, match=r"sep=.* must be one character"):
        read(write(tmp_path / "x.csv", TABLE), sep=sep)
    with pytest.raises(ValueError, match="decimal='x' must be one of"):
        read(tmp_path / "x.csv", decimal="x")


def test_words_of_triplets_may_be_numbers(tmp_path):
    (tmp_path / "x.csv").write_text("d,w,n\nx,2019,1\nx,fish,2\n")
    assert read(tmp_path / "x.csv").col_names.tolist() == ["2019", "fish"]
    (tmp_path / "x.csv").write_text("docID,wordID,count\n1,7,1\n1,8,2\n2,8,3\n")
    matrix = read(tmp_path / "x.csv")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["1", "2"], ["7", "8"])
    assert matrix.values.toarray().tolist() == [[1, 2], [0, 3]]
    (tmp_path / "x.csv").write_text("batch,cell,gene,count\n1,x,g,1\n1,y,g,2\n")
    matrix = read(tmp_path / "x.csv", drop="batch")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["x", "y"], ["g"])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_parts_of_a_sparse_matrix_are_put_together(kind, tmp_path):
    X = np.array([[0, 1.5, 0], [2, 0, 3]])
    stored = getattr(scipy.sparse, f"{kind}_array")(X)
    names = ("row", "col", "data", "shape") if kind == "coo" else ("data", "indices", "indptr", "shape")
    np.savez(tmp_path / "x.npz", **{name: getattr(stored, name) for name in names})
    assert read(tmp_path / "x.npz").values.toarray().tolist() == X.tolist()
    np.savez(tmp_path / "x.npz", **{name: getattr(stored, name) for name in names}, other=X)
    assert read(tmp_path / "x.npz", variable="other").values.tolist() == X.tolist()
