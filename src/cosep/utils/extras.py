"""The name of an optional package enters; the package leaves, or a sentence that says how to get it."""

from importlib import import_module
from importlib.util import find_spec
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


def check_installed(module: str, what: str, extra: str) -> None:
    """Raise ImportError if a package that ``what`` needs is not installed, without loading it if it is."""
    if find_spec(module) is None:
        msg = f"{what} needs {module}: install cosep[{extra}]."
        raise ImportError(msg)
