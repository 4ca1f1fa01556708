"""The name of a method, or a function, enters; the function that selects, with the options it takes, leaves."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from cosep.matrix.checks import check_choice
from cosep.records.selection import Selection
from cosep.utils.messages import one_line, shown

Method = str | Callable[..., Selection]


def method_named(
    method: Method, known: Mapping[str, Callable[..., Selection]], *positional: str, keywords: tuple[str, ...] = ()
) -> Callable[..., Selection]:
    """Return the function that a name stands for, or the function itself if it takes these arguments."""
    if not callable(method):
        return known[check_choice(method, "method", known)]
    try:
        signature(method).bind(*positional, **dict.fromkeys(keywords))
    except (TypeError, ValueError) as error:
        expected = ", ".join((*positional, *(f"{name}=..." for name in keywords)))
        msg = (
            f"method={shown(method)} must be a function ({expected}) -> Selection ({one_line(error, 100)}); use such a "
            f"one, or a name: {', '.join(map(repr, known))}."
        )
        raise ValueError(msg) from error
    return method


def refuse_no_selection(chosen: Any, method: Callable[..., Selection], sides: tuple[str, ...]) -> Selection:
    """Refuse what is no choice of the sides that are needed."""
    if not isinstance(chosen, Selection) or any(getattr(chosen, side) is None for side in sides):
        msg = f"method={shown(method)} must return a Selection with {' and '.join(sides)}, got {shown(chosen)}."
        raise ValueError(msg)
    return chosen


def options_for(method: Callable[..., Selection], **wishes: Any) -> dict[str, Any]:
    """Return the wishes that were made; one that the method cannot take is an error, a mere seed or callback is not."""
    parameters = signature(method).parameters
    options = {}
    for name, wish in wishes.items():
        if wish is None:
            continue
        if name in parameters:
            options[name] = wish
        elif name.endswith("pool"):
            msg = (
                f"{name}={shown(wish)} was given, but method={shown(method)} takes no {name}; use one that does, or "
                "drop it."
            )
            raise ValueError(msg)
    return options
