"""Positions of names, and names of positions."""

from itertools import count
from typing import Any

import numpy as np
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


def names_at(positions: NDArray[np.intp], names: NDArray[Any] | None, kind: str) -> NDArray[np.str_]:
    """Return the names at some positions: "row 17" for a ``kind`` without names, and "" for a negative position.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.utils.lookup import names_at
    >>> names_at(np.array([2, -1]), None, "row").tolist()
    ['row 2', '']
    """
    named = ["" if j < 0 else f"{kind} {j}" if names is None else str(names[j]) for j in positions]
    return np.array(named, dtype=np.str_)


def distinct_names(names: NDArray[Any]) -> NDArray[Any]:
    """Return names that all differ: repeated ones are numbered.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.utils.lookup import distinct_names
    >>> distinct_names(np.array(["tea", "jam", "tea"])).tolist()
    ['tea', 'jam', 'tea (2)']
    """
    taken: set[str] = set()
    kept = []
    for name in map(str, names):
        free = name if name not in taken else next(one for k in count(2) if (one := f"{name} ({k})") not in taken)
        taken.add(free)
        kept.append(free)
    return np.array(kept, dtype=object)
