"""Wishes about columns enter: which may be chosen, which must be; checked positions leave."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.checks import check_indices
from cosep.utils.columns import flat
from cosep.utils.messages import shown
from cosep.utils.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Pool:
    """Choose only among ``candidates`` (everything, if None), and in any case ``include``.

    Both hold positions, or names where the matrix has names. What must be included is a candidate too.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import Pool, spa
    >>> X = np.eye(5)
    >>> spa(X, 3, pool=Pool(candidates=[1, 2, 3], include=[4])).col_indices
    array([4, 1, 2])
    """

    candidates: Any = None
    include: Any = ()


@dataclass(frozen=True, eq=False)
class Positions:
    """A checked `Pool`: a mask of the columns that may be chosen, and the columns that must be.

    ``sizes`` tells columns apart that are equal in the matrix at hand, where that is only a part of the data.
    """

    allowed: NDArray[np.bool_]
    include: Indices
    sizes: Array

    def within(self, columns: Indices) -> "Positions":
        """Return the same for a matrix of these columns, in ascending order; those to be included are among them."""
        return Positions(self.allowed[columns], np.searchsorted(columns, self.include), self.sizes[columns])

    @property
    def price(self) -> Array:
        """What choosing each column costs in the convex model: 0 if it must be, 1 if it may be, infinity if not."""
        price = np.where(self.allowed, 1.0, np.inf)
        price[self.include] = 0.0
        return price


def all_positions(n: int) -> Positions:
    """Return the positions of ``n`` columns that may all be chosen."""
    return Positions(np.ones(n, dtype=bool), np.zeros(0, dtype=np.intp), np.ones(n))


def check_is_pool(pool: Any, side: str) -> None:
    """Refuse what is no pool."""
    if not isinstance(pool, Pool):
        msg = f"{side}={shown(pool)} must be a cosep.Pool, such as Pool(candidates=[0, 3, 5], include=[3])."
        raise ValueError(msg)


def check_pool(
    pool: Pool | None, r: int, n: int, *, side: str = "pool", size: str = "r", sizes: Array | None = None
) -> Positions:
    """Return positions from a pool from which ``r`` of ``n`` columns can be chosen."""
    pool = Pool() if pool is None else pool
    check_is_pool(pool, side)
    include = np.zeros(0, dtype=np.intp)
    named = flat(pool.include)
    if named is None or len(named):
        include = check_indices(pool.include, f"{side}.include", n, "n")
    allowed = np.full(n, pool.candidates is None)
    if pool.candidates is not None:
        allowed[check_indices(pool.candidates, f"{side}.candidates", n, "n")] = True
    allowed[include] = True
    if len(include) > r:
        msg = f"{side}.include names {len(include)}, but {size}={r}; ask for as many or drop some."
        raise ValueError(msg)
    if allowed.sum() < r:
        msg = f"{size}={r} must be at most the {int(allowed.sum())} candidates of {side}; ask for fewer or allow more."
        raise ValueError(msg)
    return Positions(allowed, include, np.ones(n) if sizes is None else sizes)
