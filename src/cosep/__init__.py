"""Explain a nonnegative matrix by a few of its own rows and columns.

The public names are listed in ``__init__.pyi`` and are imported on first use, so that importing the package loads
neither scikit-learn nor numba.
"""

import ast
from importlib import import_module
from pkgutil import get_data

__version__ = "0.1.0"


def _read_stub() -> dict[str, str]:
    """Return the module of each name that the stub file exports."""
    stub = ast.parse(get_data(__name__, "__init__.pyi") or b"")
    return {
        alias.name: node.module or "" for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }


_MODULES = _read_stub()

__all__ = sorted((*_MODULES, "__version__"))  # noqa: PLE0605 - the stub has the names


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    module = _MODULES[name]
    value = import_module(f"{module}.{name}") if module == __name__ else getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
