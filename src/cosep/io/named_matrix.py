"""Nonnegative matrices with the names of their rows and columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.io.input_source import InputSource
from cosep.utils.columns import flat
from cosep.utils.display import Readable
from cosep.utils.messages import shown

Names = NDArray[np.str_]

# What to do about missing entries.
MISSING_ADVICE = "fill or drop missing values first, or pass missing='nan' to fit the others"
# Most bytes of all row names, or of all column names.
MAX_NAMES_BYTES = 1 << 30


@dataclass(frozen=True, eq=False, repr=False)
class NamedMatrix(Readable):
    """A nonnegative matrix with the names of its rows and columns.

    Parameters
    ----------
    values : ndarray or csr_array, of shape (m, n)
        Finite and nonnegative, float64 or float32.
    row_names, col_names : ndarray of str
        As in the file, also repeated ones; "row 0", "column 0", ... if the file has none.
    texts : tuple of str, optional
        The text of each row, if the matrix holds counts of words.
    text_options : mapping, optional
        How the words were counted, as :meth:`TextOptions.from_mapping` takes it.
    labels : ndarray of str, optional
        The label of each row.
    nouns : tuple of str, optional
        What a row and a column are called, such as "document" and "word".

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
    nouns: tuple[str, str] | None = None

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
    """Return names as an array, where each takes the space of the longest."""
    names = [str(name) for name in names]
    longest = max(map(len, names), default=0)
    if 4 * longest * len(names) > MAX_NAMES_BYTES:
        source.fail(
            f"a name of {longest} characters among {len(names)} names is too long; shorten the names, or pass another "
            "index=."
        )
    check_unicode(source, names)
    return np.asarray(names, dtype=np.str_)


def check_unicode(source: InputSource, words: list[str]) -> None:
    """Raise for text that is not valid Unicode, such as half of a surrogate pair from a JSON escape or a file name."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            source.fail(f"{shown(word[:50])} is not valid Unicode; rename it, or fix the text.")


def numbered(what: str, count: int) -> Names:
    """Return numbered names: "row 0", "row 1", ..."""
    return np.char.add(f"{what} ", np.arange(count).astype(np.str_))


def build_named_matrix(
    source: InputSource, values: Any, row_names: Any = None, col_names: Any = None, **more: Any
) -> NamedMatrix:
    """Return a matrix that was just read as a `NamedMatrix`, after a check of its entries.

    Raises
    ------
    InputError
        If an entry is negative, missing or infinite. The message names the first one.
    """
    from cosep.matrix.missing import as_observed  # noqa: PLC0415 - importing cosep.io must not load scikit-learn
    from cosep.matrix.observed import Observed  # noqa: PLC0415 - as above

    if values.dtype.kind not in "fiub":
        source.fail(f"expected real numbers, got {values.dtype}; convert them first.")
    try:
        checked = as_observed(values, source.missing, "the matrix")
    except ValueError as error:
        _fail_for_bad_entry(source, values, row_names, col_names)
        source.fail(" ".join(str(error).split()))
    values = checked.as_given() if isinstance(checked, Observed) else checked.in_data_units().stored_by_rows().raw
    m, n = checked.shape
    rows = numbered("row", m) if row_names is None else as_names(source, row_names)
    cols = numbered("column", n) if col_names is None else as_names(source, col_names)
    return NamedMatrix(values, rows, cols, **more)


def _is_bad(source: InputSource, entries: Any) -> Any:
    """Return which entries are not nonnegative numbers, and not missing either where they may be."""
    return ~((np.isfinite(entries) & (entries >= 0)) | (np.isnan(entries) & (source.missing == "nan")))


def _fail_for_bad_entry(source: InputSource, values: Any, row_names: Any, col_names: Any) -> None:
    """Raise for the first bad entry, if there is one; does nothing if the parts of a sparse matrix do not match."""
    from cosep.matrix.sparse_structure import is_sound  # noqa: PLC0415 - importing cosep.io must not load scikit-learn

    if scipy.sparse.issparse(values):
        if not is_sound(values):
            return
        stored = values.tocoo()
        bad = np.flatnonzero(_is_bad(source, stored.data))
        if not bad.size:
            return
        first = bad[np.lexsort((stored.col[bad], stored.row[bad]))[0]]
        i, j, value, count = stored.row[first], stored.col[first], stored.data[first], len(bad)
    elif values.ndim == 2:
        wrong = _is_bad(source, values)
        if not wrong.any():
            return
        i, j = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        value, count = values[i, j], int(wrong.sum())
    else:
        return
    row = f"row {i}" if row_names is None else f"row {shown(str(row_names[i]))}"
    col = f"column {j}" if col_names is None else f"column {shown(str(col_names[j]))}"
    if np.isnan(value):
        problem, advice = "is missing", MISSING_ADVICE
    elif np.isinf(value):
        problem, advice = "is infinite", "remove or clip such values first"
    else:
        problem, advice = (
            f"is {value:g}, but no entry may be negative",
            "use the data before centering, or clip it",
        )
    source.fail(f"{row}, {col} {problem} ({count} such {'entry' if count == 1 else 'entries'}); {advice}.")
