"""Compare `cosep` with other tools, store the rows and write the page: ``python -m benchmarks.peers [question ...]``.

Without ``--full`` a short grid goes to the folder ``.venv/peers/short``. With it, the rows of this folder's ``results``
are completed, and ``docs/which-tool.md`` is written from them. Rows that are on disk are not measured again; an
interrupted run goes on where it was. Installing the tools takes a few minutes the first time.
"""

import argparse
from pathlib import Path
from types import ModuleType

from threadpoolctl import threadpool_limits

from benchmarks.environments import ENVIRONMENTS
from benchmarks.harness import read_rows, say
from benchmarks.peers import coclusters, panels, pure, representatives, scale, topics
from benchmarks.peers.grid import Plan, fill
from benchmarks.peers.page import write_page

MODULES = (representatives, panels, coclusters, topics, pure, scale)
QUESTIONS: dict[str, ModuleType] = {module.__name__.rpartition(".")[2]: module for module in MODULES}
RESULTS, DOCS = Path(__file__).parent / "results", Path(__file__).parents[2] / "docs"
SHORT = ENVIRONMENTS / "short"


def main(arguments: list[str] | None = None) -> None:
    """Measure what is missing of the named questions, or of all, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="question", help=f"one of {', '.join(QUESTIONS)} (default: all)")
    parser.add_argument("--full", action="store_true", help="measure the full grid, and write docs/which-tool.md")
    parser.add_argument(
        "--only", action="append", default=[], metavar="TOOL", help="only this tool, such as cosep; can be repeated"
    )
    parser.add_argument("--again", action="store_true", help="measure again what is on disk")
    parser.add_argument("--page", action="store_true", help="measure nothing, only write the page")
    parser.add_argument("--into", type=Path, help="another folder for rows and page")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(QUESTIONS):
        parser.error(f"no question {', '.join(sorted(unknown))}; there are {', '.join(QUESTIONS)}")
    plan = Plan(options.full, tuple(options.only), options.again)
    results = RESULTS if options.full else SHORT
    docs = DOCS if options.full else SHORT
    if options.into:
        results, docs = options.into / "results", options.into
    try:
        with threadpool_limits(1):
            for name in [] if options.page else options.names or QUESTIONS:
                fill(QUESTIONS[name], results / f"{name}.csv", plan)
    except KeyboardInterrupt:
        say("interrupted: the rows so far are kept, and the same command goes on from there")
        raise SystemExit(130) from None
    rows = {name: read_rows(path) if (path := results / f"{name}.csv").exists() else [] for name in QUESTIONS}
    say(f"wrote {write_page(rows, docs)}")


if __name__ == "__main__":
    main()
