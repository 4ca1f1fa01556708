"""Rebuild tables and figures of the paper, keep their rows, write the page: ``python -m experiments [item ...]``."""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType

from benchmarks.harness import say
from experiments.grid import fill
from experiments.page import page

# In the order of the page; several items of the paper come from one experiment.
EXPERIMENTS = {
    "synthetic": ("figure_1", "figure_2"),
    "documents": ("table_1", "table_2", "table_3"),
    "topics": ("table_4", "figure_3"),
    "faces": ("table_5", "figure_4", "figure_5", "figure_6"),
}
HOMES = {item: name for name, items in EXPERIMENTS.items() for item in (name, *items)}


def main(arguments: list[str] | None = None) -> None:
    """Run the experiments that are named, or all; what is on disk already is not run again."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("items", nargs="*", metavar="item", help=f"of {', '.join(HOMES)}; all if none is named")
    parser.add_argument("--into", type=Path, help="folder for rows, figures and page; this one if none is named")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes, of one thread each")
    parser.add_argument("--tiny", action="store_true", help="a miniature of every grid, in a new folder")
    options = parser.parse_args(arguments)
    if unknown := set(options.items) - set(HOMES):
        parser.error(f"no item {', '.join(sorted(unknown))}; there are {', '.join(HOMES)}")
    into = options.into or (Path(mkdtemp(prefix="paper-")) if options.tiny else Path(__file__).parent)
    for name in dict.fromkeys(HOMES[item] for item in options.items or HOMES):
        fill(experiment(name), into / "results" / f"{name}.csv", tiny=options.tiny, jobs=options.jobs)
    (into / "RESULTS.md").write_text(page(map(experiment, EXPERIMENTS), into), encoding="utf-8")
    say(f"written: {into / 'RESULTS.md'}")


def experiment(name: str) -> ModuleType:
    """Return the module of an experiment."""
    return import_module(f"experiments.{name}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        say("stopped; what is done is kept, and the next run goes on from there")
        sys.exit(130)
