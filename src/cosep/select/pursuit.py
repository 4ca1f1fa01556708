"""Merits of columns enter, new ones after every choice; the columns chosen one by one leave."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from cosep.select.pool import Positions
from cosep.utils.ties import TIE_TOL, descending, first_largest, near_largest
from cosep.utils.types import Array, Indices

# Squared residuals this close are a tie.
TIE = 1e-6


def one_by_one(
    r: int,
    positions: Positions,
    sizes: Array,
    merits: Callable[[], Array],
    add: Callable[[int], tuple[Any, bool]],
) -> tuple[Indices, list[Any]]:
    """Choose the column with the largest merit until r are chosen or none has any; those to be included come first.

    ``merits()`` tells the merits as they stand. ``add(j)`` takes column j in and returns what the history shall keep of
    it, and whether those chosen before explain it: such a column ends the choice, unless it must be included.
    """
    chosen: list[int] = []
    history = []
    include = positions.include.tolist()
    while len(chosen) < r:
        must = len(chosen) < len(include)
        if must:
            j = include[len(chosen)]
        else:
            open_ones = np.where(positions.allowed, merits(), 0.0)
            open_ones[chosen] = 0.0
            if open_ones.max() <= 0:
                if not chosen:
                    refuse_nothing()
                break
            j = largest(open_ones, sizes)
        kept, explained = add(j)
        if explained and not must:
            break
        chosen.append(j)
        history.append(kept)
    return np.array(chosen, dtype=np.intp), history


def largest(merits: Array, sizes: Array) -> int:
    """Return where the largest merit is; of those that tie the one with the largest size, of those the first."""
    tied = np.flatnonzero(near_largest(merits, TIE))
    return int(tied[first_largest(sizes[tied])])


def several_largest(merits: Array, count: int) -> Indices:
    """Return where the largest positive merits are, largest first; of those that agree to rounding the first."""
    least = np.partition(merits, -count)[-count] if count < len(merits) else 0.0
    strong = np.flatnonzero((merits >= least - TIE_TOL * merits.max()) & (merits > 0))
    return strong[descending(merits[strong])[:count]]


def refuse_nothing() -> NoReturn:
    """Say that there is nothing to select."""
    msg = (
        "X has no nonzero entry to select from; pass data with at least one positive entry, or allow more candidates "
        "in the pools."
    )
    raise ValueError(msg)
