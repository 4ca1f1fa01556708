"""Selectors that choose on a scaled matrix."""

from collections.abc import Callable
from typing import Any

from cosep.matrix.checks import check_choice
from cosep.matrix.scaling import SCALINGS, scale
from cosep.records.selection import Selection
from cosep.utils.messages import shown


def scaled(selector: Callable[..., Selection], scaling: str | None) -> Callable[..., Selection]:
    """Return the selector, run on ``diag(rows) @ X @ diag(cols)`` with the scaling of this name.

    Co-separability does not change under positive diagonal scaling, so that the result is a selection for X too.

    Parameters
    ----------
    selector : callable
        ``(X, ...) -> Selection``.
    scaling : {"rows", "columns", "degree", "sinkhorn"} or None
        None returns the selector itself.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import both_sides, spa
    >>> from cosep.select.scaled import scaled
    >>> scaled(both_sides(spa), "degree")(np.diag([3.0, 2.0, 1.0]), 2, 2).row_indices
    array([0, 1])
    """
    if not callable(selector):
        msg = f"selector={shown(selector)} must be a function that returns a Selection, such as cosep.cosfgm."
        raise ValueError(msg)
    if scaling is None:
        return selector
    check_choice(scaling, "scaling", SCALINGS)

    def select(X: Any, *sizes: Any, **options: Any) -> Selection:
        return selector(scale(X, scaling)[0].raw, *sizes, **options)

    return select
