"""Raw input of the outside world enters; checked matrices, counts and index arrays leave, or a ValueError."""

import numbers
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_array

from cosep.matrix.local import Indices, LocalMatrix

# Squares and fourth powers of entries within 2**+-200 stay within float64.
SAFE_EXPONENT = 200


def as_matrix(X: Any, name: str = "X") -> LocalMatrix:
    """Check ``X`` once and wrap it; a matrix that is wrapped already passes through.

    Accepts arrays, nested lists, data frames and every scipy.sparse format. Float32 stays float32, all other types
    become float64. Neither copied nor written to unless the type, the memory layout or the scale demands a copy.

    Raises
    ------
    ValueError
        If ``X`` is not two-dimensional, has no rows or columns, or has entries that are missing, infinite or negative.
    """
    if isinstance(X, LocalMatrix):
        return X
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        msg = (
            f"{name} has {int(np.ma.getmaskarray(X).sum())} masked entries, but every entry must be known; "
            f"fill them first, for example with {name}.filled(0)."
        )
        raise ValueError(msg)
    values = _sparse_values(X, name) if scipy.sparse.issparse(X) else _dense_values(X, name)
    entries = values.data if scipy.sparse.issparse(values) else values
    largest = _check_entries(entries, values.shape, name)
    exponent = int(np.frexp(largest)[1]) if largest > 0 else 0
    if abs(exponent) <= SAFE_EXPONENT:
        return LocalMatrix(values)
    if scipy.sparse.issparse(values):
        values = values.copy()
        values.data = np.ldexp(values.data, -exponent)
    else:
        values = np.ldexp(values, -exponent)
    return LocalMatrix(values, exponent)


def _dense_values(X: Any, name: str) -> Any:
    """Return a float array, contiguous in one order or the other."""
    plain = np.asarray(X) if isinstance(X, np.matrix) else X
    values = check_array(
        plain, dtype=[np.float64, np.float32], ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=0,
        input_name=name,
    )  # fmt: skip
    _check_shape(values.shape, name)
    return values if values.flags.c_contiguous or values.flags.f_contiguous else np.ascontiguousarray(values)


def _sparse_values(X: Any, name: str) -> Any:
    """Return a canonical CSR or CSC array: indices valid, sorted, without duplicates."""
    if X.ndim != 2:
        msg = f"{name} must have two dimensions, got a sparse array of {X.ndim}; reshape it to one row or one column."
        raise ValueError(msg)
    _check_shape(X.shape, name)
    if np.issubdtype(X.dtype, np.complexfloating):
        msg = f"{name} must be real, got {X.dtype}; Complex data not supported, take the real part or the magnitude."
        raise ValueError(msg)
    _check_structure(X, name)
    compressed = X if X.format in {"csr", "csc"} else X.tocsr()
    kind = scipy.sparse.csr_array if compressed.format == "csr" else scipy.sparse.csc_array
    dtype = compressed.dtype if compressed.dtype in (np.float32, np.float64) else np.float64
    parts = (compressed.data.astype(dtype, copy=False), compressed.indices, compressed.indptr)
    values = kind(parts, shape=compressed.shape)
    if not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    return values


def _check_structure(X: Any, name: str) -> None:
    """Refuse a sparse matrix whose index arrays would make compiled code read outside its memory."""
    m, n = X.shape
    if X.format in {"csr", "csc", "bsr"}:
        inner = (n, m)[X.format == "csc"] // (X.blocksize[1] if X.format == "bsr" else 1)
        stored = len(X.indices)
        sound = (
            X.indptr[0] == 0
            and bool((np.diff(X.indptr) >= 0).all())
            and X.indptr[-1] <= min(stored, len(X.data))
            and (stored == 0 or (X.indices.min() >= 0 and X.indices.max() < inner))
        )
    elif X.format == "coo":
        sound = X.nnz == 0 or all(c.min() >= 0 and c.max() < size for c, size in zip(X.coords, X.shape, strict=True))
    else:
        sound = True
    if not sound:
        msg = f"{name} is a broken {X.format} matrix: its index arrays point outside its shape {X.shape}; rebuild it."
        raise ValueError(msg)


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    m, n = shape
    if m == 0:
        msg = f"{name} has 0 sample(s) (shape={shape}) while a minimum of 1 is required; pass at least one row."
        raise ValueError(msg)
    if n == 0:
        msg = f"{name} has 0 feature(s) (shape={shape}) while a minimum of 1 is required; pass at least one column."
        raise ValueError(msg)


def _check_entries(entries: Any, shape: tuple[int, int], name: str) -> float:
    """Return the largest entry; raise if one is NaN, infinite or negative."""
    if entries.size == 0:
        return 0.0
    smallest, largest = float(entries.min()), float(entries.max())
    if np.isnan(smallest) or np.isnan(largest):
        count = int(np.isnan(entries).sum())
        msg = f"{name} contains NaN ({count} of {shape} entries); drop or impute those rows or columns first."
        raise ValueError(msg)
    if np.isinf(largest) or np.isinf(smallest):
        count = int(np.isinf(entries).sum())
        msg = (
            f"{name} contains infinity ({count} of {shape} entries, or values beyond the range of its type: inf); "
            "remove or clip them first."
        )
        raise ValueError(msg)
    if smallest < 0:
        count = int((entries < 0).sum())
        msg = (
            f"Negative values in data passed to {name}: {count} of {shape} entries, the smallest is {smallest:g}, "
            f"but all must be >= 0; shift the data, or use numpy.maximum({name}, 0) if they are noise."
        )
        raise ValueError(msg)
    return largest


def check_count(value: Any, name: str, limit: int, limit_name: str) -> int:
    """Return ``value`` as an int if it is a whole number from 1 to ``limit``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, (bool, np.bool_)) or int(value) < 1:
        msg = f"{name}={value!r} must be a whole number of at least 1."
        raise ValueError(msg)
    if int(value) > limit:
        msg = f"{name}={value} must be at most {limit_name}={limit}; ask for fewer, or pass more data."
        raise ValueError(msg)
    return int(value)


def check_number(value: Any, name: str, low: float, high: float = np.inf) -> float:
    """Return ``value`` as a float if it is a finite number in ``[low, high]``."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    number = float(value) if real else np.nan
    if not (low <= number <= high and np.isfinite(number)):
        expected = f"a number from {low:g} to {high:g}" if high < np.inf else f"a finite number of at least {low:g}"
        msg = f"{name}={value!r} must be {expected}."
        raise ValueError(msg)
    return number


def check_choice(value: Any, name: str, choices: Any) -> str:
    """Return ``value`` if it is one of the named choices."""
    if not isinstance(value, str) or value not in choices:
        msg = f"{name}={value!r} must be one of {', '.join(repr(choice) for choice in choices)}."
        raise ValueError(msg)
    return value


def check_indices(indices: Any, name: str, limit: int, limit_name: str) -> Indices:
    """Return ``indices`` as an array of distinct positions below ``limit``, in the order given."""
    array = np.asarray(indices)
    if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        msg = f"{name} must be a one-dimensional, non-empty list of whole numbers, got {indices!r}."
        raise ValueError(msg)
    if array.min() < 0 or array.max() >= limit:
        msg = f"{name} must lie between 0 and {limit_name} - 1 = {limit - 1}, got {array.min()} to {array.max()}."
        raise ValueError(msg)
    if len(np.unique(array)) < array.size:
        msg = f"{name} must be distinct, but some appear twice: {indices!r}; remove the repeats."
        raise ValueError(msg)
    return array.astype(np.intp)
