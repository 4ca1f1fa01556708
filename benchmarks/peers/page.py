"""The page "cosep or X?", from the rows of all questions alone."""

import inspect
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from benchmarks.harness import Bar, Row
from benchmarks.page import summary, table
from benchmarks.peers import coclusters, panels, pure, representatives, scale, topics
from benchmarks.peers.comparison import (
    NEAR,
    Contestant,
    Figure,
    against,
    bar_of,
    best_decoder,
    by_set,
    contestant,
    costs,
    label,
    others,
    standings,
)
from benchmarks.peers.figures import blocks_rows, memory_against_rows, quality_against_time
from benchmarks.peers.tools import DEFAULT, OURS
from benchmarks.peers.words import CHOOSE, HEAD, HOW, MISSED, TITLES

NAME = "which-tool.md"
BLOCKS = Path(__file__).parents[1] / "results" / "large.csv"
ROWS_FOLDER = "../benchmarks/peers/results"
QUESTIONS: dict[str, ModuleType] = {
    module.__name__.rpartition(".")[2]: module for module in (representatives, panels, coclusters, topics, pure, scale)
}


def figures_of(name: str, rows: list[Row]) -> tuple[Figure, ...]:
    """Return the figures of a question, the main one first."""
    if name == "representatives":
        return (
            Figure("degree", "share explained in the default norm, %"),
            Figure("plain", "share explained in the plain norm, %", "scaling=None"),
            Figure("degree_nearest", "rows of the class of their nearest representative, %"),
            Figure("agreement", "representatives chosen again from 80 % of the rows, %"),
        )
    if name == "panels":
        first = best_decoder(rows, panels.DECODERS)
        rest = [decoder for decoder in panels.DECODERS if decoder != first]
        return tuple(Figure(one, f"mean R^2 by {one}", "predictive") for one in (first, *rest))
    if name == "coclusters":
        return tuple(Figure(one, f"{TITLES[one]} of the classes") for one in coclusters.FIGURES)
    if name == "topics":
        return tuple(Figure(one, TITLES[one]) for one in topics.FIGURES)
    if name == "pure":
        return (Figure("angle", "mean angle to the true spectra, degrees", "MinVolNMF", less=True),)
    return (Figure("fidelity", "share explained, %"),)


def write_page(rows: Mapping[str, list[Row]], folder: Path) -> Path:
    """Write the page and its figures; return the path of the page."""
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    drawn = {name: figures_of(name, rows[name])[0] for name in ("representatives", "panels", "coclusters", "topics")}
    quality_against_time(rows, drawn, images / "which-tool-quality.png")
    memory_against_rows(rows["scale"], blocks_rows(BLOCKS), images / "which-tool-memory.png")
    path = folder / NAME
    path.write_text(text_of(rows), encoding="utf-8")
    return path


def text_of(rows: Mapping[str, list[Row]]) -> str:
    """Return the page."""
    bars = bars_of(rows)
    parts = [
        HEAD,
        "## The answer\n",
        table(overview(rows)),
        guide(rows),
        "## How far from the best\n",
        HOW,
        summary(bars),
    ]
    parts += [missed(bars), images_of()]
    parts += [section(name, module, rows[name]) for name, module in QUESTIONS.items()]
    return "\n".join([*parts, provenance(rows)])


def overview(rows: Mapping[str, list[Row]]) -> list[Row]:
    """Return one line per question and figure: ours, our rank, the best other tool and the margin."""
    lines: list[Row] = []
    for name in QUESTIONS:
        for figure in figures_of(name, rows[name]):
            ranking = standings(rows[name], figure)
            ours = next((one for one in ranking if one.who == (OURS, figure.setting)), None)
            if ours is None:
                continue
            rivals = {one.who: one.mean for one in others(ranking, ours.sets)}
            line = {
                "question": f"[{name}](#{name})",
                "figure": figure.what + ("" if figure.setting == "default" else f" (ours: `{figure.setting}`)"),
                "sets": ours.sets,
                "cosep": ours.mean,
            }
            beside = against(ours.mean, rivals, less=figure.less)
            lines.append(line | {name: beside[name] for name in ("rank", "best other", "margin") if name in beside})
    return lines


def guide(rows: Mapping[str, list[Row]]) -> str:
    """Return one line per tool: its main figures less ours, its cost, and when to choose it."""
    lines: dict[str, Row] = {}
    for name in QUESTIONS:
        figure = figures_of(name, rows[name])[0]
        best: set[str] = set()
        for one in standings(rows[name], figure):
            tool = one.who[0]
            if tool not in CHOOSE or tool in best:
                continue
            best.add(tool)
            line = lines.setdefault(tool, {"tool": tool, **dict.fromkeys(QUESTIONS, ""), "choose it": CHOOSE[tool]})
            sign = -1 if figure.less else 1
            margin = f"{one.margin:+.3f}" if name == "panels" else f"{one.margin:+.1f}"
            line[name] = f"**{margin}**" if sign * one.margin > 0 else margin
    text = (
        "\nEach figure is the difference of the best setting of a tool to `cosep`, in the first figure of the question,"
        " on the sets that the tool finished; **bold** if the tool is better.\n"
    )
    return f"{text}\n{table([lines[tool] for tool in CHOOSE if tool in lines])}"


def bars_of(rows: Mapping[str, list[Row]]) -> list[tuple[str, Bar]]:
    """Return the bars of the comparison."""
    first, second = figures_of("representatives", rows["representatives"])[:2]
    decoded, shared = figures_of("panels", rows["panels"])[0], figures_of("coclusters", rows["coclusters"])[0]
    labels_columns = {contestant(row) for row in rows["coclusters"] if "column_accuracy" in row}
    return [
        ("representatives", bar_of(rows["representatives"], first, NEAR)),
        ("representatives", bar_of(rows["representatives"], second, NEAR)),
        ("panels", bar_of(rows["panels"], decoded, NEAR)),
        ("coclusters", bar_of(rows["coclusters"], shared, 1.0, lambda one: one.who in labels_columns)),
    ]


def missed(bars: list[tuple[str, Bar]]) -> str:
    """Return why bars were missed."""
    names = dict.fromkeys(name for name, bar in bars if bar.verdict == "missed")
    return "".join(f"\n**Missed: {name}.** {MISSED[name]}\n" for name in names)


def images_of() -> str:
    """Return the two figures."""
    return (
        "\n## Quality against time\n\n![Quality against time](images/which-tool-quality.png)\n\n"
        "Every tool and setting, as the mean difference to `cosep` (the large star) on the sets that it finished;"
        " defaults are filled. Up is better, left is faster. Tools that are more than 30 points lower are left out.\n\n"
        "## Memory against rows\n\n![Memory against rows](images/which-tool-memory.png)\n\n"
        "A cross is the last size that a tool finished within the limits; see [scale](#scale). The dotted line of"
        " `cosep` is another benchmark, [large](../benchmarks/README.md#large): sparse rows from disk, in blocks.\n"
    )


def section(name: str, module: ModuleType, rows: list[Row]) -> str:
    """Return what is measured in a question, the means of all tools, and the sets one by one."""
    text = f"\n## {name}\n\n{inspect.getdoc(module)}\n"
    if not rows:
        return f"{text}\nNot measured yet.\n"
    text += f"\nRows: [{name}.csv]({ROWS_FOLDER}/{name}.csv).\n"
    figures = figures_of(name, rows)
    parts = [text, table(stops(rows) if name == "scale" else means(rows, figures))]
    if name != "scale":
        parts += [f"{figures[0].what}, set by set:\n", table(by_set(rows, figures[0]))]
    return "\n".join([*parts, notes(rows)])


def means(rows: list[Row], figures: tuple[Figure, ...]) -> list[Row]:
    """Return one line per contestant with the means over the sets that it finished, the best first."""
    main = figures[0]
    places = [one.who for one in standings(rows, main)]
    unfinished = [who for who in dict.fromkeys(contestant(row) for row in rows) if who not in places]
    lines: list[Row] = []
    for who in [*places, *unfinished]:
        line: Row = {"tool": bold(who, main), "sets": sum(main.name in row for row in rows if contestant(row) == who)}
        for figure in figures:
            one = next((one for one in standings(rows, figure) if one.who == who), None)
            if one is not None:
                line[figure.name] = round(one.mean, 3)
                if figure is main:
                    line["less ours"] = f"{one.margin:+.3g}"
        times, megabytes = costs(rows, who, main.setting)
        lines.append(
            line | {"time / ours": round(times, 2), "memory / ours": round(megabytes, 2)} if who in places else line
        )
    return lines


def bold(who: Contestant, figure: Figure) -> str:
    """Return tool and setting; that of ours which is judged is bold."""
    return f"**{label(who)}**" if who == (OURS, figure.setting) else label(who)


def stops(rows: list[Row]) -> list[Row]:
    """Return the time and memory of each tool at each size, and what stopped it."""
    lines: dict[Contestant, Row] = {}
    explained: dict[Contestant, float] = {}
    for row in rows:
        line = lines.setdefault(contestant(row), {"tool": label(contestant(row))})
        size = f"{row['rows']:,}".replace(",", " ")
        line[f"{size} rows"] = f"{row['s']:.3g} s, {row['mb']:.0f} MB" if "s" in row else row["note"]
        if "fidelity" in row:
            explained[contestant(row)] = round(float(row["fidelity"]), 2)
    return [line | {"explains at its largest size, %": explained.get(who, "")} for who, line in lines.items()]


def notes(rows: list[Row]) -> str:
    """Return why cells have no figures, once for each tool and reason."""
    why: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if "note" in row:
            why.setdefault((label(contestant(row)), str(row["note"])), []).append(str(row["set"]))
    return "".join(f"- {who}: {note} ({', '.join(dict.fromkeys(sets))})\n" for (who, note), sets in why.items())


def provenance(rows: Mapping[str, list[Row]]) -> str:
    """Return the versions of the tools, and where the rows were measured."""
    every = [row for some in rows.values() for row in some]
    versions = sorted({str(row["version"]) for row in every}, key=str.lower)
    made: dict[str, set[str]] = {}
    for row in every:
        place = ", ".join(str(row[name]) for name in ("cosep", "date", "machine", "software"))
        made.setdefault(place, set()).add(str(row["commit"]))
    lines = "".join(f"{place}; commits {', '.join(sorted(of))}.\n" for place, of in sorted(made.items()))
    return f"\n## Versions\n\n{', '.join(versions)}.\n\n{lines}"


__all__ = ["DEFAULT", "figures_of", "text_of", "write_page"]
