"""The table of ``cosep rank``: the recommended pair and the smallest error are marked."""

import io

import numpy as np
from rich.console import Console

from cosep import RankChoice
from cosep.cli.ranks import print_choice


def test_the_recommendation_and_the_smallest_error_are_marked():
    tried = np.array([1, 2, 3])
    table = {"n_rows": tried, "n_cols": tried, "error": np.array([0.5, 0.21, 0.2])}
    table |= {"error_se": np.full(3, 0.02), "stability": np.ones(3)}
    marks = {}
    for n_rows in (2, 3):
        console = Console(file=io.StringIO(), width=120)
        print_choice(RankChoice(n_rows, n_rows, "Enough.", table), console)
        lines = [line.split(maxsplit=5) for line in console.file.getvalue().splitlines() if "0.0200" in line]
        marks[n_rows] = [" ".join(line[5:]).strip() for line in lines]
    assert marks == {2: ["", "recommended", "smallest error"], 3: ["", "", "recommended"]}
