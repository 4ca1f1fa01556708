"""Selection: the rows and columns that a method selected."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from cosep.matrix.checks import check_indices
from cosep.utils.display import Readable, View, brief_value
from cosep.utils.messages import counted, shown
from cosep.utils.types import Indices


class SelectionWarning(UserWarning):
    """The selection is smaller than asked for, or some of it explains nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Readable):
    """The rows and columns that a method selected, best first; a side that it does not select is None.

    Parameters
    ----------
    row_indices, col_indices : ndarray of int or None
        Distinct positions in the data matrix.
    gap : float or None
        Relative duality gap of the convex model, if the method solves one: 0 is a proven optimum.
    n_iter : int or None
        Number of iterations or alternations.
    history : tuple
        One entry per iteration; the method documents its content.
    """

    row_indices: Indices | None
    col_indices: Indices | None
    gap: float | None = None
    n_iter: int | None = None
    history: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        for side in ("row_indices", "col_indices"):
            if getattr(self, side) is not None:
                object.__setattr__(self, side, check_indices(getattr(self, side), side))
        for name, kind, value in (("gap", Real, self.gap), ("n_iter", Integral, self.n_iter)):
            try:
                number = value if value is None else float(value) if kind is Real else int(value)
            except (TypeError, ValueError, OverflowError):
                number = None
            if (value is None) != (number is None) or not isinstance(value, kind | None):
                msg = f"{name}={shown(value)} must be a number or None."
                raise ValueError(msg)
            object.__setattr__(self, name, number)
        if not isinstance(self.history, tuple):
            msg = f"history={shown(self.history)} must be a tuple."
            raise ValueError(msg)

    def _view(self) -> View:
        sides = (("row", self.row_indices), ("column", self.col_indices))
        what = " and ".join(counted(len(one), kind) for kind, one in sides if one is not None) or "nothing"
        lines = [f"{kind}s: {brief_value(one)}" for kind, one in sides if one is not None]
        more = (("relative duality gap", self.gap), ("iterations", self.n_iter))
        lines += [f"{name}: {brief_value(value)}" for name, value in more if value is not None]
        return View(f"{type(self).__name__} of {what}", tuple(lines))

    @property
    def T(self) -> "Selection":
        """The same selection, for the transpose of the matrix."""
        return Selection(self.col_indices, self.row_indices, self.gap, self.n_iter, self.history)


def check_selection(selection: Any, shape: tuple[int, int]) -> tuple[Indices | None, Indices | None]:
    """Return the selected rows and columns, None for a side that is not selected."""
    if not isinstance(selection, Selection) or (selection.row_indices is None and selection.col_indices is None):
        msg = f"selection={shown(selection)} must be a Selection with row_indices, col_indices or both."
        raise ValueError(msg)
    rows, cols = selection.row_indices, selection.col_indices
    return (
        None if rows is None else check_indices(rows, "row_indices", shape[0], "n_samples"),
        None if cols is None else check_indices(cols, "col_indices", shape[1], "n_features"),
    )
