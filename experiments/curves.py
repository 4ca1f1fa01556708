"""Curves of measured numbers against noise for the planted matrices, and panels of such curves."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cosep.utils.types import Array
from experiments.figures import COLOURS
from experiments.grid import Row

Setting = tuple[str, str]

DASHES = {"CoS-FGM, to the letter": ":", "CoS-FGM, certified": "--", "GS-FGM": "--", "MV-NMF": "--"}
MARKS = {
    "CoS-FGM, to the letter": "P",
    "faithful": "s",
    "SPA+": "^",
    "GSPA": "v",
    "GS-FGM": "v",
    "A-HALS": "D",
    "MV-NMF": "D",
    "BiOR-NM3F": "x",
}


class Curve(NamedTuple):
    """A figure against noise: its mean over the draws, and the standard error of that."""

    noise: Array
    mean: Array
    error: Array

    def upto(self, noise: float) -> "Curve":
        """Return the part at no more than this noise."""
        return Curve(*(part[self.noise <= noise] for part in self))


class Planted:
    """The rows of one setting, for the oblong core or for the square one."""

    def __init__(self, rows: Iterable[Row], setting: Setting, *, square: bool = False) -> None:
        self.rows = [
            row for row in rows if (row["protocol"], row["order"]) == setting and (row["r1"] == row["r2"]) == square
        ]
        self.shape = next(((int(row["r1"]), int(row["r2"])) for row in self.rows), (0, 0))

    def of(self, method: str) -> list[Row]:
        """Return the rows of a method, least noise first."""
        return sorted((row for row in self.rows if row["method"] == method), key=lambda row: float(row["noise"]))

    def curve(self, method: str, name: str) -> Curve:
        """Return a figure of a method against noise; empty if it was not run."""
        rows = self.of(method)
        columns = [[row[part] for row in rows] for part in ("noise", name, f"{name}_sd")]
        noise, mean, deviation = (np.array(column, dtype=np.float64) for column in columns)
        return Curve(noise, mean, deviation / np.sqrt([draws(row) for row in rows]))

    def average(self, method: str, name: str, upto: float) -> float:
        """Return the mean of a figure over all levels up to a noise, nan if there are none."""
        mean = self.curve(method, name).upto(upto).mean
        return float(mean.mean()) if len(mean) else float("nan")

    def about(self, name: str) -> float:
        """Return a figure of the draws themselves, nan if it is not known."""
        return next((float(row[name]) for row in self.of("draws")), float("nan"))


def draws(row: Row) -> int:
    """Return how many draws a row is the mean of."""
    first, last = map(int, row["seeds"].split("-"))
    return last - first + 1


def shown(value: float) -> str:
    """Return a mean as it is printed, or nothing where nothing was run."""
    return f"{value:.1f}" if np.isfinite(value) else ""


def span(one: Planted, method: str, upto: float) -> str:
    """Return the smallest and the largest mean accuracy up to a noise."""
    mean = one.curve(method, "accuracy").upto(upto).mean
    return f"{mean.min():.1f} to {mean.max():.1f}" if len(mean) else "not run"


def in_common(one: Planted, method: str, other: str, upto: float) -> tuple[Array, Array]:
    """Return the mean accuracies of two methods at the levels where both were run."""
    first, second = (one.curve(name, "accuracy").upto(upto) for name in (method, other))
    return first.mean[np.isin(first.noise, second.noise)], second.mean[np.isin(second.noise, first.noise)]


def difference(one: Planted, method: str, other: str, upto: float) -> float:
    """Return by how much the mean accuracies of two methods differ at most."""
    ours, theirs = in_common(one, method, other, upto)
    return float(np.abs(ours - theirs).max(initial=0.0))


def panels(drawn: Figure, count: int, *, share: bool = True) -> list[Axes]:
    """Return panels, two in a row, with noise to the right."""
    grid = drawn.subplots(count // 2, 2, sharex=True, sharey=share, squeeze=False)
    for axes in grid[-1]:
        axes.set_xlabel("noise, relative to the matrix")
    return [axes for row in grid for axes in row]


def lines(axes: Axes, planted: Planted, methods: Iterable[str], name: str, *, power: bool = False) -> None:
    """Draw a figure against noise for each method, with a band of one standard error; powers of ten as numbers."""
    for method in methods:
        noise, mean, error = planted.curve(method, name)
        low, middle, high = (10.0**part if power else part for part in (mean - error, mean, mean + error))
        colour = COLOURS[method.removesuffix(", to the letter")]
        dash, mark = DASHES.get(method, "-"), MARKS.get(method, "o")
        axes.plot(noise, middle, dash, color=colour, marker=mark, markersize=6, linewidth=2, label=method)
        axes.fill_between(noise, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set(xscale="log")


def percent(axes: Axes, title: str, label: str = "", bottom: float = 0.0) -> None:
    """Label a panel in percent."""
    axes.set(title=title, ylabel=label, ylim=(bottom, 100 + 0.02 * (100 - bottom)))


def legend(drawn: Figure) -> None:
    """Put one legend for all panels below them."""
    handles, labels = drawn.axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=4)
