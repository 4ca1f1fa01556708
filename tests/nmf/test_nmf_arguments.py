"""Arguments of factorizations that are out of range or of the wrong kind: a ValueError that names the argument."""

import re
from functools import partial

import pytest

from calls import X, refused
from cosep.nmf.ahals import ahals
from cosep.nmf.biorthogonal import biorthogonal
from cosep.nmf.minvol import minvol
from cosep.nmf.trisymmetric import trisymmetric
from cosep.utils.messages import shown

WITH_RANK = (ahals, minvol, biorthogonal, trisymmetric)


@pytest.mark.parametrize("value", [0, 2.5], ids=repr)
def test_a_count_must_be_a_positive_whole_number(value):
    for parameter, call in (
        *((name, partial(nmf, X, **{"r": 3, name: value})) for nmf in WITH_RANK for name in ("r", "max_iter")),
        ("r", lambda: biorthogonal(X, (2, value))),
        ("r", lambda: biorthogonal(X, [value])),
    ):
        with refused(parameter, "whole number of at least 1", re.escape(shown(value))):
            call()


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (("r=13", r"at most max\(n_samples, n_features\)=12", "fewer"), lambda: ahals(X, 13)),
        (("r=11", "at most n_features=10", "fewer"), lambda: minvol(X, 11)),
        (("r=11", "at most n_features=10", "fewer"), lambda: biorthogonal(X, 11)),
        (("r=13", "at most n_samples=12", "fewer"), lambda: biorthogonal(X, (13, 2))),
        (("r=11", "at most n_features=10", "fewer"), lambda: trisymmetric(X, 11)),
        (("penalty=10000000", r"from 0 to 1e\+06"), lambda: minvol(X, 3, penalty=1e7)),
    ],
)
def test_more_than_there_is_is_refused(words, call):
    with refused(*words):
        call()


@pytest.mark.parametrize("value", [-1, None])
def test_a_number_out_of_range_is_refused_under_its_name(value):
    for parameter, call in (
        *(("tol", partial(nmf, X, 3, tol=value)) for nmf in WITH_RANK),
        ("penalty", lambda: minvol(X, 3, penalty=value)),
        ("delta", lambda: minvol(X, 3, delta=value)),
    ):
        with refused(parameter, "number"):
            call()
