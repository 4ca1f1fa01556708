"""The two figures of the page: quality against time, and memory against rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.harness import Row, read_rows
from benchmarks.peers.comparison import FLOORS, Figure, contestant, costs, label, standings
from benchmarks.peers.tools import DEFAULT, OURS
from experiments.figures import figure

PALETTE = (
    "#1b4f72",
    "#e59400",
    "#1e8449",
    "#af7ac5",
    "#784212",
    "#17becf",
    "#7d6608",
    "#566573",
    "#ec7063",
    "#58d68d",
    "#2e86c1",
    "#b7950b",
    "#000000",
    "#aeb6bf",
    "#ff9896",
    "#9467bd",
)
OURS_COLOUR = "#d1495b"
# Figures below this many points under ours are not shown: they would hide the others.
LOWEST = -30.0


def colours_of(tools: list[str]) -> dict[str, str]:
    """Return one colour for each tool, in all panels."""
    rest = [name for name in dict.fromkeys(tools) if name != OURS]
    return {OURS: OURS_COLOUR} | {name: PALETTE[at % len(PALETTE)] for at, name in enumerate(rest)}


def quality_against_time(rows: Mapping[str, list[Row]], figures: Mapping[str, Figure], path: Path) -> None:
    """Draw the difference to ours against the time as a multiple of ours, one panel per question."""
    shown = [name for name in figures if rows.get(name)]
    tools = [str(row["tool"]) for name in shown for row in rows[name] if row["tool"] not in FLOORS]
    colours = colours_of(tools)
    with figure(path, (13.0, 9.0)) as drawn:
        axes = drawn.subplots(2, 2).ravel()
        for ax, name in zip(axes, shown, strict=False):
            panel(ax, rows[name], figures[name], colours)
            ax.set_title(f"{name}: {figures[name].what}", fontsize=12)
        for ax in axes[len(shown) :]:
            ax.set_axis_off()
        handles = [
            axes[0].scatter(
                [], [], color=colour, marker="*" if tool == OURS else "o", s=120 if tool == OURS else 45, label=tool
            )
            for tool, colour in colours.items()
        ]
        drawn.legend(handles=handles, loc="outside lower center", ncols=6, fontsize=11)


def panel(ax: Any, rows: list[Row], what: Figure, colours: dict[str, str]) -> None:
    """Draw one question."""
    for one in standings(rows, what):
        tool = one.who[0]
        if tool in FLOORS or one.margin < LOWEST:
            continue
        seconds = costs(rows, one.who, what.setting)[0]
        ours = one.who == (OURS, what.setting)
        filled = one.who[1] == DEFAULT or ours
        ax.scatter(
            seconds,
            one.margin,
            marker="*" if tool == OURS else "o",
            s=260 if ours else 60,
            facecolors=colours[tool] if filled else "none",
            edgecolors=colours[tool],
            linewidths=1.6,
            zorder=3,
        )
    ax.axhline(0, color=OURS_COLOUR, linewidth=0.8)
    ax.set_xscale("log")
    ax.set_xlabel("seconds, as a multiple of those of cosep")
    ax.set_ylabel("difference to cosep")


def memory_against_rows(rows: list[Row], blocks: list[Row], path: Path) -> None:
    """Draw the memory of each tool for more and more rows, and where it stops."""
    colours = colours_of([str(row["tool"]) for row in rows])
    lines: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        lines.setdefault(contestant(row), []).append(row)
    with figure(path, (11.0, 6.5)) as drawn:
        ax = drawn.subplots()
        for who, of in lines.items():
            done = [row for row in of if "mb" in row]
            style: Any = {"color": colours[who[0]], "linestyle": "-" if who[1] == DEFAULT else "--"}
            width = 3.0 if who[0] == OURS else 1.4
            ax.plot(
                [row["rows"] for row in done],
                [max(row["mb"], 1.0) for row in done],
                marker="o",
                linewidth=width,
                label=label(who),
                **style,
            )
            if done and len(done) < len(of):
                ax.plot(
                    done[-1]["rows"],
                    max(done[-1]["mb"], 1.0),
                    marker="x",
                    markersize=14,
                    markeredgewidth=3,
                    color=colours[who[0]],
                )
        if blocks:
            ax.plot(
                [row["rows"] for row in blocks],
                [row["memory_mb"] for row in blocks],
                color=OURS_COLOUR,
                linestyle=":",
                linewidth=3,
                marker="s",
                label="cosep, in blocks (2000 sparse columns)",
            )
        limits = [row["limit_mb"] for row in rows if "limit_mb" in row]
        if limits:
            ax.axhline(limits[0], color="#17202a", linewidth=0.8, linestyle=":")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("rows")
        ax.set_ylabel("MB in addition to the data")
        drawn.legend(loc="outside right upper", fontsize=10)


def blocks_rows(path: Path) -> list[Row]:
    """Return the rows of our fits to blocks of rows with 2000 columns, from the benchmark `large`."""
    held = read_rows(path) if path.exists() else []
    return [row for row in held if row.get("method") == "cosep, in blocks" and row.get("columns") == 2000]
