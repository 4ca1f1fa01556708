"""Raw input of the outside world enters; checked matrices, numbers and index arrays leave, or a ValueError."""

import numbers
import os
import re
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_array, check_random_state

from cosep.matrix.local import LocalMatrix
from cosep.utils.messages import one_line, shown
from cosep.utils.types import Indices

# Squares and fourth powers of entries within 2**+-200 stay within float64.
SAFE_EXPONENT = 200
# Rows and columns below this share of the largest entry are lost when squared.
SAFE_SHARE = 1e-150
# What scikit-learn writes into the middle of a message about an array of one dimension.
PRINTED_ARRAY = re.compile(r":\narray=.*\.\n(?=Reshape)", re.DOTALL)


class NotNumbersError(ValueError, TypeError):
    """The entries are no numbers: a ValueError like all bad input, and the TypeError that NumPy would raise."""


def as_matrix(X: Any, name: str = "X", *, signed: bool = False) -> LocalMatrix:
    """Check ``X`` once and wrap it; a matrix that is wrapped already passes through.

    Accepts arrays, nested lists, data frames and every scipy.sparse format. Float32 stays float32, all other types
    become float64. Neither copied nor written to unless the type, the memory layout or the scale demands a copy.
    Negative entries are refused unless ``signed``.

    Raises
    ------
    ValueError
        If ``X`` is not two-dimensional, has no rows or columns, or has entries that are missing, infinite or negative.
    """
    if isinstance(X, LocalMatrix):
        return X
    try:
        values = _float_values(X, name)
    except ValueError:
        raise
    except MemoryError as error:
        msg = f"{name} does not fit into memory as a matrix of floats ({shown(X)}); pass a part of it."
        raise ValueError(msg) from error
    except Exception as error:
        # What was passed may raise anything when it is looked at.
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


def _float_values(X: Any, name: str) -> Any:
    """Return the float array, or the canonical sparse array, that ``X`` stands for."""
    if is_from_dask(X):
        msg = (
            f"{name} is a Dask collection, which only CoSeparableNMF takes as it is, to fit, transform, complete and "
            f"score; call {name}.compute() first, if it fits in memory."
        )
        raise ValueError(msg)
    if _is_in_parts(X):
        msg = (
            f"{name} is {'an AnnData' if hasattr(X, 'obs_names') else 'a list of matrices'}, no matrix; CoSeparableNMF "
            f"takes cosep.row_blocks({name}), and all take one matrix of it."
        )
        raise ValueError(msg)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        msg = (
            f"{name} has {int(np.ma.getmaskarray(X).sum())} masked entries, but every entry must be known; "
            f"fill them first, for example with {name}.filled(0)."
        )
        raise ValueError(msg)
    if has(X, "dtypes") and has(X, "sparse") and len(X.columns):
        X = X.sparse.to_coo()  # a pandas frame of sparse columns
    return _sparse_values(X, name) if scipy.sparse.issparse(X) else _dense_values(X, name)


def is_from_dask(X: Any) -> bool:
    """Tell whether something belongs to Dask, or to a class made from one of Dask's, without loading Dask."""
    return any(kind.__module__.partition(".")[0] in {"dask", "dask_expr"} for kind in type(X).__mro__)


def _is_in_parts(X: Any) -> bool:
    """Tell whether something has matrices in it, as an AnnData or a list of blocks of rows has."""
    if isinstance(X, (list, tuple)) and len(X):
        return is_from_dask(X[0]) or getattr(X[0], "ndim", 0) == 2
    return has(X, "obs_names") and has(X, "var_names")


def _dense_values(X: Any, name: str) -> Any:
    """Return a float array, contiguous in one order or the other."""
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
    """Return a canonical CSR or CSC array: indices valid, sorted, without duplicates."""
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


def is_sound(X: Any) -> bool:
    """Tell whether the parts of a sparse matrix fit its shape, so that compiled code reads only its own memory."""
    try:
        return bool(STRUCTURES[X.format](X))
    except (TypeError, IndexError, AttributeError, ValueError):
        return False


def _within(indices: Any, size: int) -> bool:
    return len(indices) == 0 or bool(np.min(indices) >= 0 and np.max(indices) < size)


def _sound_compressed(X: Any) -> bool:
    """Tell whether a csr, csc or bsr matrix would make compiled code read only its own memory."""
    blocks = X.blocksize if X.format == "bsr" else (1, 1)
    m, n = X.shape[0] // blocks[0], X.shape[1] // blocks[1]
    major, minor = (n, m) if X.format == "csc" else (m, n)
    pointers = np.asarray(X.indptr)
    return (
        pointers.shape == (major + 1,)
        and X.indices.ndim == 1
        and X.indices.dtype.kind in "iu"
        and X.data.shape[1:] == (blocks if X.format == "bsr" else ())
        and pointers[0] == 0
        and bool((np.diff(pointers) >= 0).all())
        and len(X.indices) == len(X.data)
        and bool(pointers[-1] <= len(X.data))
        and _within(X.indices, minor)
    )


def _sound_coo(X: Any) -> bool:
    return all(len(c) == len(X.data) and _within(c, size) for c, size in zip(X.coords, X.shape, strict=True))


def _sound_lil(X: Any) -> bool:
    return len(X.rows) == len(X.data) == X.shape[0] and all(
        len(row) == len(entries) and _within(row, X.shape[1]) for row, entries in zip(X.rows, X.data, strict=True)
    )


def _sound_dia(X: Any) -> bool:
    return bool(X.data.ndim == 2 and X.offsets.shape == (len(X.data),))


def _sound_dok(X: Any) -> bool:
    if np.asarray(list(X.values())).dtype.kind not in "fiub":
        return False
    return all(0 <= i < X.shape[0] and 0 <= j < X.shape[1] for i, j in X.keys())  # noqa: SIM118 - a matrix, not a dict


STRUCTURES = {
    "csr": _sound_compressed,
    "csc": _sound_compressed,
    "bsr": _sound_compressed,
    "coo": _sound_coo,
    "lil": _sound_lil,
    "dia": _sound_dia,
    "dok": _sound_dok,
}


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    m, n = shape
    if m == 0:
        msg = f"{name} has 0 sample(s) (shape={shape}) while a minimum of 1 is required; pass at least one row."
        raise ValueError(msg)
    if n == 0:
        msg = f"{name} has 0 feature(s) (shape={shape}) while a minimum of 1 is required; pass at least one column."
        raise ValueError(msg)


def _check_entries(entries: Any, shape: tuple[int, int], name: str, *, signed: bool) -> float:
    """Return the largest size of an entry; raise if one is NaN, infinite or, unless ``signed``, negative."""
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
    if smallest < 0 and not signed:
        count = int((entries < 0).sum())
        msg = (
            f"Negative values in data passed to {name}: {count} of {shape} entries, the smallest is {smallest:g}, "
            f"but all must be >= 0; shift the data, or use numpy.maximum({name}, 0) if they are noise."
        )
        raise ValueError(msg)
    return max(largest, -smallest)


def _check_range(values: Any, largest: float, name: str) -> None:
    """Refuse rows and columns so small beside the largest entry that their squares vanish."""
    for axis, what in ((1, "row"), (0, "column")):
        peaks = values.max(axis=axis)
        peaks = peaks.toarray() if scipy.sparse.issparse(peaks) else peaks
        small = int(((peaks > 0) & (peaks < SAFE_SHARE * largest)).sum())
        if small:
            msg = (
                f"{name} has {small} {what}(s) whose entries are below {SAFE_SHARE:g} of the largest, too small to be "
                f"told from zero; rescale the rows and columns of {name}, or set those to zero."
            )
            raise ValueError(msg)


def check_nonzero(M: LocalMatrix) -> None:
    """Refuse a matrix without a positive entry."""
    if M.count_nonzero() == 0:
        msg = "X has no nonzero entry to factor; pass data with at least one positive entry."
        raise ValueError(msg)


def check_count(value: Any, name: str, limit: int, limit_name: str, *, least: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number from ``least`` to ``limit``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, (bool, np.bool_)) or int(value) < least:
        msg = f"{name}={shown(value)} must be a whole number of at least {least}."
        raise ValueError(msg)
    if int(value) > limit:
        msg = f"{name}={shown(value)} must be at most {limit_name}={limit}; ask for fewer, or pass more data."
        raise ValueError(msg)
    return int(value)


def check_pair(value: Any, name: str, shape: tuple[int, int]) -> tuple[int, int]:
    """Return two counts, of rows and of columns, from one number for both or a pair."""
    rows, cols = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value, value)
    return check_count(rows, name, shape[0], "n_samples"), check_count(cols, name, shape[1], "n_features")


def check_positive(value: Any, name: str = "max_iter") -> int:
    """Return ``value`` as an int if it is a whole number of at least 1."""
    return check_count(value, name, 2**63 - 1, "the largest integer")


def check_number(value: Any, name: str, low: float, high: float = np.inf) -> float:
    """Return ``value`` as a float if it is a finite number in ``[low, high]``."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    try:
        number = float(value) if real else np.nan
    except OverflowError:
        number = np.inf
    if not (low <= number <= high and np.isfinite(number)):
        expected = f"a number from {low:g} to {high:g}" if high < np.inf else f"a finite number of at least {low:g}"
        msg = f"{name}={shown(value)} must be {expected}."
        raise ValueError(msg)
    return number


def check_switch(value: Any, name: str) -> bool:
    """Return ``value`` if it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        msg = f"{name}={shown(value)} must be True or False."
        raise ValueError(msg)
    return bool(value)


def check_choice(value: Any, name: str, choices: Any) -> str:
    """Return ``value`` if it is one of the named choices."""
    if not isinstance(value, str) or value not in choices:
        msg = f"{name}={shown(value)} must be one of {', '.join(repr(choice) for choice in choices)}."
        raise ValueError(msg)
    return value


def check_record(value: Any, name: str, fields: tuple[str, ...]) -> None:
    """Refuse a record that lacks a field."""
    missing = [field for field in fields if not has(value, field)]
    if missing:
        msg = f"{name} must have {', '.join(fields)}, but {type(value).__name__} lacks {', '.join(missing)}."
        raise ValueError(msg)


def takes(function: Any, *arguments: Any, **named: Any) -> bool:
    """Tell whether a function can be called with these arguments; of a builtin that does not tell, that it can."""
    try:
        return callable(function) and signature(function).bind(*arguments, **named) is not None
    except TypeError:
        return False
    except ValueError:
        return True


def has(value: Any, field: str) -> bool:
    """Like `hasattr`, also of an object that raises when it is looked at."""
    try:
        return hasattr(value, field)
    except Exception:  # noqa: BLE001 - what was passed may raise anything when it is looked at
        return False


def check_callback(value: Any, name: str = "callback") -> None:
    """Refuse a callback that cannot be called with what a computation reports."""
    if value is not None and not takes(value, "stage", 0, 0, 0.0):
        msg = f"{name}={shown(value)} must be a function of stage, step, most steps and error, or None."
        raise ValueError(msg)


def check_jobs(value: Any, name: str = "n_jobs") -> int | None:
    """Return how many processes to use, no more than there are processors; None for one."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if value is not None and (not whole or value == 0):
        msg = f"{name}={shown(value)} must be None, a positive number of jobs, or -1 for one on each processor."
        raise ValueError(msg)
    most = os.cpu_count() or 1
    return None if value is None else min(max(int(value), -most), most)


def check_random(value: Any, name: str = "random_state") -> np.random.RandomState:
    """Return the random generator that a seed stands for."""
    try:
        generator: np.random.RandomState = check_random_state(value)
    except Exception as error:
        msg = f"{name}={shown(value)} must be None, a whole number from 0 to 2**32 - 1 or a RandomState."
        raise ValueError(msg) from error
    return generator


def check_seed(value: Any, name: str = "random_state") -> int:
    """Return a seed for numbers that belong to rows: the same one for None, every time."""
    generator = check_random(value, name)
    if value is None:
        return 0
    return int(value) if isinstance(value, numbers.Integral) else int(generator.randint(2**31 - 1))


def check_indices(indices: Any, name: str, limit: int | None = None, limit_name: str = "") -> Indices:
    """Return ``indices`` as an array of distinct positions, below ``limit`` if there is one, in the order given."""
    try:
        array = np.asarray(indices)
    except Exception:  # noqa: BLE001 - what was passed may raise anything when it is looked at
        array = np.zeros(0)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        msg = f"{name} must be a one-dimensional, non-empty list of whole numbers, got {shown(indices)}."
        raise ValueError(msg)
    if array.min() < 0 or array.max() > np.iinfo(np.intp).max:
        msg = f"{name} must be positions, counted from 0, got {array.min()} to {array.max()}."
        raise ValueError(msg)
    if limit is not None and array.max() >= limit:
        msg = f"{name} must lie between 0 and {limit_name} - 1 = {limit - 1}, got {array.min()} to {array.max()}."
        raise ValueError(msg)
    if len(np.unique(array)) < array.size:
        msg = f"{name} must be distinct, but some appear twice: {shown(indices)}; remove the repeats."
        raise ValueError(msg)
    return array.astype(np.intp)
