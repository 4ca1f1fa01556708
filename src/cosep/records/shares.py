"""Short forms of selections and of the shares that they explain, for a terminal and a notebook."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.utils.lookup import names_at
from cosep.utils.types import Indices, Table

PARTS = ("selected rows alone", "selected columns alone", "their core", "refitted factors")


def shares_sentence(fidelity: Sequence[float | None], bound: Sequence[float | None]) -> str:
    """Return what is explained, next to what is possible.

    Examples
    --------
    >>> from cosep.records.shares import shares_sentence
    >>> shares_sentence((0.5, None, None, 0.75), (0.6, None, None, 0.8))
    'explained (at most possible): 75.0% (80.0%) by refitted factors; 50.0% (60.0%) by selected rows alone'
    """
    entries = [
        f"{share:.1%} ({most:.1%}) by {part}"
        for part, share, most in zip(PARTS, fidelity, bound, strict=True)
        if share is not None and most is not None
    ]
    return f"explained (at most possible): {'; '.join([*entries[-1:], *entries[:-1]])}"


def shares_table(fidelity: Sequence[float | None], bound: Sequence[float | None]) -> Table:
    """Return the same as columns of text."""
    known = [entry for entry in zip(PARTS, fidelity, bound, strict=True) if entry[1] is not None]
    known = [*known[-1:], *known[:-1]]
    return {
        "explained by": np.array([part for part, _, _ in known]),
        "share": np.array([f"{share:.1%}" for _, share, _ in known]),
        "at most possible": np.array(["" if most is None else f"{most:.1%}" for _, _, most in known]),
    }


def side_table(indices: Indices, names: NDArray[Any] | None, labels: Indices | None, kind: str) -> Table:
    """Return the selected rows (columns) with their names and the sizes of their clusters."""
    table: Table = {
        "k": np.arange(len(indices)),
        f"selected {kind}": names_at(indices, names, kind),
    }
    if labels is not None:
        table[f"{kind}s in its cluster"] = np.bincount(labels[labels >= 0], minlength=len(indices))[: len(indices)]
    return table
