"""Selectors: one published algorithm a file, and the dicts in which the estimators look their names up."""

from collections.abc import Callable

from cosep.records.selection import Selection
from cosep.select.both_sides import both_sides
from cosep.select.cosfgm import cosfgm
from cosep.select.cur import cur
from cosep.select.faithful import faithful
from cosep.select.fgm import fgm
from cosep.select.greedy import greedy
from cosep.select.gsfgm import gsfgm
from cosep.select.gspa import gspa
from cosep.select.snpa import snpa
from cosep.select.spa import spa
from cosep.select.xray import xray

Selector = Callable[..., Selection]

COLUMN_SELECTORS: dict[str, Selector] = {"spa": spa, "snpa": snpa, "xray": xray, "fgm": fgm, "greedy": greedy}
EITHER_SELECTORS: dict[str, Selector] = {"gspa": gspa, "gsfgm": gsfgm}
BOTH_SELECTORS: dict[str, Selector] = {
    "faithful": faithful,
    "cosfgm": cosfgm,
    "spa": both_sides(spa),
    "snpa": both_sides(snpa),
    "xray": both_sides(xray),
    "fgm": both_sides(fgm),
    "greedy": both_sides(greedy),
    "cur": cur,
}

__all__ = ["BOTH_SELECTORS", "COLUMN_SELECTORS", "EITHER_SELECTORS", "Selector"]
