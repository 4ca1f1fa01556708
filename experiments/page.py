"""The results page of all experiments, with its figures."""

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from benchmarks.harness import read_rows

HEAD = """# The paper, reproduced

J. Pan and M. K. Ng, *Co-Separable Nonnegative Matrix Factorization*, SIAM J. Matrix Anal. Appl. 44(3), 1393-1420, 2023.
`make paper` writes this page from the rows in [results](results); `python -m experiments table_1` runs one item.
Existing rows are kept: delete a file of rows to compute it again. The variable `COSEP_DATA` names the folder of the
data sets. Printed numbers are those of the paper ([printed](printed)), in percent unless noted otherwise. Its seconds
are for MATLAB on an i5-5200, ours for one thread of the machine of the last run.
"""


def page(experiments: Iterable[ModuleType], folder: Path) -> str:
    """Return the page for the rows that are in a folder; figures are drawn into it."""
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    sections = [HEAD]
    for experiment in experiments:
        path = folder / "results" / f"{experiment.__name__.rpartition('.')[2]}.csv"
        rows = read_rows(path) if path.exists() else []
        sections.append(experiment.section(rows, figures) if rows else "")
    return "\n".join(part for part in sections if part)
