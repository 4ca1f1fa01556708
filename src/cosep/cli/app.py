"""The commands, their options and help, and the exit codes: 0, 2 for bad input, 130 for Ctrl-C."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

import cosep

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer passes it so
    if wanted:
        typer.echo(f"cosep {cosep.__version__}")
        raise typer.Exit


@app.callback()
def every_command(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Explain a nonnegative matrix by a few of its own rows and columns."""


@app.command()
def demo(
    *,
    rows: Annotated[int, typer.Option(help="How many functions to choose.")] = 12,
    cols: Annotated[int, typer.Option(help="How many words to choose.")] = 12,
    method: Annotated[
        str, typer.Option(help="How to choose: faithful, cosfgm, spa, snpa, xray, fgm, greedy or cur.")
    ] = "faithful",
    scaling: Annotated[
        str, typer.Option(help="Scale the counts for the choice: none, rows, columns, degree or sinkhorn.")
    ] = "none",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")] = False,
) -> None:
    """Show what cosep finds in the docstrings of the SciPy and scikit-learn that are installed here.

    Each line of the table is a function chosen to speak for others, its anchor
    word, the words that go with both, and how many functions it speaks for.

    Example:  cosep demo --rows 8 --cols 8
    """
    with plain_endings():
        from cosep.cli.demo import run  # noqa: PLC0415 - help is quick without the numerics

        run(rows, cols, method=method, scaling=None if scaling == "none" else scaling, as_json=as_json)


@contextmanager
def plain_endings() -> Iterator[None]:
    """End on one sentence instead of a traceback: bad input with exit code 2, Ctrl-C with 130."""
    try:
        yield
    except ValueError as error:
        # The library speaks of n_rows=0; here that is --rows=0.
        typer.echo(re.sub(r"^(n_)?(\w+)=", r"--\2=", str(error)), err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("Stopped by Ctrl-C.", err=True)
        raise typer.Exit(130) from None
