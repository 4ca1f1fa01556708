"""Checks of arguments: numbers, choices, seeds, callbacks and positions, with errors that name the parameter."""

import numbers
import os
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import has
from cosep.utils.messages import shown
from cosep.utils.types import Indices


def check_nonzero(M: LocalMatrix) -> None:
    """Raise ValueError for a matrix without a nonzero entry."""
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
    """Raise ValueError for a record that lacks a field."""
    missing = [field for field in fields if not has(value, field)]
    if missing:
        msg = f"{name} must have {', '.join(fields)}, but {type(value).__name__} lacks {', '.join(missing)}."
        raise ValueError(msg)


def takes(function: Any, *arguments: Any, **named: Any) -> bool:
    """Return whether a function can be called with these arguments; True for a builtin without a signature."""
    try:
        return callable(function) and signature(function).bind(*arguments, **named) is not None
    except TypeError:
        return False
    except ValueError:
        return True


def check_callback(value: Any, name: str = "callback") -> None:
    """Raise ValueError unless this is None or can be called as ``callback(stage, step, max_steps, error)``."""
    if value is not None and not takes(value, "stage", 0, 0, 0.0):
        msg = f"{name}={shown(value)} must be a function (stage, step, max_steps, error), or None."
        raise ValueError(msg)


def check_jobs(value: Any, name: str = "n_jobs") -> int | None:
    """Return the number of jobs, limited by the number of processors; None for one."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if value is not None and (not whole or value == 0):
        msg = f"{name}={shown(value)} must be a positive number of jobs, -1 for one on each processor, or None for one."
        raise ValueError(msg)
    most = os.cpu_count() or 1
    return None if value is None else min(max(int(value), -most), most)


def check_random(value: Any, name: str = "random_state") -> np.random.RandomState:
    """Return the random generator for a seed."""
    try:
        generator: np.random.RandomState = check_random_state(value)
    except Exception as error:
        msg = f"{name}={shown(value)} must be None, a whole number from 0 to 2**32 - 1 or a RandomState."
        raise ValueError(msg) from error
    return generator


def check_seed(value: Any, name: str = "random_state") -> int:
    """Return a seed for numbers drawn per row; the same one in every call for None."""
    generator = check_random(value, name)
    if value is None:
        return 0
    return int(value) if isinstance(value, numbers.Integral) else int(generator.randint(2**31 - 1))


def check_indices(indices: Any, name: str, limit: int | None = None, limit_name: str = "") -> Indices:
    """Return ``indices`` as an array of distinct positions, below ``limit`` if there is one, in the given order."""
    try:
        array = np.asarray(indices)
    except Exception:  # noqa: BLE001 - objects that imitate others may raise anything
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
