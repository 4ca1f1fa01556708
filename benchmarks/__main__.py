"""Run benchmarks, store their rows and write the page: ``python -m benchmarks [name ...]``."""

import argparse
from pathlib import Path
from types import ModuleType

from benchmarks import (
    ablation,
    biorthogonal,
    choice,
    command,
    compilation,
    completion,
    defaults,
    degree_share,
    exchanges,
    executors,
    fits,
    grown,
    growth,
    invariance,
    large,
    limits,
    memory,
    methods,
    missing,
    one_model,
    optimum,
    rank,
    rank_noise,
    reading,
    recovery,
    sampling,
    scales,
    selection_time,
    short_texts,
    solvers,
    texts,
    threads,
)
from benchmarks.harness import collect, isolated, say, stamp, write_rows
from benchmarks.page import page

MODULES = (
    defaults,
    degree_share,
    one_model,
    texts,
    short_texts,
    grown,
    ablation,
    choice,
    optimum,
    exchanges,
    recovery,
    selection_time,
    solvers,
    fits,
    growth,
    threads,
    invariance,
    memory,
    command,
    compilation,
    methods,
    biorthogonal,
    completion,
    missing,
    rank,
    rank_noise,
    reading,
    sampling,
    scales,
    executors,
    large,
    limits,
)
ITEMS: dict[str, ModuleType] = {module.__name__.rpartition(".")[2]: module for module in MODULES}


def main(arguments: list[str] | None = None) -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"one of {', '.join(ITEMS)} (default: all)")
    parser.add_argument("--into", type=Path, default=Path(__file__).parent, help="folder for results/ and README.md")
    parser.add_argument("--tiny", action="store_true", help="run everything on tiny data")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(ITEMS):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(ITEMS)}")
    results = options.into / "results"
    for name in options.names or ITEMS:
        say(name)
        rows = isolated(collect)(name, tiny=options.tiny)
        write_rows(results / f"{name}.csv", [row | stamp() for row in rows])
        # After each benchmark, so that an interrupted run leaves a page of what it has measured.
        (options.into / "README.md").write_text(page(ITEMS, results), encoding="utf-8")


if __name__ == "__main__":
    main()
