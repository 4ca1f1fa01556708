"""The commands and their help."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cosep
from cosep.cli.exit_codes import plain_errors
from cosep.cli.given_options import check_completing, check_growing, is_given, is_in_blocks
from cosep.cli.inputs import refuse_inputs
from cosep.cli.options import (
    AsJson,
    BlockOptions,
    Cols,
    FileOptions,
    Grow,
    Input,
    InputOrBlocks,
    Jobs,
    LabelOptions,
    Method,
    Missing,
    Model,
    NamingOptions,
    Quiet,
    ReadOptions,
    Rows,
    Scaling,
    Weights,
    with_options,
)
from cosep.cli.parsing import check_missing_option, command_line, ranks_in, scaling_named, stem

if TYPE_CHECKING:
    from cosep.io import NamedMatrix

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it this way
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
    scaling: Scaling = "degree",
    out: Annotated[Path | None, typer.Option(help="Folder for the answer. Default: a new temporary one.")] = None,
    jobs: Jobs = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show everything on the docstrings of the SciPy and scikit-learn that are installed here.

    Each line of the table is a function selected to stand for others, its anchor
    word, the words that go with both, and how many functions it stands for. The
    last line is the path of a report to open in a browser.

    Example:  cosep demo --rows 8 --cols 8
    """
    with plain_errors():
        from cosep.cli.demo import RANKS, TITLE, run_demo  # noqa: PLC0415 - help is quick without the numerics
        from cosep.cli.fit import FitOptions, OutputOptions  # noqa: PLC0415 - as above

        options = FitOptions(rows, cols, method, scaling_named(scaling), choose_rank=True, ranks=RANKS, title=TITLE)
        run_demo(out, replace(options, n_jobs=jobs), OutputOptions(as_json=as_json, quiet=quiet), command_line())


@app.command()
@with_options(naming=NamingOptions, labelled=LabelOptions, reading=ReadOptions, in_blocks=BlockOptions)
def fit(  # noqa: PLR0913 - the options of a command
    context: typer.Context,
    source: InputOrBlocks,
    *,
    rows: Rows = None,
    cols: Cols = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the answer. Default: INPUT-cosep in the current folder.")
    ] = None,
    method: Method = "faithful",
    scaling: Scaling = "degree",
    weights: Weights = None,
    missing: Missing = None,
    grow: Grow = None,
    choose: Annotated[
        bool, typer.Option("--choose-rank", help="Find out first how many rows and columns to select.")
    ] = False,
    report: Annotated[bool, typer.Option(help="Write report.html, which takes longer than the fit.")] = True,
    stability: Annotated[
        int, typer.Option(help="How often to select again from parts of the data, for the report. 0 turns it off.")
    ] = 10,
    jobs: Jobs = 1,
    naming: NamingOptions,
    labelled: LabelOptions,
    reading: ReadOptions,
    in_blocks: BlockOptions,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Select rows and columns that explain INPUT; write the model, its tables and a report.

    Example:  cosep fit counts.csv --rows 30 --cols 30 --out answer

    To select more later, and keep these:

    cosep fit counts.csv --grow answer --rows 60 --cols 60 --out larger
    """
    with plain_errors():
        from cosep.cli.fit import FitOptions, FitSource, OutputOptions, run  # noqa: PLC0415 - help is quick without
        from cosep.cli.folder import FILES  # noqa: PLC0415 - as above
        from cosep.cli.model_folder import answer_files  # noqa: PLC0415 - as above

        check_missing_option(missing)
        if choose and not (rows is None and cols is None):
            msg = "--choose-rank finds --rows and --cols; pass either --choose-rank or these, not both."
            raise ValueError(msg)
        folder = Path(f"{stem(source)}-cosep") if out is None else out
        blocks = is_in_blocks(context, source)
        text, earlier, kept = reading.of_texts(), None, None
        inputs = {
            "INPUT": [source],
            "the file of --labels": [] if labelled.labels is None else [labelled.labels],
            "the file of --weights": [] if weights is None else [weights],
            "the answer of --grow": [] if grow is None else answer_files(grow),
            "the file of --stop-words": reading.stop_word_files(),
        }
        refuse_inputs("out", folder, inputs, [folder / name for name in FILES])
        if in_blocks.checkpoint is not None:
            written = {"--out": [folder / name for name in FILES]}
            refuse_inputs("checkpoint", in_blocks.checkpoint, inputs | written, [])
        if grow is not None:
            from cosep.cli.earlier import EarlierAnswer  # noqa: PLC0415 - as above

            check_growing(context)
            earlier = EarlierAnswer(grow)
            method = method if is_given(context, "method") else earlier.setting("method", method)
            scaling = scaling if is_given(context, "scaling") else earlier.setting("scaling", scaling) or "none"
            rows, cols = earlier.sizes(rows, cols, method)
            text = earlier.text | ({} if reading.text_column is None else {"column": reading.text_column})
            kept = earlier.counts
        data: FitSource
        if blocks:
            from cosep.cli.block_source import BlockSource  # noqa: PLC0415 - as above

            data = BlockSource(source, reading.layer, in_blocks, earlier)
        else:
            from cosep.cli.matrix_source import MatrixSource  # noqa: PLC0415 - as above

            model = None if earlier is None else earlier.table
            table = reading.of_table() if model is None else model[1] | reading.of_table()
            data = MatrixSource(_reader(source, text, reading, labelled, model, missing), earlier, table)
        options = FitOptions(
            rows,
            cols,
            method,
            scaling_named(scaling),
            weights,
            choose_rank=choose,
            report=report,
            n_draws=stability,
            n_jobs=jobs,
            kept=kept,
            missing=missing,
            **naming.of_fit(source),
        )
        run(data, folder, options, OutputOptions(as_json=as_json, quiet=quiet), command_line())


@app.command()
@with_options(reading=ReadOptions)
def rank(
    source: Input,
    *,
    ranks: Annotated[
        str | None, typer.Option(help="Ranks to try, such as 5,10,20 or 5x5,10x20 (rows x columns).")
    ] = None,
    scaling: Scaling = "degree",
    weights: Weights = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the errors on a page with this file name.")] = None,
    jobs: Jobs = 1,
    reading: ReadOptions,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find out how many rows and columns to select, by predicting parts of INPUT that are held out.

    Example:  cosep rank counts.csv --ranks 5,10,20,40 --plot ranks.html
    """
    with plain_errors():
        from cosep.cli.ranks import run  # noqa: PLC0415 - help is quick without the numerics

        inputs = {"INPUT": [source], "the file of --weights": [] if weights is None else [weights]}
        refuse_inputs("plot", plot, inputs)
        read = _reader(source, reading.of_texts(), reading)
        run(read, ranks_in(ranks), (scaling_named(scaling), weights), plot, jobs, as_json=as_json, quiet=quiet)


@app.command()
@with_options(reading=FileOptions)
def transform(
    context: typer.Context,
    model: Model,
    source: InputOrBlocks,
    *,
    complete: Annotated[
        bool, typer.Option("--complete", help="Predict all columns from the selected ones; INPUT needs only these.")
    ] = False,
    decoder: Annotated[
        str, typer.Option(help="How --complete predicts: ridge, nonnegative, or weights (those of the model).")
    ] = "ridge",
    errors: Annotated[
        Path | None, typer.Option(help="CSV file for the error to expect of each column that --complete predicts.")
    ] = None,
    fill: Annotated[
        bool,
        typer.Option("--fill", help="Write INPUT with its missing entries filled; for models with missing entries."),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="File for the answer. Default: standard output.")] = None,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Explain new rows by a model: the representative that each holds most of, how well it fits, and coefficients.

    The coefficients are those of CoSeparableNMF.transform, one column per
    representative. Columns of INPUT are found by name, and others are left out.
    Words of new texts are counted as those of the model were.

    Example:  cosep transform answer new.csv --out coefficients.csv
    """
    with plain_errors():
        from cosep.cli.model_folder import answer_files  # noqa: PLC0415 - help is quick without the numerics
        from cosep.cli.transform import Completion, run, run_blocks  # noqa: PLC0415 - as above

        inputs = {"INPUT": [source], "MODEL": answer_files(model)}
        refuse_inputs("out", out, inputs)
        refuse_inputs("errors", errors, inputs | {"the file of --out": [] if out is None else [out]})
        check_completing(context, complete=complete, fill=fill)
        completion = Completion(decoder, errors) if complete else None
        if is_in_blocks(context, source):
            run_blocks(model, source, out, reading.layer, completion)
            return

        def read(text: dict[str, Any], table: tuple[list[str], dict[str, Any]], missing: str | None) -> "NamedMatrix":
            column = text.get("column") if reading.text_column is None else reading.text_column
            return _reader(source, {**text, "column": column}, reading, model=table, missing=missing)()

        run(model, read, out, completion, fill=fill, as_json=as_json)


@app.command()
@with_options(labelled=LabelOptions, reading=ReadOptions)
def compare(
    source: Input,
    *,
    rows: Rows = None,
    cols: Cols = None,
    scaling: Scaling = "degree",
    methods: Annotated[
        str | None, typer.Option(help="Methods to run, such as faithful,cosfgm,sklearn-nmf. Default: all.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="End a method that takes longer than this, and name it.")] = 10,
    labelled: LabelOptions,
    reading: ReadOptions,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run all methods on INPUT: what they explain, the accuracy of their clusters, and seconds.

    Example:  cosep compare counts.csv --rows 10 --cols 10 --labels classes.txt
    """
    with plain_errors():
        from cosep.cli.compare import run  # noqa: PLC0415 - help is quick without the numerics

        labels = [] if labelled.labels is None else [labelled.labels]
        refuse_inputs("out", None, {"INPUT": [source], "the file of --labels": labels})
        read = _reader(source, reading.of_texts(), reading, labelled)
        names = [] if methods is None else [name.strip() for name in methods.split(",")]
        run(read, (rows, cols), names, scaling_named(scaling), seconds, as_json=as_json, quiet=quiet)


@app.command(name="compile")
def compile_kernels() -> None:
    """Compile the numerical kernels now, so that the first fit does not wait for it.

    They are compiled once, when they are first needed, and kept on disk. Run this
    command when you install cosep or build an image, as the user who will use it,
    or with NUMBA_CACHE_DIR set to a folder for both.

    Example:  cosep compile
    """
    with plain_errors():
        from cosep.cli.compiling import run  # noqa: PLC0415 - help is quick without the numerics

        run()


def _reader(
    source: Path,
    text: dict[str, Any],
    reading: FileOptions,
    labelled: LabelOptions | None = None,
    model: tuple[list[str], dict[str, Any]] | None = None,
    missing: str | None = None,
) -> "Callable[[], NamedMatrix]":
    """Return a function that reads INPUT; for new rows of a model given its columns, and how its table was read.

    ``missing`` says which entries may be missing.
    """

    def read_input() -> "NamedMatrix":
        from cosep.io import TextOptions, read, read_labels  # noqa: PLC0415 - help is quick without the numerics
        from cosep.io.reading import read_for_model  # noqa: PLC0415 - as above

        column = None if labelled is None else labelled.label_column
        options, words = reading.of_file() | {"labels": column}, TextOptions(**text)
        if model is None:
            data = read(source, kind=reading.kind, text=words, missing=missing, **options)
        else:
            data = read_for_model(source, reading.kind, words, options, model, missing)
        if labelled is None or labelled.labels is None:
            return data
        return replace(data, labels=read_labels(labelled.labels, data.row_names))

    return read_input
