"""Explain a nonnegative matrix by a few of its own rows and columns.

The public names are listed in ``__init__.pyi`` and are imported on first use, so that importing the package loads
neither scikit-learn nor numba.
"""

import ast
from importlib import import_module
from pkgutil import get_data

__version__ = "0.1.0"


def _public_names() -> dict[str, str]:
    """Return the module of each name that the stub file exports."""
    return {
        name: node.module or ""
        for node in _statements("__init__.pyi")
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        for name in (_all_of(node.module or "") if alias.name == "*" else [alias.name])
    }


def _all_of(module: str) -> list[str]:
    """Return ``__all__`` of a room, without importing it."""
    for node in _statements(f"{module.partition('.')[2]}/__init__.py"):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def _statements(file: str) -> list[ast.stmt]:
    return ast.parse(get_data(__name__, file) or b"").body


_MODULES = _public_names()

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
