"""Selectors, one published algorithm per file, and the dicts of their names.

To add a selector of columns, write its file, add it to COLUMN_SELECTORS and to ``__all__`` here, and describe it in
docs/selectors.md. The estimators, the command, the tests and the fuzzer read the dicts; `cosep` exports ``__all__``.
"""

from collections.abc import Callable

from cosep.records.selection import Selection
from cosep.select.both_sides import both_sides
from cosep.select.cosfgm import cosfgm
from cosep.select.cur import cur
from cosep.select.faithful import faithful
from cosep.select.faithful_columns import faithful_columns
from cosep.select.fgm import fgm
from cosep.select.greedy import greedy
from cosep.select.gsfgm import gsfgm
from cosep.select.gspa import gspa
from cosep.select.predictive import predictive
from cosep.select.predictive_columns import predictive_columns
from cosep.select.snpa import snpa
from cosep.select.spa import spa
from cosep.select.xray import xray

Selector = Callable[..., Selection]

# ``(X, r, *, pool=None) -> Selection`` of r columns.
COLUMN_SELECTORS: dict[str, Selector] = {
    "spa": spa,
    "snpa": snpa,
    "xray": xray,
    "fgm": fgm,
    "greedy": greedy,
    "faithful": faithful_columns,
    "predictive": predictive_columns,
}
# Selectors of columns that have a variant of the same name for both sides.
OWN_VARIANTS = ("faithful", "predictive")
# ``(X, r, *, n_rows=None, n_cols=None) -> Selection`` of r rows and columns together.
EITHER_SELECTORS: dict[str, Selector] = {"gspa": gspa, "gsfgm": gsfgm}
# ``(X, n_rows, n_cols) -> Selection`` of rows and of columns.
BOTH_SELECTORS: dict[str, Selector] = {
    "faithful": faithful,
    "predictive": predictive,
    "cosfgm": cosfgm,
    **{name: both_sides(selector) for name, selector in COLUMN_SELECTORS.items() if name not in OWN_VARIANTS},
    "cur": cur,
}

# The selectors, which are public.
__all__ = [
    "cosfgm",
    "cur",
    "faithful",
    "faithful_columns",
    "fgm",
    "greedy",
    "gsfgm",
    "gspa",
    "predictive",
    "predictive_columns",
    "snpa",
    "spa",
    "xray",
]
