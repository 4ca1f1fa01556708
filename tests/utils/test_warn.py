"""A warning points at the line of the user who called the package, however deep in it it is issued."""

import inspect

import numpy as np
import pytest

from cosep import CoSeparableNMF, SelectionWarning, SeparableNMF, cosfgm, row_blocks, spa
from cosep.matrix.scaling import scale
from cosep.utils.warn import warn

POOR = np.kron(np.diag([3.0, 2.0]), np.ones((3, 2)))  # of rank two


@pytest.mark.parametrize(
    "call",
    [
        lambda: warn("directly", UserWarning),
        lambda: spa(POOR, 3),
        lambda: cosfgm(POOR, 3, 3),
        lambda: SeparableNMF(3).fit(POOR),
        lambda: CoSeparableNMF(3, 3).fit(POOR),
        lambda: CoSeparableNMF(3, 3).fit(row_blocks([POOR[:3], POOR[3:]])),
        lambda: scale(np.array([[1.0, 1.0], [0.0, 1.0]]), "sinkhorn"),
    ],
)
def test_the_line_of_the_caller_is_shown(call):
    with pytest.warns(UserWarning, match=".") as caught:
        call()
    assert {(one.filename, one.lineno) for one in caught} == {(__file__, inspect.getsourcelines(call)[1])}


def test_the_category_is_kept():
    with pytest.warns(SelectionWarning, match="few"):
        warn("few", SelectionWarning)
