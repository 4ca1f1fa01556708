"""Text for error messages: one printable line, whatever was passed."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from cosep import Selection
from cosep.utils.messages import LONGEST_VALUE, one_line, shown


class Hostile:
    def __repr__(self):
        msg = "no"
        raise RuntimeError(msg)


class Sly:
    def __repr__(self):
        return "a\nb\x1b[2J"


@given(st.text(alphabet=st.characters(), max_size=400))
def test_a_text_is_one_printable_line(text):
    line = one_line(text, 100)
    assert len(line) <= 100
    assert "".join(line.splitlines()) == line
    assert all(ord(letter) >= 32 and not 0x7F <= ord(letter) < 0xA0 for letter in line)
    line.encode("utf-8")


@pytest.mark.parametrize(
    "value",
    [
        *(Hostile(), Sly(), [Hostile()], list(range(10**6)), "x" * 10**6, {"a": list(range(10**5))}, 10**4000),
        *(
            np.ones((30, 30)),
            np.array(["a\nb"]),
            scipy.sparse.eye_array(4, format="csr"),
            np.float64(3),
            [np.ones((3, 3)), {"a": np.ones(30)}],
            Selection(np.arange(30), None),
            b"\x00",
            object,
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_one_short_line(value):
    line = shown(value)
    assert 0 < len(line) <= LONGEST_VALUE + len("an object of type ")
    assert "".join(line.splitlines()) == line
    assert line.isprintable()
    assert "array(" not in line


def test_small_values_are_shown_as_python_writes_them():
    assert [shown(value) for value in ("spa", 3, 0.5, None, (1, 2), ["a"])] == [
        *("'spa'", "3", "0.5", "None", "(1, 2)", "['a']")
    ]
