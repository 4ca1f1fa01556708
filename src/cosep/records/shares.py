"""Short forms of selections and of the shares that they explain, for a terminal and a notebook."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cosep.utils.display import Grid, grid_of
from cosep.utils.lookup import names_at
from cosep.utils.messages import brief
from cosep.utils.types import Table

PARTS = ("selected rows alone", "selected columns alone", "their core", "refitted factors")


def shares_table(fidelity: Sequence[float | None], bound: Sequence[float | None]) -> Table:
    """Return what is explained, next to what is possible, as columns of text.

    Examples
    --------
    >>> from cosep.records.shares import shares_table
    >>> shares_table((0.5, None, None, 0.75), (0.6, None, None, 0.8))["share"].tolist()
    ['75.0%', '50.0%']
    """
    known = [entry for entry in zip(PARTS, fidelity, bound, strict=True) if entry[1] is not None]
    known = [*known[-1:], *known[:-1]]
    return {
        "explained by": np.array([part for part, _, _ in known]),
        "share": np.array([brief(share or 0.0) for _, share, _ in known]),
        "at most possible": np.array(["" if most is None else brief(most) for _, _, most in known]),
    }


def side_grids(chosen: Any, names: tuple[Any, Any], labels: tuple[Any, Any]) -> tuple[Grid, ...]:
    """Return the selected rows and columns of a selection with their names and the sizes of their clusters.

    Names and labels are those of all rows and of all columns, or None; lazy labels are not computed.
    """
    grids = []
    sides = (chosen.row_indices, chosen.col_indices)
    for kind, indices, named, clusters in zip(("row", "column"), sides, names, labels, strict=True):
        if indices is None:
            continue
        r = len(indices)
        table: Table = {"k": np.arange(r), f"selected {kind}": names_at(indices, named, kind)}
        if isinstance(clusters, np.ndarray):
            table[f"{kind}s in its cluster"] = np.bincount(clusters[clusters >= 0], minlength=r)[:r]
        grids.append(grid_of("", table))
    return tuple(grids)
