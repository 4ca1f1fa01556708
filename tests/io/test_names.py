"""Labels and names of rows and columns in their own files."""

import gzip

import pytest

from cosep.io import read_labels, read_names

ROWS = ["b", "007", "a,b", "b"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.txt", "one\n NA\n\none\n"),
        ("x.labels", "\ufeffone\r\n NA\r\n\r\none"),
        ("x.csv", 'name,label\nb,one\nunused,x\n"a,b",\n007, NA\n'),
        ("x.tsv", "name\tlabel\nb\tone\nb\tone\na,b\t\n007\t NA\n"),
    ],
)
def test_labels_follow_the_rows(name, content, tmp_path):
    (tmp_path / name).write_bytes(content.encode())
    assert read_labels(tmp_path / name, ROWS).tolist() == ["one", " NA", "", "one"]


def test_labels_in_one_column(tmp_path):
    (tmp_path / "x.csv").write_text("label\nx\ny\n")
    assert read_labels(tmp_path / "x.csv", ["a", "b"]).tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.txt", "a\n", "has 1 labels for 4 rows"),
        ("x.csv", "n,l\nb,1\n007,1\n", "1 of 4 rows have no label, such as 'a,b'"),
        ("x.csv", "n,l\nb,1\nb,2\n", "row 'b' has two labels, '1' and '2'"),
        ("x.csv", "n,l,m\nb,1,1\n", "expected two columns, name and label, or one, got 3"),
        ("x.txt", "\0", "binary"),
    ],
)
def test_labels_that_do_not_fit_raise(name, content, reason, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=f"{name}: .*{reason}"):
        read_labels(tmp_path / name, ROWS)


def test_names_are_lines(tmp_path):
    (tmp_path / "x.tsv.gz").write_bytes(gzip.compress("é\n 007 \nNA\n".encode()))
    assert read_names(tmp_path / "x.tsv.gz").tolist() == ["é", " 007 ", "NA"]
    with pytest.raises(ValueError, match="No such file"):
        read_names(tmp_path / "none")
