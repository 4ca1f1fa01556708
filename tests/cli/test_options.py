"""Options that several commands share."""

import inspect
from dataclasses import dataclass

from cosep.cli.options import with_options


@dataclass(frozen=True)
class Size:
    width: int = 3
    height: int = 4


def test_a_group_of_options_becomes_one_object():
    got = []

    @with_options(size=Size)
    def command(name: str, *, size: Size, quiet: bool = False) -> None:
        got.append((name, size, quiet))

    assert list(inspect.signature(command).parameters) == ["name", "width", "height", "quiet"]
    assert inspect.signature(command).parameters["height"].default == 4
    command(name="a", width=1, height=2, quiet=True)
    assert got == [("a", Size(1, 2), True)]
