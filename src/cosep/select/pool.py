"""Pools: which rows or columns a selector may choose, and which it must."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cosep.matrix.checks import check_indices
from cosep.solve.pursuit import Positions
from cosep.utils.columns import flat
from cosep.utils.display import Readable
from cosep.utils.messages import shown
from cosep.utils.types import Array


@dataclass(frozen=True, eq=False, repr=False)
class Pool(Readable):
    """The rows or columns that a selector may choose, and those that it must.

    Parameters
    ----------
    candidates : array-like, optional
        Positions that may be chosen, or names if the matrix has names. Default: all.
    include : array-like, optional
        Positions or names that must be chosen; they need not be among the candidates. Default: none.

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


def check_is_pool(pool: Any, side: str) -> None:
    """Raise ValueError unless this is a `Pool`."""
    if not isinstance(pool, Pool):
        msg = f"{side}={shown(pool)} must be a cosep.Pool, such as Pool(candidates=[0, 3, 5], include=[3])."
        raise ValueError(msg)


def check_pool(
    pool: Pool | None, r: int, n: int, *, side: str = "pool", size: str = "r", sizes: Array | None = None
) -> Positions:
    """Return the positions of a pool from which ``r`` of ``n`` columns can be chosen.

    ``side`` and ``size`` are the names of the pool and of r in messages.
    """
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
        msg = f"{side}.include names {len(include)}, but {size}={r}; raise {size} or include fewer."
        raise ValueError(msg)
    if allowed.sum() < r:
        msg = f"{size}={r} must be at most the {int(allowed.sum())} candidates of {side}; ask for fewer or allow more."
        raise ValueError(msg)
    return Positions(allowed, include, np.ones(n) if sizes is None else sizes)
