"""Warnings that point at the user's line."""

import warnings
from inspect import currentframe


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line of the first caller outside this package."""
    level = 1
    frame = currentframe()
    while frame is not None and _is_ours(frame.f_globals.get("__name__")):
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)  # noqa: TID251 - the one place


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == __name__.partition(".")[0]
