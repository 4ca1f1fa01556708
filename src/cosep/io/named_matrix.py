"""A matrix and the names of its rows and columns enter, one record that holds together leaves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.io.input_source import InputSource
from cosep.utils.columns import flat
from cosep.utils.messages import shown

Names = NDArray[np.str_]

# Bytes of all row names, or of all column names.
LARGEST_NAMES = 1 << 30


@dataclass(frozen=True, eq=False)
class NamedMatrix:
    """A nonnegative matrix with the names of its rows and columns.

    Parameters
    ----------
    values : ndarray or csr_array, of shape (m, n)
        Finite and nonnegative, float64 or float32.
    row_names, col_names : ndarray of str
        As they stand in the file, repeats included; "row 0", "column 0", ... where it has none.
    texts : tuple of str, optional
        The text of each row, where the matrix counts words.
    text_options : mapping, optional
        How the words were counted: what :meth:`TextOptions.from_mapping` takes. JSON can hold it.
    labels : ndarray of str, optional
        The class of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.io import NamedMatrix
    >>> NamedMatrix(np.eye(2), np.array(["a", "b"]), np.array(["x", "y"])).values.shape
    (2, 2)
    """

    values: Any
    row_names: Names
    col_names: Names
    texts: tuple[str, ...] | None = None
    text_options: Mapping[str, Any] | None = None
    labels: Names | None = None

    def __post_init__(self) -> None:
        is_matrix = isinstance(self.values, np.ndarray) or scipy.sparse.issparse(self.values)
        if not is_matrix or self.values.ndim != 2:
            msg = f"values must be an ndarray or a scipy.sparse array with two dimensions, got {shown(self.values)}."
            raise ValueError(msg)
        m, n = self.values.shape
        for name, size in (("row_names", m), ("col_names", n), ("texts", m), ("labels", m)):
            part = getattr(self, name)
            needed = name in {"row_names", "col_names"}
            if (part is not None or needed) and ((entries := flat(part)) is None or len(entries) != size):
                got = shown(part) if entries is None else len(entries)
                msg = f"{name} must have {size} entries, one for each of a {m} x {n} matrix, got {got}."
                raise ValueError(msg)
        if self.text_options is not None and not isinstance(self.text_options, Mapping):
            msg = f"text_options={shown(self.text_options)} must be a mapping, or None."
            raise ValueError(msg)


def as_names(source: InputSource, names: Any) -> Names:
    """Return names as an array, in which every one takes the space of the longest."""
    names = [str(name) for name in names]
    longest = max(map(len, names), default=0)
    if 4 * longest * len(names) > LARGEST_NAMES:
        source.fail(
            f"a name of {longest} characters among {len(names)} names is too long to keep; shorten the names, or say "
            "which column holds them."
        )
    check_unicode(source, names)
    return np.asarray(names, dtype=np.str_)


def check_unicode(source: InputSource, words: list[str]) -> None:
    """Refuse text that no file could hold, such as half of a surrogate pair from a JSON escape or a file name."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            source.fail(f"{shown(word[:50])} is no valid Unicode; rename it, or mend the text.")


def numbered(what: str, count: int) -> Names:
    """Return names for things that have none."""
    return np.char.add(f"{what} ", np.arange(count).astype(np.str_))


def build(source: InputSource, values: Any, row_names: Any = None, col_names: Any = None, **more: Any) -> NamedMatrix:
    """Return the record of a matrix that was just read, once its entries are checked.

    Raises
    ------
    InputError
        If an entry is negative, missing or infinite: the message names the first one.
    """
    from cosep.matrix.checks import as_matrix  # noqa: PLC0415 - importing cosep.io must not load scikit-learn

    if values.dtype.kind not in "fiub":
        source.fail(f"expected real numbers, got {values.dtype}; convert them first.")
    try:
        checked = as_matrix(values, "the matrix")
    except ValueError as error:
        _refuse_entry(source, values, row_names, col_names)
        source.fail(" ".join(str(error).split()))
    values = checked.values.tocsr() if checked.is_sparse else checked.values
    if checked.exponent:
        entries = values.data if checked.is_sparse else values
        np.ldexp(entries, checked.exponent, out=entries)
    m, n = checked.shape
    rows = numbered("row", m) if row_names is None else as_names(source, row_names)
    cols = numbered("column", n) if col_names is None else as_names(source, col_names)
    return NamedMatrix(values, rows, cols, **more)


def _refuse_entry(source: InputSource, values: Any, row_names: Any, col_names: Any) -> None:
    """Raise if there is a bad entry, naming the first; parts that do not fit together are not looked at."""
    from cosep.matrix.checks import is_sound  # noqa: PLC0415 - importing cosep.io must not load scikit-learn

    if scipy.sparse.issparse(values):
        if not is_sound(values):
            return
        stored = values.tocoo()
        bad = np.flatnonzero(~(np.isfinite(stored.data) & (stored.data >= 0)))
        if not bad.size:
            return
        first = bad[np.lexsort((stored.col[bad], stored.row[bad]))[0]]
        i, j, value, count = stored.row[first], stored.col[first], stored.data[first], len(bad)
    elif values.ndim == 2:
        wrong = ~(np.isfinite(values) & (values >= 0))
        if not wrong.any():
            return
        i, j = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        value, count = values[i, j], int(wrong.sum())
    else:
        return
    row = f"row {i}" if row_names is None else f"row {shown(str(row_names[i]))}"
    col = f"column {j}" if col_names is None else f"column {shown(str(col_names[j]))}"
    if np.isnan(value):
        problem, advice = "is missing", "fill or drop missing values first"
    elif np.isinf(value):
        problem, advice = "is infinite", "remove or clip such values first"
    else:
        problem, advice = (
            f"is {value:g}, but no entry may be negative",
            "take the data before it was centred, or clip it",
        )
    source.fail(f"{row}, {col} {problem} ({count} such {'entry' if count == 1 else 'entries'}); {advice}.")
