"""Fixtures of the tests of matrices."""

import pytest

from kinds import EVERY_KIND


@pytest.fixture(params=EVERY_KIND, ids=lambda name: name.replace(" ", "-"))
def kind(request):
    """A function that turns an ndarray into one kind of matrix, of all that there are."""
    return EVERY_KIND[request.param]
