"""Greedy choice of columns, one at a time, by merits that are updated after every choice."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cosep.utils.blas import one_blas_thread
from cosep.utils.ties import TIE_TOL, descending, first_largest, near_largest
from cosep.utils.types import Array, Indices

# Merits, such as squared residuals, within this share of the largest are a tie.
MERIT_TIE_TOL = 1e-6


@dataclass(frozen=True, eq=False)
class Positions:
    """Which columns may be chosen and which must be: a checked `Pool`.

    Attributes
    ----------
    allowed : ndarray of bool
        Whether each column may be chosen.
    include : ndarray of int
        The columns that must be chosen; they are allowed too.
    sizes : ndarray
        Decides between columns that are equal in the given matrix, if that is only a part of the data.
    copies : ndarray or float
        How many copies each column of the given matrix stands for: it is one copy times the square root of their
        number. Default: 1.
    """

    allowed: NDArray[np.bool_]
    include: Indices
    sizes: Array
    copies: Array | float = 1.0

    def within(self, columns: Indices) -> "Positions":
        """Return the positions within the matrix of these columns, in ascending order; it has all of `include`."""
        return Positions(self.allowed[columns], np.searchsorted(columns, self.include), self.sizes[columns])

    @property
    def price(self) -> Array:
        """Price of each column in the convex model: 0 if it must be chosen, 1 if it may be, infinity otherwise."""
        price = np.where(self.allowed, 1.0, np.inf)
        price[self.include] = 0.0
        return price


def all_positions(n: int) -> Positions:
    """Return the positions of ``n`` columns that may all be chosen."""
    return Positions(np.ones(n, dtype=bool), np.zeros(0, dtype=np.intp), np.ones(n))


@one_blas_thread
def one_by_one(
    r: int,
    positions: Positions,
    sizes: Array,
    merits: Callable[[], Array],
    add: Callable[[int], tuple[Any, bool]],
) -> tuple[Indices, list[Any]]:
    """Choose the column with the largest merit until r are chosen or no merit is positive.

    Parameters
    ----------
    r : int
        How many columns.
    positions : Positions
        The columns that must be chosen come first.
    sizes : ndarray
        Of merits that tie, the one of the largest size wins, then the first.
    merits : callable
        Returns the current merits of all columns.
    add : callable
        Called as ``add(j)`` for the next column. Returns its entry in the history, and whether the columns chosen
        before explain it; in that case the choice ends, unless column j must be chosen.

    Returns
    -------
    chosen : ndarray of int
    history : list
    """
    chosen: list[int] = []
    history: list[Any] = []
    include = positions.include.tolist()
    while len(chosen) < r:
        must = len(chosen) < len(include)
        if must:
            j = include[len(chosen)]
        else:
            merit = np.where(positions.allowed, merits(), 0.0)
            merit[chosen] = 0.0
            if merit.max() <= 0:
                if not chosen:
                    raise_nothing_to_select()
                break
            j = largest(merit, sizes)
        kept, explained = add(j)
        if explained and not must:
            break
        chosen.append(j)
        history.append(kept)
    return np.array(chosen, dtype=np.intp), history


def largest(merits: Array, sizes: Array) -> int:
    """Return the position of the largest merit; of those that tie the one with the largest size, then the first."""
    tied = np.flatnonzero(near_largest(merits, MERIT_TIE_TOL))
    return int(tied[first_largest(sizes[tied])])


def several_largest(merits: Array, count: int) -> Indices:
    """Return the positions of the largest positive merits, largest first; equal ones, up to rounding, by position."""
    least = np.partition(merits, -count)[-count] if count < len(merits) else 0.0
    strong = np.flatnonzero((merits >= least - TIE_TOL * merits.max()) & (merits > 0))
    return strong[descending(merits[strong])[:count]]


def raise_nothing_to_select() -> NoReturn:
    """Raise the error for data, or pools, without a nonzero entry."""
    msg = (
        "X has no nonzero entry to select from; pass data with at least one positive entry, or allow more candidates "
        "in the pools."
    )
    raise ValueError(msg)
