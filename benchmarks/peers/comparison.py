"""What the rows of a question say: means over sets, our rank, and the margin to the best."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Bar, Row
from benchmarks.peers.tools import DEFAULT, OURS

# A figure that counts as first: within this share of the best.
NEAR = 0.99
# Shorter times, in seconds, and smaller amounts of memory, in MB, count as this much.
LEAST = 1e-3
# Better than random choices, but not tools.
FLOORS = ("random rows", "random columns", "most variable")


class Figure(NamedTuple):
    """A figure of a question: its column, what it is, our setting that it judges, and whether less is better."""

    name: str
    what: str
    setting: str = DEFAULT
    less: bool = False


Contestant = tuple[str, str]


def contestant(row: Row) -> Contestant:
    """Return tool and setting."""
    return str(row["tool"]), str(row["setting"])


def set_of(row: Row) -> str:
    """Return the name of a set, with what was done to it."""
    form = row.get("form", "data")
    return str(row["set"]) if form == "data" else f"{row['set']}, {form}"


def table_of(rows: Iterable[Row], name: str) -> dict[Contestant, dict[str, float]]:
    """Return the values of a figure by contestant and set."""
    found: dict[Contestant, dict[str, float]] = {}
    for row in rows:
        found.setdefault(contestant(row), {})
        if name in row:
            found[contestant(row)][set_of(row)] = float(row[name])
    return found


class Standing(NamedTuple):
    """How one contestant does: its mean over the sets that it finished, and ours on the same sets."""

    who: Contestant
    sets: int
    mean: float
    ours: float

    @property
    def margin(self) -> float:
        """Return how far the contestant is above ours."""
        return self.mean - self.ours


def standings(rows: list[Row], figure: Figure) -> list[Standing]:
    """Return all contestants with the figure, the best margin to ours first."""
    values = table_of(rows, figure.name)
    ours = values.get((OURS, figure.setting), {})
    found = []
    for who, of_set in values.items():
        common = [name for name in of_set if name in ours]
        if common:
            means = (float(np.mean([some[name] for name in common])) for some in (of_set, ours))
            found.append(Standing(who, len(common), *means))
    return sorted(found, key=lambda one: one.margin if figure.less else -one.margin)


def others(ranking: Iterable[Standing], n_sets: int) -> list[Standing]:
    """Return the contestants that are not ours, are tools, and have all sets."""
    return [one for one in ranking if one.who[0] != OURS and one.who[0] not in FLOORS and one.sets == n_sets]


def by_set(rows: list[Row], figure: Figure) -> list[Row]:
    """Return one line per set: our figure and rank, the best other tool, and the margin."""
    values = table_of(rows, figure.name)
    lines: list[Row] = []
    for name, ours in values.get((OURS, figure.setting), {}).items():
        found = {who: of[name] for who, of in values.items() if who[0] != OURS and who[0] not in FLOORS and name in of}
        lines.append({"set": name, "cosep": ours, **against(ours, found, less=figure.less)})
    return lines


def against(ours: float, found: dict[Contestant, float], *, less: bool) -> Row:
    """Return our rank among other contestants, the best of them, and the margin to it."""
    if not found:
        return {}
    sign = -1.0 if less else 1.0
    best = max(found, key=lambda who: sign * found[who])
    better = sum(sign * value > sign * ours for value in found.values())
    return {
        "rank": f"{1 + better} of {1 + len(found)}",
        "best other": label(best),
        "its figure": found[best],
        "margin": ours - found[best],
    }


def label(who: Contestant) -> str:
    """Return tool and setting as text."""
    return who[0] if who[1] == DEFAULT else f"{who[0]} ({who[1]})"


def bar_of(rows: list[Row], figure: Figure, near: float, accepts: Callable[[Standing], bool] = lambda _: True) -> Bar:
    """Return our mean as a share of the best other mean over the same sets."""
    ranking = standings(rows, figure)
    ours = next((one for one in ranking if one.who == (OURS, figure.setting)), None)
    rivals = [one for one in others(ranking, ours.sets if ours else 0) if accepts(one)]
    what = f"{figure.what}: mean of {label((OURS, figure.setting))} as a share of the best other tool's"
    if ours is None or not rivals:
        return Bar(what, None, near, at_least=True)
    return Bar(f"{what}, {label(rivals[0].who)}", ours.mean / rivals[0].mean, near, at_least=True)


def best_decoder(rows: list[Row], decoders: Iterable[str]) -> str:
    """Return the decoder with the largest mean over all panels and sets: the best for all."""
    means: dict[str, Any] = {
        name: np.mean([row[name] for row in rows if name in row] or [-np.inf]) for name in decoders
    }
    return max(means, key=lambda name: float(means[name]))


def costs(rows: list[Row], who: Contestant, setting: str = DEFAULT) -> tuple[float, float]:
    """Return the geometric mean of seconds as a multiple of ours, and of megabytes, on the sets that both finished."""
    ratios = []
    for name in ("s", "mb"):
        values = table_of(rows, name)
        theirs, ours = values.get(who, {}), values.get((OURS, setting), {})
        both = [(max(theirs[key], LEAST), max(ours[key], LEAST)) for key in theirs if key in ours]
        ratios.append(float(np.exp(np.mean(np.log([a / b for a, b in both])))) if both else float("nan"))
    return ratios[0], ratios[1]
