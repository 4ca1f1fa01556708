"""Positions of names."""

from typing import Any

from numpy.typing import NDArray

from cosep.utils.columns import flat
from cosep.utils.messages import shown


def positions_of(wanted: Any, names: NDArray[Any] | None, parameter: str) -> Any:
    """Return a list of names as a list of positions.

    Parameters
    ----------
    wanted : list, set or array of names or positions
        Positions are returned as they are.
    names : ndarray or None
        All names in order; None if there are none.
    parameter : str
        The name of the parameter in error messages.

    Raises
    ------
    ValueError
        If ``wanted`` is a single text or has a name that is not among ``names``.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.utils.lookup import positions_of
    >>> positions_of(["pear", "fig"], np.array(["fig", "plum", "pear"]), "col_pool")
    [2, 0]
    """
    if isinstance(wanted, str):
        example = shown(wanted)
        msg = f"{parameter}={example} must be a list of names or positions, not a single text; write [{example}]."
        raise ValueError(msg)
    wanted = list(wanted) if isinstance(wanted, (set, frozenset)) else wanted
    listed = flat(wanted)
    if listed is None or not any(isinstance(name, str) for name in listed):
        return wanted
    where = {} if names is None else {name: position for position, name in enumerate(names)}
    unknown = [name for name in listed if not isinstance(name, str) or name not in where]
    if unknown:
        known = "X has no such names" if names is None else f"X has {shown(names[:3].tolist())}, ..."
        msg = (
            f"{parameter} names {shown(unknown[:3])}, but {known}; give positions, or names of the columns of a data "
            "frame."
        )
        raise ValueError(msg)
    return [where[name] for name in listed]
