"""The one validation of raw input: arrays, data frames and sparse matrices as a checked `LocalMatrix`."""

import re
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_array

from cosep.matrix.local import LocalMatrix
from cosep.matrix.sparse_structure import is_sound
from cosep.utils.messages import one_line, shown

# Squares and fourth powers of entries within 2**+-200 stay within float64.
SAFE_EXPONENT = 200
# Rows and columns below this share of the largest entry are lost when squared.
SAFE_SHARE = 1e-150
# The array that scikit-learn prints in the middle of a message about an array of one dimension.
PRINTED_ARRAY = re.compile(r":\narray=.*\.\n(?=Reshape)", re.DOTALL)


class NotNumbersError(ValueError, TypeError):
    """The entries are not numbers: a ValueError like all bad input, and the TypeError that NumPy would raise."""


def as_matrix(X: Any, name: str = "X", *, signed: bool = False) -> LocalMatrix:
    """Return ``X``, checked, as a `LocalMatrix`; a `LocalMatrix` is returned as it is.

    Accepts arrays, nested lists, data frames and every scipy.sparse format. Float32 stays float32, all other types
    become float64. X is never written to, and copied only if its type, memory layout or scale requires it.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    name : str
        Name of the parameter in error messages.
    signed : bool
        Whether entries may be negative. Default: False.

    Raises
    ------
    ValueError
        If ``X`` is not two-dimensional, has no rows or columns, or has entries that are missing, infinite or negative.
    """
    if isinstance(X, LocalMatrix):
        return X
    try:
        values = float_values(X, name)
    except ValueError:
        raise
    except MemoryError as error:
        msg = f"{name} does not fit into memory as a matrix of floats ({shown(X)}); pass a part of it."
        raise ValueError(msg) from error
    except Exception as error:
        # Objects that imitate arrays may raise anything.
        msg = f"{name} must be a matrix of numbers, with two dimensions, got {shown(X)} ({one_line(error, 150)})."
        raise NotNumbersError(msg) from error
    entries = values.data if scipy.sparse.issparse(values) else values
    largest = _check_entries(entries, values.shape, name, signed=signed)
    sizes = np.abs(entries) if signed else entries
    if largest > 0 and sizes.min(where=sizes > 0, initial=np.inf) < SAFE_SHARE * largest:
        _check_range(abs(values) if signed else values, largest, name)
    exponent = int(np.frexp(largest)[1]) if largest > 0 else 0
    if abs(exponent) > SAFE_EXPONENT:
        entries = np.ldexp(entries, -exponent)
    else:
        exponent = 0
    if scipy.sparse.issparse(values):
        values = type(values)((entries, values.indices, values.indptr), shape=values.shape)
    else:
        values = entries
    return LocalMatrix(values, exponent)


def recheck(M: LocalMatrix) -> LocalMatrix:
    """Check a computed matrix as `as_matrix` checks raw input: scaled or gathered rows can differ too much in size."""
    return as_matrix(M.raw)


def float_values(X: Any, name: str) -> Any:
    """Return ``X`` as a float array or as a canonical sparse array."""
    if is_from_dask(X):
        msg = (
            f"{name} is a Dask collection, which only CoSeparableNMF accepts, in fit, transform, complete and score; "
            f"call {name}.compute() first if it fits in memory."
        )
        raise ValueError(msg)
    if _is_in_parts(X):
        msg = (
            f"{name} is {'an AnnData' if hasattr(X, 'obs_names') else 'a list of matrices'}, not a matrix; pass "
            f"cosep.row_blocks({name}) to CoSeparableNMF, or one matrix of it to any function."
        )
        raise ValueError(msg)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        msg = (
            f"{name} has {int(np.ma.getmaskarray(X).sum())} masked entries, but every entry must be known; "
            f"fill them first, for example with {name}.filled(0), or use CoSeparableNMF(missing='nan')."
        )
        raise ValueError(msg)
    if has(X, "dtypes") and has(X, "sparse") and len(X.columns):
        X = X.sparse.to_coo()  # a pandas frame of sparse columns
    return _sparse_values(X, name) if scipy.sparse.issparse(X) else _dense_values(X, name)


def is_from_dask(X: Any) -> bool:
    """Return whether the class of X, or one of its bases, is from Dask, without importing Dask."""
    return any(kind.__module__.partition(".")[0] in {"dask", "dask_expr"} for kind in type(X).__mro__)


def _is_in_parts(X: Any) -> bool:
    """Return whether X contains matrices, as an AnnData or a list of blocks of rows does."""
    if isinstance(X, (list, tuple)) and len(X):
        return is_from_dask(X[0]) or getattr(X[0], "ndim", 0) == 2
    return has(X, "obs_names") and has(X, "var_names")


def _dense_values(X: Any, name: str) -> Any:
    """Return a float array that is C- or F-contiguous."""
    plain = np.asarray(X) if isinstance(X, np.matrix) else X
    dtype = getattr(plain, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        msg = f"{name} must hold numbers, got dates or durations ({dtype}); convert them first."
        raise ValueError(msg)
    try:
        with np.errstate(over="ignore"):
            values = check_array(
                plain,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=0,
                ensure_min_features=0,
                input_name=name,
            )
    except (ValueError, TypeError, OverflowError) as error:
        kind = ValueError if isinstance(error, ValueError) else NotNumbersError
        reason = one_line(PRINTED_ARRAY.sub(". ", str(error)), 200).rstrip(".")
        msg = f"{name} must be a matrix of numbers, with two dimensions, got {shown(X)}: {reason}."
        raise kind(msg) from error
    _check_shape(values.shape, name)
    return values if values.flags.c_contiguous or values.flags.f_contiguous else np.ascontiguousarray(values)


def _sparse_values(X: Any, name: str) -> Any:
    """Return a canonical CSR or CSC array: valid, sorted indices without duplicates."""
    if X.ndim != 2:
        msg = f"{name} must have two dimensions, got a sparse array of {X.ndim}; reshape it to one row or one column."
        raise ValueError(msg)
    _check_shape(X.shape, name)
    if X.dtype.kind not in "fiub":
        msg = f"{name} must hold real numbers, got {X.dtype}: Complex data not supported; convert it first."
        raise ValueError(msg)
    if not is_sound(X):
        msg = f"{name} is a broken {X.format} matrix: its parts do not fit its shape {X.shape}; rebuild it."
        raise ValueError(msg)
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    with np.errstate(over="ignore"):
        # Before duplicates are summed, so that small integers do not overflow.
        compressed = X.astype(dtype, copy=False)
    compressed = compressed if compressed.format in {"csr", "csc"} else compressed.tocsr()
    kind = scipy.sparse.csr_array if compressed.format == "csr" else scipy.sparse.csc_array
    values = kind((compressed.data, compressed.indices, compressed.indptr), shape=compressed.shape)
    if not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    return values


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    m, n = shape
    if m == 0:
        msg = f"{name} has 0 sample(s) (shape={shape}) while a minimum of 1 is required; pass at least one row."
        raise ValueError(msg)
    if n == 0:
        msg = f"{name} has 0 feature(s) (shape={shape}) while a minimum of 1 is required; pass at least one column."
        raise ValueError(msg)


def _check_entries(entries: Any, shape: tuple[int, int], name: str, *, signed: bool) -> float:
    """Return the largest absolute value; raise ValueError if one is NaN, infinite or, unless ``signed``, negative."""
    if entries.size == 0:
        return 0.0
    smallest, largest = float(entries.min()), float(entries.max())
    if np.isnan(smallest) or np.isnan(largest):
        count = int(np.isnan(entries).sum())
        msg = (
            f"{name} contains NaN ({count} of {shape} entries); drop or impute those rows or columns first, or use "
            "CoSeparableNMF(missing='nan') if they are missing entries."
        )
        raise ValueError(msg)
    if np.isinf(largest) or np.isinf(smallest):
        count = int(np.isinf(entries).sum())
        msg = (
            f"{name} contains infinity ({count} of {shape} entries, or values beyond the range of its type: inf); "
            "remove or clip them first."
        )
        raise ValueError(msg)
    if smallest < 0 and not signed:
        count = int((entries < 0).sum())
        msg = (
            f"Negative values in data passed to {name}: {count} of {shape} entries, the smallest is {smallest:g}, "
            f"but all must be >= 0; shift the data, or use numpy.maximum({name}, 0) if they are noise."
        )
        raise ValueError(msg)
    return max(largest, -smallest)


def _check_range(values: Any, largest: float, name: str) -> None:
    """Raise ValueError for rows and columns so small relative to the largest entry that their squares underflow."""
    for axis, what in ((1, "row"), (0, "column")):
        peaks = values.max(axis=axis)
        peaks = peaks.toarray() if scipy.sparse.issparse(peaks) else peaks
        small = int(((peaks > 0) & (peaks < SAFE_SHARE * largest)).sum())
        if small:
            msg = (
                f"{name} has {small} {what}(s) whose entries are below {SAFE_SHARE:g} of the largest, too small to be "
                f"distinguished from zero; rescale the rows and columns of {name}, or set those to zero."
            )
            raise ValueError(msg)


def has(value: Any, field: str) -> bool:
    """Return `hasattr`, or False for an object that raises another error."""
    try:
        return hasattr(value, field)
    except Exception:  # noqa: BLE001 - objects that imitate others may raise anything
        return False
