"""Options on the command line that do not apply to what was asked for."""

from pathlib import Path

import typer

from cosep.cli.options import BLOCKS_ONLY, MEMORY_ONLY, NOT_GROWING


def is_given(context: typer.Context, name: str) -> bool:
    """Tell whether an option is on the command line."""
    given = context.get_parameter_source(name)
    return given is not None and given.name == "COMMANDLINE"


def check_completing(context: typer.Context, *, complete: bool, fill: bool) -> None:
    """Raise ValueError for options that apply only to completed rows, or not to these."""
    if complete and fill:
        msg = "--complete predicts columns that were not measured, --fill single missing entries; pass one of them."
        raise ValueError(msg)
    for name in ("decoder", "errors"):
        if is_given(context, name) and not complete:
            msg = f"--{name} applies to completed rows only; add --complete."
            raise ValueError(msg)


def check_growing(context: typer.Context) -> None:
    """Raise ValueError for options that do not apply to a selection that grows."""
    for option in context.command.params:
        name = str(option.name)
        if name in NOT_GROWING and is_given(context, name):
            msg = f"{option.opts[0]} does not apply to --grow: {NOT_GROWING[name]}."
            raise ValueError(msg)


def is_in_blocks(context: typer.Context, source: Path) -> bool:
    """Tell whether INPUT is in blocks of rows; raise ValueError for options that do not apply to it."""
    from cosep.io.block_reading import is_blocks  # noqa: PLC0415 - help is quick without the numerics

    blocks = is_blocks(source)
    for option in context.command.params:
        name = str(option.name)
        if not is_given(context, name):
            continue
        if blocks and (name in MEMORY_ONLY or (name == "as_json" and context.command.name == "transform")):
            msg = f"{option.opts[0]} does not apply to blocks of rows, which INPUT is; leave it out."
            raise ValueError(msg)
        if not blocks and name in BLOCKS_ONLY:
            msg = (
                f"{option.opts[0]} is for blocks of rows, a Zarr store or a folder of .npz, .npy or .parquet files, "
                "but INPUT is not one; leave it out."
            )
            raise ValueError(msg)
    return blocks
