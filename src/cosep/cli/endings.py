"""How a command ends: one sentence and an exit code instead of a traceback."""

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from cosep.cli.process import Terminated, drop_output
from cosep.utils.messages import one_line

LONGEST_MESSAGE = 2000

# Arguments of the library, and what they are called here.
OPTIONS = {
    "n_rows": "--rows",
    "n_cols": "--cols",
    "method": "--method",
    "methods": "--methods",
    "scaling": "--scaling",
    "stability": "--stability",
    "ranks": "--ranks",
    "plot": "--plot",
    "out": "--out",
    "model": "MODEL",
    "path": "INPUT",
    "kind": "--kind",
    "layout": "--layout",
    "index": "--index",
    "variable": "--variable",
    "layer": "--layer",
    "labels": "--label-column",
    "column": "--text-column",
    "stop_words": "--stop-words",
    "min_df": "--min-df",
    "top_words": "--top-words",
    "sample_size": "--sample",
    "checkpoint": "--checkpoint",
    "scheduler": "--scheduler",
}


@contextmanager
def plain_endings() -> Iterator[None]:
    """End on one sentence: bad input with exit code 2, Ctrl-C with 130, another signal with 128 and its number."""
    try:
        yield
        sys.stdout.flush()
    except ModuleNotFoundError:
        raise  # what the command itself cannot do without
    except BrokenPipeError:
        # Whoever reads the answer has seen enough.
        drop_output()
        raise typer.Exit(0) from None
    except (ValueError, ImportError, MemoryError, OSError) as error:
        if isinstance(error, OSError):
            drop_output()
        _give_up()
        typer.echo(_in_words_of_the_command(str(error) or "There is not enough memory for this input."), err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        _give_up()
        typer.echo("Stopped by Ctrl-C.", err=True)
        raise typer.Exit(130) from None
    except Terminated as end:
        _give_up()
        typer.echo(f"Stopped by {end.name}.", err=True)
        raise typer.Exit(end.exit_code) from None


def _give_up() -> None:
    """Say nothing of chunks of a store that are still being read, in threads that nobody waits for any more."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)


def _in_words_of_the_command(told: str) -> str:
    """Return what the library says on one line, with options instead of its arguments."""
    names = "|".join(OPTIONS)
    told = re.sub(rf"(?<![\w-])({names})=", lambda found: f"{OPTIONS[found[1]]}=", one_line(told, LONGEST_MESSAGE))
    return told.replace("n_samples=", "the number of rows, ").replace("n_features=", "the number of columns, ")
