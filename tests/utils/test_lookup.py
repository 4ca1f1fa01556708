import numpy as np
import pytest

from cosep.utils.lookup import positions_of

NAMES = np.array(["fig", "plum", "pear"])


@pytest.mark.parametrize(
    "wanted", [["pear", "fig"], ("pear", "fig"), np.array(["pear", "fig"]), np.array(["pear", "fig"], dtype=object)]
)
def test_names_become_positions_in_their_order(wanted):
    assert positions_of(wanted, NAMES, "pool") == [2, 0]


def test_a_set_of_names_is_a_list_of_positions():
    assert sorted(positions_of({"pear", "fig"}, NAMES, "pool")) == [0, 2]


@pytest.mark.parametrize("wanted", [[2, 0], (), None, range(3), 7])
def test_what_has_no_names_is_returned_as_it_is(wanted):
    assert positions_of(wanted, NAMES, "pool") is wanted


@pytest.mark.parametrize(
    ("wanted", "names", "message"),
    [
        (["apple"], NAMES, r"pool names \['apple'\], but X has \['fig', 'plum', 'pear'\], \.\.\.; give positions"),
        (["fig", 2], NAMES, r"pool names \[2\]"),
        (["fig"], None, "but X has no such names"),
        ("fig", NAMES, r"pool='fig' must be a list of names or positions, not a single text; write \['fig'\]"),
    ],
)
def test_unknown_names_and_single_texts_are_refused(wanted, names, message):
    with pytest.raises(ValueError, match=message):
        positions_of(wanted, names, "pool")
