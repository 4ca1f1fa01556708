"""Pools of rows or columns by position."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.checks import check_indices
from cosep.select.pool import Pool, check_is_pool
from cosep.utils.lookup import positions_of
from cosep.utils.types import Indices


def pool_by_position(pool: Any, names: NDArray[Any] | None, parameter: str) -> Any:
    """Return a pool with names replaced by positions; a value that is not a `Pool` is returned as it is."""
    if not isinstance(pool, Pool):
        return pool
    return Pool(positions_of(pool.candidates, names, parameter), positions_of(pool.include, names, parameter))


def check_row_pool(pool: Pool | None, n_rows: int, m: int) -> tuple[Indices, Indices | None]:
    """Return the rows to include and, in ascending order, all rows that may be selected; None if all may be."""
    pool = Pool() if pool is None else pool
    check_is_pool(pool, "row_pool")
    include = np.zeros(0, dtype=np.intp)
    if np.size(pool.include):
        include = check_indices(pool.include, "row_pool.include", m, "n_samples")
    if len(include) > n_rows:
        msg = f"row_pool.include names {len(include)}, but n_rows={n_rows}; ask for as many or drop some."
        raise ValueError(msg)
    if pool.candidates is None:
        return include, None
    allowed = np.union1d(check_indices(pool.candidates, "row_pool.candidates", m, "n_samples"), include)
    if len(allowed) < n_rows:
        msg = f"n_rows={n_rows} must be at most the {len(allowed)} candidates of row_pool; ask for fewer or allow more."
        raise ValueError(msg)
    return include, allowed
