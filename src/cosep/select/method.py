"""The ``method`` parameter of estimators: its lookup, its options and the check of what it returns."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np

from cosep.matrix.checks import check_choice
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection
from cosep.utils.messages import one_line, shown
from cosep.utils.types import Array

Method = str | Callable[..., Selection]


def method_named(
    method: Method, known: Mapping[str, Callable[..., Selection]], *positional: str, keywords: tuple[str, ...] = ()
) -> Callable[..., Selection]:
    """Return the selector of this name, or the function itself if it accepts these arguments."""
    if not callable(method):
        return known[check_choice(method, "method", known)]
    try:
        signature(method).bind(*positional, **dict.fromkeys(keywords))
    except (TypeError, ValueError) as error:
        expected = ", ".join((*positional, *(f"{name}=..." for name in keywords)))
        msg = (
            f"method={shown(method)} must be a function ({expected}) -> Selection ({one_line(error, 100)}); use such a "
            f"function, or a name: {', '.join(map(repr, known))}."
        )
        raise ValueError(msg) from error
    return method


def with_weights(
    selector: Callable[..., Selection], A: LocalMatrix, row_factors: Array, weights: Array | None
) -> tuple[LocalMatrix, dict[str, Any]]:
    """Return the matrix and the options by which a selector learns the factors and the weights of the rows.

    A selector with the parameter ``sample_weight`` gets them; for others the rows are multiplied by their square roots.
    One with the parameter ``constant`` gets the factors, which are in A already.
    """
    parameters = signature(selector).parameters
    options = {"constant": row_factors} if "constant" in parameters else {}
    if weights is None:
        return A, options
    if "sample_weight" in parameters:
        return A, {**options, "sample_weight": weights}
    return A.scaled(np.sqrt(weights), np.ones(A.shape[1])), options


def check_selected(chosen: Any, method: Callable[..., Selection], sides: tuple[str, ...]) -> Selection:
    """Return a selection that has these sides; raise ValueError for anything else."""
    if not isinstance(chosen, Selection) or any(getattr(chosen, side) is None for side in sides):
        msg = f"method={shown(method)} must return a Selection with {' and '.join(sides)}, got {shown(chosen)}."
        raise ValueError(msg)
    return chosen


def options_for(method: Callable[..., Selection], **given: Any) -> dict[str, Any]:
    """Return the given options that are not None and that the method accepts.

    A pool that the method does not accept raises ValueError; a seed or a callback that it does not need is dropped.
    """
    parameters = signature(method).parameters
    options = {}
    for name, value in given.items():
        if value is None:
            continue
        if name in parameters:
            options[name] = value
        elif name.endswith("pool"):
            msg = (
                f"{name}={shown(value)} was given, but method={shown(method)} has no parameter {name}; use a method "
                "that has one, or omit it."
            )
            raise ValueError(msg)
    return options
