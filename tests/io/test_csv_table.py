"""Tables as text, cut into pieces between any two records."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep.io import csv_table, read
from cosep.io.csv_records import parse_records

PARTS = st.sampled_from(["plain", 'a "b" c', "multi\nline", "x,y", '""', '"', 'tail"', '\n\n"\n', "é\r\nü", '5" disk'])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder for tables, which are read a few bytes at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_table, "PIECE_BYTES", 64)
        patch.setattr(csv_table, "PIECE_ROWS", 1)
        yield tmp_path_factory.mktemp("tables")


@settings(deadline=None)
@given(
    st.lists(PARTS, min_size=1, max_size=30),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_names_with_quotes_and_line_ends_survive_any_cut(folder, parts, quoting, end):
    names = [f"{part}{i}" for i, part in enumerate(parts)]
    X = np.arange(1, 3 * len(names) + 1).reshape(-1, 3)
    with (folder / "a.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=quoting, lineterminator=end)
        writer.writerow(["", "p", "q", "r"])
        writer.writerows([name, *map(int, row)] for name, row in zip(names, X, strict=True))
    table = read(folder / "a.csv", layout="wide")
    assert table.row_names.tolist() == names
    np.testing.assert_array_equal(table.values, X)


def test_a_field_without_a_closing_quote_raises_or_is_read_to_the_end(folder):
    (folder / "b.csv").write_text(',p,q\na,1,2\n"b,3,4\nc,5,6\n')
    with pytest.raises(ValueError, match=r"b\.csv"):
        read(folder / "b.csv", layout="wide")


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", '"', '""', ",", "\n", "\r\n", '"a"', " ", ',"', '",', "\r"]), max_size=15))
def test_records_are_those_of_the_csv_module(parts):
    lines = "".join(parts).replace("\n", "\n\0").split("\0")
    try:
        expected = [record for record in csv.reader(line for line in lines if line) if record]
    except csv.Error:
        with pytest.raises(ValueError, match="a carriage return is inside a line"):
            list(parse_records((line for line in lines if line), ","))
    else:
        assert list(parse_records((line for line in lines if line), ",")) == expected


def test_a_carriage_return_within_quotes_is_part_of_a_name(folder):
    (folder / "c.csv").write_bytes(b',"p\rq",r\n"a\rb",1,2\n"\r",3,4\n"c\r\nd",5,6\n')
    table = read(folder / "c.csv", layout="wide")
    assert table.row_names.tolist() == ["a\rb", "\r", "c\r\nd"]
    assert table.col_names.tolist() == ["p\rq", "r"]
    assert table.values.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_a_carriage_return_elsewhere_raises(folder):
    (folder / "d.csv").write_bytes(b",p,q\na\rb,1,2\n")
    with pytest.raises(ValueError, match=r"d\.csv: .*a carriage return is inside a line; put quotes around"):
        read(folder / "d.csv", layout="wide")


def test_a_cell_of_many_digits_raises_quickly(folder):
    """With a pattern that matches digits in two ways this would take minutes."""
    (folder / "e.csv").write_text(f"n,a,b,c\nr,1,2,3\ns,{'1' * 200_000}x,2,3\n")
    with pytest.raises(ValueError, match=r"expected a number in row 2, column 'a', got '1111"):
        read(folder / "e.csv")


def test_digits_of_other_scripts_raise(folder):
    (folder / "i.csv").write_text("n,a,b,c\nr,1,2,3\ns,\u0661\u0662,2,3\n", encoding="utf-8")
    with pytest.raises(ValueError, match="expected a number in row 2, column 'a', got '\u0661\u0662'"):
        read(folder / "i.csv")


def test_rows_and_lines_have_limits(folder, monkeypatch):
    (folder / "f.csv").write_text("n,a,b\n" + "r,1,2\n" * 200 + '"' + "x,1,2\n" * 999)
    with pytest.raises(ValueError, match="has a row of more than 1024 bytes; is a closing quote missing"):
        read(folder / "f.csv", layout="wide")
    monkeypatch.setattr(csv_table, "MAX_LINE_BYTES", 100)
    (folder / "g.csv").write_text(f"{'a' * 200}\n1\n")
    with pytest.raises(ValueError, match="has a line of more than 100 bytes"):
        read(folder / "g.csv")
    monkeypatch.setattr("cosep.utils.memory.LARGEST_UNPACKED", 1 << 10)
    monkeypatch.setattr("cosep.utils.memory.LARGEST_RATIO", 1)
    (folder / "h.csv").write_text(f"{',' * 50}\n{',' * 50}\n")
    with pytest.raises(ValueError, match="a line of 51 fields would take"):
        read(folder / "h.csv")
