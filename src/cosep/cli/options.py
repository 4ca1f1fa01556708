"""Options of the commands, each defined once."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from cosep.cli.parsing import file_name

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
Jobs = Annotated[
    int,
    typer.Option(
        help="How many processes select at the same time while ranks are tried or parts of the data are drawn; -1: one "
        "for each processor. The answer does not depend on it."
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(
        help="Fit INPUT with missing entries: nan (empty cells, NA), or unstored (what triplets or a sparse matrix do "
        "not store). Default: a missing entry is an error."
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
    sheet: Annotated[
        str | None, typer.Option(help="The sheet of an Excel file. Default: the first one; a warning names the others.")
    ] = None
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

    stop_words: Annotated[
        str, typer.Option(help="Words to leave out: english, another language such as german, none, or a file of them.")
    ] = "english"
    min_df: Annotated[
        float, typer.Option(help="Keep words that occur in at least this many texts, or this share of them, below 1.")
    ] = 2
    max_df: Annotated[
        float | None,
        typer.Option(
            help="Keep words that occur in at most this share of the texts, or this many of them. Default: 0.9 for 20 "
            "texts or more, else 1."
        ),
    ] = None
    top_words: Annotated[int | None, typer.Option(help="Keep this many of the most frequent words.")] = None
    ngrams: Annotated[int, typer.Option(help="Count phrases too, of up to this many words.")] = 1
    tfidf: Annotated[bool, typer.Option("--tfidf", help="Weigh words by TF-IDF instead of counting them.")] = False
    sublinear: Annotated[bool, typer.Option("--sublinear", help="Count a word that occurs c times as 1 + ln(c).")] = (
        False
    )

    def of_texts(self) -> dict[str, Any]:
        """Return what `cosep.io.TextOptions` takes."""
        chosen = {name: getattr(self, name) for name in ("top_words", "ngrams", "tfidf", "sublinear")}
        return {
            "column": self.text_column,
            "stop_words": self._stop_words(),
            "min_df": number_of_texts(self.min_df, is_share=0 < self.min_df < 1),
            "max_df": None if self.max_df is None else number_of_texts(self.max_df, is_share=self.max_df <= 1),
            **chosen,
        }

    def stop_word_files(self) -> list[Path]:
        """Return the file of stop words, if one is named."""
        path = Path(self.stop_words)
        return [path] if self.stop_words not in {"none", "english"} and path.is_file() else []

    def _stop_words(self) -> Any:
        """Return the name of a language, the words in a file, or None."""
        from cosep.io.stop_words import read_stop_words  # noqa: PLC0415 - help is quick without the numerics

        if self.stop_words == "none":
            return None
        for path in self.stop_word_files():
            return read_stop_words(path)
        return self.stop_words


def number_of_texts(given: float, *, is_share: bool) -> float:
    """Return a share of the texts as a float, and a number of them as an int."""
    return int(given) if not is_share and float(given).is_integer() else float(given)


@dataclass(frozen=True)
class LabelOptions:
    """Where the class of each row is."""

    labels: Annotated[
        Path | None,
        typer.Option(help="A file with the class of each row, to score the clusters: one per line, or name,class."),
    ] = None
    label_column: Annotated[str | None, typer.Option(help="The column or field with the class of each row.")] = None


@dataclass(frozen=True)
class NamingOptions:
    """What the data, a row and a column are called in the answer."""

    title: Annotated[str | None, typer.Option(help="The title of the report. Default: the name of INPUT.")] = None
    row_noun: Annotated[
        str | None,
        typer.Option(help="What a row is called. Default: document for texts, cell for an AnnData, else row."),
    ] = None
    col_noun: Annotated[
        str | None,
        typer.Option(help="What a column is called. Default: word for texts, gene for an AnnData, else column."),
    ] = None

    def of_fit(self, source: Path) -> dict[str, Any]:
        """Return them as `FitOptions` takes them; raise ValueError for an empty one."""
        for name, word in (("title", self.title), ("row-noun", self.row_noun), ("col-noun", self.col_noun)):
            if word is not None and not word.strip():
                msg = f"--{name} is empty; pass a word, or leave it out."
                raise ValueError(msg)
        return {"title": file_name(source) if self.title is None else self.title} | {
            "row_noun": self.row_noun,
            "col_noun": self.col_noun,
        }


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


# How the words of texts are counted.
COUNTING = ("stop_words", "min_df", "max_df", "top_words", "ngrams", "tfidf", "sublinear")
# Options for INPUT in memory, and for INPUT in blocks of rows, by their parameters.
MEMORY_ONLY = (
    *("choose", "stability", "jobs", "labels", "label_column", "kind", "layout", "index", "variable"),
    *("sep", "decimal", "sheet", "columns", "drop", "missing"),
    *("text_column", *COUNTING),
)
BLOCKS_ONLY = tuple(field.name for field in fields(BlockOptions))
# Options that do not apply to an answer that grows, and why.
NOT_GROWING = {
    "choose": "use --rows and --cols",
    "missing": "CoSeparableNMF.grow does it in Python; leave it out for data without missing entries",
} | dict.fromkeys(COUNTING, "its words are counted as before; leave it out")


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
