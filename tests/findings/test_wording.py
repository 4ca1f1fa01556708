"""Short text from names, texts and numbers."""

import pytest

from cosep.findings.wording import excerpt, name_or_number, precise, squeezed
from cosep.utils.messages import plural


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=====\nTitle\n=====\n\n.. module:: x\n\nThe body is here.", "The body is here."),
        ("Title\n-----\n\nThe body.", "The body."),
        ("# Title\n\nThe body.\n\n## Next\n\nThe end.", "The body.\n\nThe end."),
        ("---\ntitle\n---\nThe body.", "The body."),
        ("The body - not a rule.\n- first\n- second", "The body - not a rule.\n- first\n- second"),
        ("A long sentence above a short rule.\n---\nThe body.", "A long sentence above a short rule.\nThe body."),
        ("Title\n-----", "Title\n-----"),
        ("***", "***"),
        ("", ""),
    ],
)
def test_excerpts_skip_headings_rules_and_markup(text, expected):
    assert excerpt(text, 200) == expected


@pytest.mark.parametrize("length", [10, 40, 560])
def test_excerpts_are_as_long_as_they_may_be(length):
    cut = excerpt("Title\n=====\n" + "words and words " * 1000, length)
    assert cut.endswith(" \u2026")
    assert length // 2 <= len(cut) <= length + 2
    assert "Title" not in cut


def test_names_lose_their_middle_and_keep_both_ends():
    name = "package.subpackage.module.Class.method"
    assert squeezed(name, 21) == "package.su\u2026ass.method"
    for letter in (".", "\u65e5"):
        shown = name_or_number("begin" + letter * 900 + "end", 3, "row")
        assert shown.startswith("begin")
        assert shown.endswith("end")
        assert len(shown.encode()) <= 300
    assert name_or_number("\n", 3, "cell") == "cell 3"


def test_small_shares_keep_two_digits():
    assert [precise(share) for share in (0.0, 0.00012345, 0.0456, 0.25, 1.0)] == [
        "0%",
        "0.012%",
        "4.6%",
        "25.0%",
        "100.0%",
    ]


def test_plurals_follow_the_general_rules():
    nouns = {
        "cell": "cells",
        "country": "countries",
        "day": "days",
        "class": "classes",
        "box": "boxes",
        "genes": "genes",
    }
    assert {noun: plural(noun) for noun in nouns} == nouns
