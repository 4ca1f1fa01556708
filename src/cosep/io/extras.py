"""The name of an optional package enters; the package leaves, or a sentence that says how to get it."""

from importlib import import_module
from typing import Any


def optional(module: str, what: str, extra: str) -> Any:
    """Return a package that only ``what`` needs, and that comes with ``cosep[extra]``.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        msg = f"{what} needs {module.split('.', maxsplit=1)[0]}: install cosep[{extra}]."
        raise ImportError(msg) from error
