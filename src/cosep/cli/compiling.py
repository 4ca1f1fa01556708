"""The command ``cosep compile``: compile the numerical kernels before they are needed."""

import time

from rich.console import Console

from cosep.cli.console import print_lines, table_console
from cosep.estimators.compilation import compile_kernels


def run() -> None:
    """Compile all kernels, and say where they are kept."""
    console, start = Console(stderr=True), time.perf_counter()
    if console.is_terminal:
        print_lines(console, "compiling numerical kernels")
    folder = compile_kernels()
    if folder is None:
        msg = (
            "NUMBA_CACHE_DIR must name a folder that can be written, because neither the folder of the package nor a "
            "cache folder of the user can be; each process would compile again."
        )
        raise ValueError(msg)
    print_lines(table_console(), f"Compiled in {time.perf_counter() - start:.1f} s, and kept in {folder}")
