"""Options of the commands, each defined once."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

MATRICES = "A matrix (.mtx, .npz, .npy, .csv, .tsv, .xlsx, .parquet, .mat, .h5ad)"
TEXTS = "texts (a folder of .txt, a .txt with one text per line, .jsonl, or a table with --text-column)"
BLOCKS = "blocks of rows that need not fit in memory (a Zarr store, or a folder of .npz, .npy or .parquet)"

Input = Annotated[Path, typer.Argument(metavar="INPUT", help=f"{MATRICES} or {TEXTS}.")]
InputOrBlocks = Annotated[Path, typer.Argument(metavar="INPUT", help=f"{MATRICES}, {TEXTS}, or {BLOCKS}.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A folder that cosep fit wrote, or its model.npz.")]

Rows = Annotated[
    int | None, typer.Option(help="How many rows to select. Default: 10, or all of them if there are fewer.")
]
Cols = Annotated[
    int | None, typer.Option(help="How many columns to select. Default: 10, or all of them if there are fewer.")
]
Method = Annotated[
    str, typer.Option(help="How to select: faithful, cosfgm, spa, ...; an unknown name lists all.", show_default=True)
]
Scaling = Annotated[
    str,
    typer.Option(
        help="How rows and columns count: degree (long rows and frequent columns do not outweigh others), rows, "
        "columns, sinkhorn, or none (the plain norm)."
    ),
]
Weights = Annotated[
    Path | None,
    typer.Option(
        help="A file with the weight of each row: one per line, or a .csv of names and weights. 2 counts a row twice."
    ),
]
Grow = Annotated[
    Path | None,
    typer.Option(
        help="A folder that cosep fit wrote for the same data, to select more: its rows and columns stay, first and in "
        "order. --rows and --cols count all of them. Default of --method and --scaling: those of the folder."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


# Options of a table that count for new rows too, unless others are given.
REPEATED = ("sep", "decimal", "sheet", "layout", "index")


@dataclass(frozen=True)
class FileOptions:
    """How a file is read."""

    kind: Annotated[
        str | None,
        typer.Option(help="Read INPUT as a file with this ending, such as csv.gz. Required if INPUT is -."),
    ] = None
    layout: Annotated[
        str | None, typer.Option(help="What a table holds: wide or triplets. Default: guessed from its columns.")
    ] = None
    index: Annotated[str | None, typer.Option(help="The column or field with the names of the rows.")] = None
    sep: Annotated[
        str | None, typer.Option(help="The separator of a table as text, such as ; or tab. Default: found in the file.")
    ] = None
    decimal: Annotated[
        str | None, typer.Option(help="The decimal mark of a table as text: . or a comma. Default: found in the file.")
    ] = None
    sheet: Annotated[str | None, typer.Option(help="The sheet of an Excel file. Default: the first one.")] = None
    columns: Annotated[
        list[str] | None, typer.Option(help="The columns of a table to keep, such as height,width. Default: all.")
    ] = None
    drop: Annotated[list[str] | None, typer.Option(help="The columns of a table to leave out, such as species.")] = None
    variable: Annotated[str | None, typer.Option(help="The matrix to read from a .mat file with several.")] = None
    layer: Annotated[str | None, typer.Option(help="The layer to read from an .h5ad file or a store, or raw.")] = None
    text_column: Annotated[str | None, typer.Option(help="The column or field with the texts.")] = None

    def of_file(self) -> dict[str, Any]:
        """Return what `cosep.io.read` takes, except for the kind of the file, labels and texts."""
        names = (*REPEATED, "columns", "drop", "variable", "layer")
        return {name: getattr(self, name) or None for name in names}

    def of_table(self) -> dict[str, str]:
        """Return how a table is read that its columns do not tell, for new rows of the same kind."""
        return {name: value for name in REPEATED if (value := getattr(self, name))}


@dataclass(frozen=True)
class ReadOptions(FileOptions):
    """How a file is read, and how texts become counts."""

    stop_words: Annotated[str, typer.Option(help="Words to leave out: english or none.")] = "english"
    min_df: Annotated[int, typer.Option(help="Keep words that occur in at least this many texts.")] = 2
    top_words: Annotated[int | None, typer.Option(help="Keep this many of the most frequent words.")] = None

    def of_texts(self) -> dict[str, Any]:
        """Return what `cosep.io.TextOptions` takes."""
        words = None if self.stop_words == "none" else self.stop_words
        return {
            "column": self.text_column,
            "stop_words": words,
            "min_df": self.min_df,
            "top_words": self.top_words,
        }


@dataclass(frozen=True)
class LabelOptions:
    """Where the class of each row is."""

    labels: Annotated[
        Path | None,
        typer.Option(help="A file with the class of each row, to score the clusters: one per line, or name,class."),
    ] = None
    label_column: Annotated[str | None, typer.Option(help="The column or field with the class of each row.")] = None


@dataclass(frozen=True)
class BlockOptions:
    """How blocks of rows are processed."""

    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Folder for the results of passes over blocks, so that a stopped run can continue."),
    ] = None
    sample: Annotated[
        int | None, typer.Option(help="How many rows of blocks to sample, to select from. Default: 8192.")
    ] = None
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask cluster to process blocks on, such as tcp://host:8786.")
    ] = None


# Options for INPUT in memory, and for INPUT in blocks of rows, by their parameters.
MEMORY_ONLY = (
    *("choose", "stability", "labels", "label_column", "kind", "layout", "index", "variable"),
    *("sep", "decimal", "sheet", "columns", "drop"),
    *("text_column", "stop_words", "min_df", "top_words"),
)
BLOCKS_ONLY = tuple(field.name for field in fields(BlockOptions))
# Options that do not apply to an answer that grows, and why.
NOT_GROWING = {"choose": "use --rows and --cols"} | dict.fromkeys(
    ("stop_words", "min_df", "top_words"), "its words are counted as before; leave it out"
)


def with_options(**groups: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of dataclasses.

    Parameters
    ----------
    **groups : dataclass
        For each parameter of the command that is named here: the dataclass whose fields become options in its place.
        The command gets one object of it.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def called(**given: Any) -> None:
            for name, group in groups.items():
                given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
            command(**given)

        parameters: list[inspect.Parameter] = []
        for name, parameter in inspect.signature(command).parameters.items():
            parameters += _options(groups[name]) if name in groups else [parameter]
        # typer reads the signature.
        vars(called)["__signature__"] = inspect.Signature(parameters)
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return called

    return decorate


def _options(group: type) -> list[inspect.Parameter]:
    """Return the fields of a dataclass as keyword parameters."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]
