"""Run benchmarks and print their bars, without storing rows: ``python -m benchmarks.show [--rows] [--tiny] name ...``.

The tables are those of the page: the summary of a benchmark if it has one, and all rows with ``--rows``. These
benchmarks judge a change of the selector `faithful`, in this order of time:

- ``optimum``: against all pairs of subsets of small matrices;
- ``recovery``: planted rows and columns;
- ``choice``: against other selectors on the published data;
- ``exchanges``: against long local searches on the published data;
- ``selection_time``: seconds beside the version whose folder ``src`` is named by COSEP_BASELINE.
"""

import argparse
from importlib import import_module

from benchmarks.harness import collect, isolated
from benchmarks.page import summary, table


def main(arguments: list[str] | None = None) -> None:
    """Run the named benchmarks one after another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.show", description=__doc__)
    parser.add_argument("names", nargs="+", metavar="name", help="name of a benchmark")
    parser.add_argument("--rows", action="store_true", help="print all rows")
    parser.add_argument("--tiny", action="store_true", help="run on tiny data")
    options = parser.parse_args(arguments)
    for name in options.names:
        rows = isolated(collect)(name, tiny=options.tiny)
        module = import_module(f"benchmarks.{name}")
        short = hasattr(module, "summary")
        if short:
            print(table(module.summary(rows)))
        if options.rows or not short:
            print(table(rows))
        print(summary([(name, bar) for bar in module.bars(rows)]))


if __name__ == "__main__":
    main()
