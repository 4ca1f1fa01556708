"""Tables as text, cut into pieces wherever their records end."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosep.io import comma, read

PARTS = st.sampled_from(["plain", 'a "b" c', "multi\nline", "x,y", '""', '"', 'tail"', '\n\n"\n', "é\r\nü", '5" disk'])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A place for tables, which are read a few bytes at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comma, "PIECE_BYTES", 64)
        patch.setattr(comma, "PIECE_ROWS", 1)
        yield tmp_path_factory.mktemp("tables")


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


def test_a_field_that_is_never_closed_is_told_or_read_to_the_end(folder):
    (folder / "b.csv").write_text(',p,q\na,1,2\n"b,3,4\nc,5,6\n')
    with pytest.raises(ValueError, match=r"b\.csv"):
        read(folder / "b.csv", layout="wide")
