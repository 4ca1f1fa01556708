"""Exit codes of the commands, with one plain sentence instead of a traceback."""

import logging
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from cosep.cli.process import Terminated, drop_output
from cosep.utils.messages import one_line

LONGEST_MESSAGE = 2000

# Parameters of the library, and the options of the command with the same meaning.
OPTIONS = {
    "n_rows": "--rows",
    "n_cols": "--cols",
    "method": "--method",
    "methods": "--methods",
    "scaling": "--scaling",
    "weights": "--weights",
    "sample_weight": "--weights",
    "stability": "--stability",
    "ranks": "--ranks",
    "plot": "--plot",
    "out": "--out",
    "errors": "--errors",
    "decoder": "--decoder",
    "model": "MODEL",
    "grow": "--grow",
    "path": "INPUT",
    "kind": "--kind",
    "layout": "--layout",
    "index": "--index",
    "sep": "--sep",
    "decimal": "--decimal",
    "sheet": "--sheet",
    "columns": "--columns",
    "drop": "--drop",
    "variable": "--variable",
    "layer": "--layer",
    "labels": "--label-column",
    "column": "--text-column",
    "stop_words": "--stop-words",
    "min_df": "--min-df",
    "max_df": "--max-df",
    "top_words": "--top-words",
    "ngrams": "--ngrams",
    "sample_size": "--sample",
    "checkpoint": "--checkpoint",
    "scheduler": "--scheduler",
    "jobs": "--jobs",
    "missing": "--missing",
}


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn errors into one sentence and an exit code: 2 for bad input, 130 for Ctrl-C, 128 + n for signal n."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            yield
        sys.stdout.flush()
    except ModuleNotFoundError:
        raise  # a package that the command itself needs
    except BrokenPipeError:
        # The program that reads the answer has closed the pipe, as head does.
        drop_output()
        raise typer.Exit(0) from None
    except (ValueError, ImportError, MemoryError, OSError) as error:
        if isinstance(error, OSError):
            drop_output()
        _silence_threads()
        typer.echo(with_option_names(str(error) or "There is not enough memory for this input."), err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        _silence_threads()
        typer.echo("Stopped by Ctrl-C.", err=True)
        raise typer.Exit(130) from None
    except Terminated as end:
        _silence_threads()
        typer.echo(f"Stopped by {end.name}.", err=True)
        raise typer.Exit(end.exit_code) from None


def _print_warning(message: Warning | str, *_where: Any, **_more: Any) -> None:
    """Print a warning as one sentence, without the line of code that it comes from."""
    typer.echo(f"Warning: {with_option_names(str(message))}", err=True)


def _silence_threads() -> None:
    """Log nothing about chunks of a store that other threads are still reading."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)


def with_option_names(message: str) -> str:
    """Return a message of the library on one line, with the names of options instead of parameters."""
    names = "|".join(OPTIONS)
    line = one_line(message, LONGEST_MESSAGE)
    named = re.sub(rf"(?<![\w-])({names})=", lambda found: f"{OPTIONS[found[1]]}=", line)
    return named.replace("n_samples=", "the number of rows, ").replace("n_features=", "the number of columns, ")
