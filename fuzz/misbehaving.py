"""Objects that misbehave: they raise when used, or claim to be what they are not."""

from typing import Any

import numpy as np


def raising(*names: Any) -> Any:
    """Return an object whose special methods of these names raise."""

    def fail(*_args: Any, **_kwargs: Any) -> Any:
        msg = "no\nlook \x1b[31m"
        raise RuntimeError(msg)

    return type("Raising", (), dict.fromkeys(names, fail))()


class FalseMatrix:
    """Has the attributes of a matrix, but no entries."""

    shape, ndim, dtype = (12, 10), 2, np.dtype(np.float64)

    def __len__(self) -> Any:
        return 12


class FalseLength:
    def __len__(self) -> Any:
        return 3

    def __getitem__(self, i: Any) -> Any:
        if i > 0:
            raise IndexError(i)
        return i


class NegativeLength:
    def __len__(self) -> Any:
        return -1


class WrongArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return "no array"


class RaisingShape:
    @property
    def shape(self) -> Any:
        msg = "no\nshape"
        raise RuntimeError(msg)


class LongText(str):
    __slots__ = ()

    def __repr__(self) -> Any:
        return "a\nb" * 500


class RaisingPath:
    def __fspath__(self) -> Any:
        msg = "no\npath"
        raise RuntimeError(msg)


class WrongPath:
    def __fspath__(self) -> Any:
        return 3


class AnyAttribute:
    """Has every attribute; each is the object itself."""

    def __getattr__(self, name: Any) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class AlwaysUnequal:
    def __eq__(self, other: object) -> Any:
        msg = "no\ncomparison"
        raise RuntimeError(msg)

    __hash__ = None  # type: ignore[assignment]


def recursive() -> Any:
    nested: list[Any] = []
    nested.append(nested)
    return nested


def deep(depth: Any = 200) -> Any:
    nested: list[Any] = [1.0]
    for _ in range(depth):
        nested = [nested]
    return nested
