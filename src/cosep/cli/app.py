"""The commands, their options and help."""

import os
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cosep
from cosep.cli.endings import plain_endings
from cosep.cli.inputs import refuse_inputs
from cosep.utils.messages import SURROGATES

if TYPE_CHECKING:
    from cosep.io import NamedMatrix

# Options of INPUT that is in memory, and of INPUT in blocks of rows, by their parameters.
OF_MEMORY = (
    *("choose", "stability", "labels", "label_column", "kind", "layout", "index", "variable"),
    *("text_column", "stop_words", "min_df", "top_words", "complete"),
)
OF_BLOCKS = ("checkpoint", "sample", "scheduler")
PACKED = (".gz", ".bz2", ".xz", ".zst")

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

Input = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT",
        help="A matrix (.mtx, .npz, .npy, .csv, .tsv, .parquet, .mat, .h5ad) or texts (a folder of .txt, "
        "a .txt with one text a line, .jsonl, or a table with --text-column).",
    ),
]
InputOrStore = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT",
        help="A matrix (.mtx, .npz, .npy, .csv, .tsv, .parquet, .mat, .h5ad), texts (a folder of .txt, "
        "a .txt with one text a line, .jsonl, or a table with --text-column), or blocks of rows that need not fit in "
        "memory (a Zarr store, or a folder of .npz, .npy or .parquet).",
    ),
]
Rows = Annotated[int | None, typer.Option(help="How many rows to select; 10, or all of fewer, if not said.")]
Cols = Annotated[int | None, typer.Option(help="How many columns to select; 10, or all of fewer, if not said.")]
Method = Annotated[str, typer.Option(help="How to select: faithful, cosfgm, spa, ...; an unknown name lists all.")]
Scaling = Annotated[
    str, typer.Option(help="Scale the data for the selection: none, rows, columns, degree or sinkhorn.")
]
Labels = Annotated[
    Path | None,
    typer.Option(help="A file with the class of each row, to score the clusters: one a line, or name,class."),
]
Kind = Annotated[
    str | None, typer.Option(help="The ending to go by instead of that of INPUT, such as csv.gz; needed if INPUT is -.")
]
Index = Annotated[str | None, typer.Option(help="The column or field that names the rows.")]
LabelColumn = Annotated[str | None, typer.Option(help="The column or field that holds the class of each row.")]
Layout = Annotated[
    str | None, typer.Option(help="What a table holds: wide or triplets; told by its columns if not said.")
]
Variable = Annotated[str | None, typer.Option(help="The matrix to take from a .mat file with several.")]
Layer = Annotated[str | None, typer.Option(help="The layer to take from an .h5ad file or a store, or raw.")]
TextColumn = Annotated[str | None, typer.Option(help="The column or field that holds the texts.")]
StopWords = Annotated[str, typer.Option(help="Words that do not count: english or none.")]
MinDf = Annotated[int, typer.Option(help="A word counts if so many texts have it.")]
TopWords = Annotated[int | None, typer.Option(help="Keep so many of the most frequent words.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


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
    rows: Annotated[int, typer.Option(help="How many functions to select.")] = 12,
    cols: Annotated[int, typer.Option(help="How many words to select.")] = 12,
    method: Method = "faithful",
    scaling: Scaling = "none",
    out: Annotated[Path | None, typer.Option(help="Folder for the answer; a new temporary one if not said.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show the whole tour on the docstrings of the SciPy and scikit-learn that are installed here.

    Each line of the table is a function selected to speak for others, its anchor
    word, the words that go with both, and how many functions it speaks for. The
    last line is the path of a report to open in a browser.

    Example:  cosep demo --rows 8 --cols 8
    """
    with plain_endings():
        from cosep.cli.demo import RANKS, tour  # noqa: PLC0415 - help is quick without the numerics
        from cosep.cli.fit import Manner, Wishes  # noqa: PLC0415 - as above

        wishes = Wishes(rows, cols, method, _scaling(scaling), choose=True, ranks=RANKS)
        tour(out, wishes, Manner(as_json=as_json, quiet=quiet), _command())


@app.command()
def fit(  # noqa: PLR0913 - the options of a command
    context: typer.Context,
    source: InputOrStore,
    *,
    rows: Rows = None,
    cols: Cols = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the answer; INPUT-cosep here if not said.")] = None,
    method: Method = "faithful",
    scaling: Scaling = "none",
    choose: Annotated[bool, typer.Option("--choose-rank", help="Find out how many rows and columns first.")] = False,
    report: Annotated[bool, typer.Option(help="Write report.html, which takes longer than the fit.")] = True,
    stability: Annotated[
        int, typer.Option(help="How often to select again from parts of the data, for the report; 0 for never.")
    ] = 10,
    labels: Labels = None,
    label_column: LabelColumn = None,
    kind: Kind = None,
    layout: Layout = None,
    index: Index = None,
    variable: Variable = None,
    layer: Layer = None,
    text_column: TextColumn = None,
    stop_words: StopWords = "english",
    min_df: MinDf = 2,
    top_words: TopWords = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder to keep passes over blocks in, so that a stopped run can go on.")
    ] = None,
    sample: Annotated[int | None, typer.Option(help="Rows to sample from blocks, to select from.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask cluster to go through blocks on, such as tcp://host:8786.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Select rows and columns that explain INPUT; write the model, its tables and a report.

    Example:  cosep fit counts.csv --rows 30 --cols 30 --out answer
    """
    with plain_endings():
        from cosep.cli.fit import Manner, Wishes, run  # noqa: PLC0415 - help is quick without the numerics
        from cosep.cli.folder import FILES  # noqa: PLC0415 - as above

        options = {"kind": kind, "layout": layout, "index": index, "variable": variable, "layer": layer}
        text = _text(text_column, stop_words, min_df, top_words)
        read = _reader(source, text, {**options, "labels": label_column}, labels)
        wishes = Wishes(rows, cols, method, _scaling(scaling), choose=choose, report=report, draws=stability)
        if choose and not (rows is None and cols is None):
            msg = "--choose-rank finds --rows and --cols; leave these out, or it."
            raise ValueError(msg)
        folder = Path(f"{_stem(source)}-cosep") if out is None else out
        in_blocks = _in_blocks(context, source)
        inputs = {"INPUT": [source], "the file of --labels": [] if labels is None else [labels]}
        refuse_inputs("out", folder, inputs, [folder / name for name in FILES])
        if checkpoint is not None:
            refuse_inputs("checkpoint", checkpoint, inputs | {"--out": [folder / name for name in FILES]}, [])
        manner = Manner(as_json=as_json, quiet=quiet)
        if not in_blocks:
            run(read, folder, wishes, manner, _command())
            return
        from cosep.cli.blocks import Way  # noqa: PLC0415 - help is quick without the numerics
        from cosep.cli.blocks import run as run_blocks  # noqa: PLC0415 - as above

        run_blocks(source, folder, wishes, Way(layer, checkpoint, sample, scheduler), manner, _command())


@app.command()
def rank(  # noqa: PLR0913 - the options of a command
    source: Input,
    *,
    ranks: Annotated[
        str | None, typer.Option(help="Ranks to try, such as 5,10,20 or 5x5,10x20 (rows x columns).")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the errors on a page of this name.")] = None,
    kind: Kind = None,
    layout: Layout = None,
    index: Index = None,
    variable: Variable = None,
    layer: Layer = None,
    text_column: TextColumn = None,
    stop_words: StopWords = "english",
    min_df: MinDf = 2,
    top_words: TopWords = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find out how many rows and columns to select, by predicting parts of INPUT that are held out.

    Example:  cosep rank counts.csv --ranks 5,10,20,40 --plot ranks.html
    """
    with plain_endings():
        from cosep.cli.ranks import run  # noqa: PLC0415 - help is quick without the numerics

        refuse_inputs("plot", plot, {"INPUT": [source]})
        options = {"kind": kind, "layout": layout, "index": index, "variable": variable, "layer": layer}
        read = _reader(source, _text(text_column, stop_words, min_df, top_words), options)
        run(read, _ranks(ranks), plot, as_json=as_json, quiet=quiet)


@app.command()
def transform(  # noqa: PLR0913 - the options of a command
    context: typer.Context,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A folder that cosep fit wrote, or its model.npz.")],
    source: InputOrStore,
    *,
    complete: Annotated[
        bool, typer.Option("--complete", help="Predict all columns from the selected ones, the only ones needed.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="File for the answer; standard output if not said.")] = None,
    kind: Kind = None,
    layout: Layout = None,
    index: Index = None,
    variable: Variable = None,
    layer: Layer = None,
    text_column: TextColumn = None,
    as_json: AsJson = False,
) -> None:
    """Explain new rows by the representatives of a model: nearest one, part of each, how well explained.

    Columns are found by name; those that the model does not know are left out.
    New texts are counted as those that the model was fitted to.

    Example:  cosep transform answer new.csv --out memberships.csv
    """
    with plain_endings():
        from cosep.cli.transform import answer_of, run, run_blocks  # noqa: PLC0415 - help is quick without the numerics

        refuse_inputs("out", out, {"INPUT": [source], "MODEL": answer_of(model)})
        if _in_blocks(context, source):
            run_blocks(model, source, out, layer)
            return

        def read(text: Any) -> "NamedMatrix":
            column = text.get("column") if text_column is None else text_column
            options = {"kind": kind, "layout": layout, "index": index, "variable": variable, "layer": layer}
            return _reader(source, {**text, "column": column}, options)()

        run(model, read, out, complete=complete, as_json=as_json)


@app.command()
def compare(  # noqa: PLR0913 - the options of a command
    source: Input,
    *,
    rows: Rows = None,
    cols: Cols = None,
    methods: Annotated[str | None, typer.Option(help="Methods to run, such as faithful,cosfgm,sklearn-nmf.")] = None,
    labels: Labels = None,
    label_column: LabelColumn = None,
    kind: Kind = None,
    layout: Layout = None,
    index: Index = None,
    variable: Variable = None,
    layer: Layer = None,
    text_column: TextColumn = None,
    stop_words: StopWords = "english",
    min_df: MinDf = 2,
    top_words: TopWords = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run all methods on INPUT: what they explain, the accuracy of their clusters, and seconds.

    Example:  cosep compare counts.csv --rows 10 --cols 10 --labels classes.txt
    """
    with plain_endings():
        from cosep.cli.compare import run  # noqa: PLC0415 - help is quick without the numerics

        refuse_inputs("out", None, {"INPUT": [source], "the file of --labels": [] if labels is None else [labels]})
        options = {"kind": kind, "layout": layout, "index": index, "variable": variable, "layer": layer}
        text = _text(text_column, stop_words, min_df, top_words)
        read = _reader(source, text, {**options, "labels": label_column}, labels)
        names = [] if methods is None else [name.strip() for name in methods.split(",")]
        run(read, (rows, cols), names, as_json=as_json, quiet=quiet)


def _reader(
    source: Path, text: dict[str, Any], options: dict[str, str | None], label_file: Path | None = None
) -> "Callable[[], NamedMatrix]":
    """Return what reads INPUT, once it is wanted."""

    def reader() -> "NamedMatrix":
        from cosep.io import TextOptions, read, read_labels  # noqa: PLC0415 - help is quick without the numerics

        data = read(source, text=TextOptions(**text), **options)
        return data if label_file is None else replace(data, labels=read_labels(label_file, data.row_names))

    return reader


def _in_blocks(context: typer.Context, source: Path) -> bool:
    """Tell whether INPUT is in blocks of rows; refuse options that say nothing of what it is."""
    from cosep.io.block_reading import is_blocks  # noqa: PLC0415 - help is quick without the numerics

    blocks = is_blocks(source)
    for option in context.command.params:
        name = str(option.name)
        given = context.get_parameter_source(name)
        if given is None or given.name != "COMMANDLINE":
            continue
        if blocks and (name in OF_MEMORY or (name == "as_json" and context.command.name == "transform")):
            msg = f"{option.opts[0]} says nothing of blocks of rows, which INPUT is; leave it out."
            raise ValueError(msg)
        if not blocks and name in OF_BLOCKS:
            msg = (
                f"{option.opts[0]} is for blocks of rows, a Zarr store or a folder of .npz, .npy or .parquet files, "
                "which INPUT is not; leave it out."
            )
            raise ValueError(msg)
    return blocks


def _text(column: str | None, stop_words: str, min_df: int, top_words: int | None) -> dict[str, Any]:
    """Return how texts become counts."""
    words = None if stop_words == "none" else stop_words
    return {"column": column, "stop_words": words, "min_df": min_df, "top_words": top_words}


def _scaling(name: str) -> str | None:
    return None if name == "none" else name


def _ranks(text: str | None) -> list[tuple[int, int]] | None:
    """Read ranks such as 5,10x20."""
    if text is None:
        return None
    pairs = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:x(\d+))?\s*", part)
        if match is None:
            msg = f"ranks={text!r} must be numbers or pairs, such as 5,10,20 or 5x5,10x20."
            raise ValueError(msg)
        pairs.append((int(match[1]), int(match[2] or match[1])))
    return pairs


def _stem(source: Path) -> str:
    """Return the name of a file without its ending, and without that of its compression."""
    plain = Path(os.path.realpath(source))
    plain = plain.with_suffix("") if plain.suffix in PACKED else plain
    return "answer" if source == Path("-") else plain.stem


def _command() -> str:
    """Return what was typed, to be typed again."""
    return " ".join(["cosep", *map(_quoted, sys.argv[1:])])


def _quoted(word: str) -> str:
    """Return a word as the shell takes it; names of files that are not Unicode byte by byte."""
    if not SURROGATES.search(word):
        return shlex.quote(word)
    plain = (f"\\x{byte:02x}" if byte in b"'\\" or not 32 <= byte < 127 else chr(byte) for byte in os.fsencode(word))
    return f"$'{''.join(plain)}'"
