"""The console that answers are printed to, and JSON for programs."""

import json
from typing import Any

from rich.console import Console

from cosep.utils.messages import SURROGATES

# The width of tables that are not printed to a terminal.
PIPED_WIDTH = 100


class OutputConsole(Console):
    """A console that prints names as they are, and leaves a closed pipe to the command."""

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, **options)

    def on_broken_pipe(self) -> None:
        """Raise the error again, for the command to end on it."""
        raise  # noqa: PLE0704 - rich calls this while it handles the error


def table_console() -> OutputConsole:
    """Return the console for tables and sentences."""
    console = OutputConsole()
    return console if console.is_terminal else OutputConsole(width=PIPED_WIDTH)


def print_lines(console: Console, *lines: str) -> None:
    """Print lines as they are, without colours and markup."""
    console.print(*lines, sep="\n", highlight=False, markup=False)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    OutputConsole(soft_wrap=True).out(json_text(value), highlight=False)


def json_text(value: Any, indent: int | None = 2) -> str:
    """Return a value as JSON; bytes of file names that are not Unicode are escaped, so that Python reads them back."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
