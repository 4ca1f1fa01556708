"""Imports of optional packages, with an error that says which extra to install."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def optional(module: str, what: str, extra: str) -> Any:
    """Return a module that only ``what`` needs, and that comes with ``cosep[extra]``.

    Raises
    ------
    ImportError
        If it, or a package that it needs, is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise _missing(error.name or module, what, extra) from error


def check_installed(module: str, what: str, extra: str) -> None:
    """Raise ImportError if a package that ``what`` needs is not installed. It is not loaded."""
    if find_spec(module) is None:
        raise _missing(module, what, extra)


def _missing(module: str, what: str, extra: str) -> ImportError:
    package = module.partition(".")[0]
    return ImportError(f"{what} needs {package}: install cosep[{extra}].", name=package)
