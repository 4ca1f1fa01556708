"""Findings as the JSON summary, and as the table and sentences on the console."""

from math import isnan
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cosep.assess.path import SelectionPath
from cosep.cli.console import print_lines
from cosep.findings.record import Classes, Findings, Topic
from cosep.findings.wording import brief, name_or_number, readable, squeezed
from cosep.records.factorization import Factorization

# Columns and close rows that are listed with a topic.
MOST_COLUMNS, MOST_CLOSEST = 8, 3
# Letters of an anchor or a class; of a name that is worth beginning; and of the column of names, at least.
LONGEST_WORD, MIN_LETTERS, MIN_WIDTH = 40, 8, 24
# What the other columns need, and a column of classes.
OTHER_COLUMNS, CLASS_COLUMN = 52, 10


def summary_of(found: Findings) -> dict[str, Any]:
    """Return sizes, topics and shares for the JSON summary."""
    shares = found.shares
    return {
        "shape": list(found.shape),
        "n_rows": len(found.topics),
        "n_cols": len(found.selected_cols),
        "topics": [
            {
                "row": topic.name,
                "anchors": [anchor.name for anchor in topic.anchors],
                "columns": _columns(topic),
                "others": _closest(topic),
                "size": topic.size,
                "cluster_size": topic.cluster_size,
                "explains": topic.explains,
            }
            for topic in found.topics
        ],
        "unassigned": {
            "count": found.n_unassigned,
            "explained_below": found.min_explained,
            "examples": [entry.name for entry in found.unassigned],
        },
        "scaling": found.scaling,
        "fidelity": shares,
        "bound": found.bound._asdict(),
        "plain_fidelity": found.plain_fidelity._asdict(),
        **_classes(found),
    }


def _classes(found: Findings) -> dict[str, Any]:
    """Return how the clusters agree with known classes, if there are any."""
    classes = found.classes
    if classes is None:
        return {}
    purity = [None if isnan(share) else share for share in classes.purity]
    of_topics = zip(classes.representatives, classes.largest, purity, strict=True)
    return {
        "accuracy": classes.accuracy,
        "accuracy_of_one_cluster": classes.accuracy_of_one_cluster,
        "ari": classes.ari,
        "nmi": classes.nmi,
        "classes": [dict(zip(("representative", "largest", "purity"), one, strict=True)) for one in of_topics],
    }


def path_of(path: SelectionPath, record: Factorization) -> dict[str, Any]:
    """Return what the first selected rows and columns explain, for the JSON summary."""
    return {
        "row_order": np.asarray(record.row_names)[path.row_indices].tolist(),
        "col_order": np.asarray(record.col_names)[path.col_indices].tolist(),
        **{part: getattr(path, part).tolist() for part in ("rows", "cols", "core", "bound")},
    }


def print_findings(found: Findings, console: Console) -> None:
    """Print the topics as a table, and what they explain."""
    first, *others = found.sentences
    print_lines(console, first)
    console.print(_topic_table(found, console.width), highlight=False)
    print_lines(console, *others)
    if found.classes is not None:
        print_lines(console, class_sentence(found.classes))


def class_sentence(classes: Classes) -> str:
    """Return how the clusters agree with known classes."""
    return (
        f"Clusters against the classes: adjusted Rand index {classes.ari:.3f}, normalized mutual information "
        f"{classes.nmi:.3f}, accuracy by the paper's measure {classes.accuracy:.3f} (one single cluster: "
        f"{classes.accuracy_of_one_cluster:.3f})."
    )


def _topic_table(found: Findings, console_width: int) -> Table:
    """Return a line for each topic, and one for the rows that no topic speaks for."""
    nouns, classes = found.nouns, found.classes
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    # Names of representatives are shown in full if there is room; longer ones are cut in the middle.
    longest = max(*(len(_name(topic)) for topic in found.topics), len(nouns.row), MIN_WIDTH)
    others = OTHER_COLUMNS + (0 if classes is None else CLASS_COLUMN)
    width = min(longest, max(console_width - others, MIN_WIDTH))
    table.add_column(f"topic: {nouns.row}\n[dim]and those closest to it[/dim]", no_wrap=True, max_width=width)
    table.add_column(f"anchor {nouns.col}:\n{nouns.cols} that go with it")
    if classes is not None:
        table.add_column("class\n[dim]purity[/dim]")
    table.add_column(nouns.rows, justify="right")
    table.add_column("explains", justify="right")
    for k, topic in enumerate(found.topics):
        anchors = [anchor.name for anchor in topic.anchors]
        named = ", ".join(map(_short, anchors)) if anchors else "none"
        around = ", ".join(_short(name) for name in _columns(topic) if name not in anchors)
        table.add_row(
            f"{escape(squeezed(_name(topic), width))}\n[dim]{escape(_listed(_closest(topic), width))}[/dim]",
            f"[bold]{escape(named)}[/bold]{':' if around else ''} {escape(around)}",
            *([] if classes is None else [_class(classes, k)]),
            f"{topic.size:,}",
            brief(topic.explains),
        )
    more = [] if classes is None else [""]
    table.add_row("all topics", "", *more, f"{found.topics_from(0)[0]:,}", brief(found.shares["refitted"]))
    table.add_row("unassigned", "", *more, f"{found.n_unassigned:,}", "")
    return table


def _name(topic: Topic) -> str:
    return name_or_number(topic.name, topic.index, "row")


def _short(name: str) -> str:
    return squeezed(readable(name), LONGEST_WORD)


def _listed(names: list[str], width: int) -> str:
    """Return as many names as fit on a line below a name; the last that begins there is cut in its middle."""
    line = " "
    for name in map(readable, names):
        before = f"{line} " if line == " " else f"{line}, "
        room = width - len(before)
        if room < MIN_LETTERS and line != " ":
            break
        line = f"{before}{squeezed(name, max(room, MIN_LETTERS))}"
    return line if line.strip() else ""


def _class(classes: Classes, k: int) -> str:
    """Return the class of a representative, and how many of the rows of its topic have the most frequent class."""
    own, largest = (squeezed(readable(name), LONGEST_WORD) for name in (classes.representatives[k], classes.largest[k]))
    if isnan(classes.purity[k]):
        return escape(own)
    most = "" if own == largest else f" {largest}"
    return f"{escape(own)}\n[dim]{brief(classes.purity[k])}{escape(most)}[/dim]"


def _columns(topic: Topic) -> list[str]:
    return [entry.name for entry in topic.columns[:MOST_COLUMNS]]


def _closest(topic: Topic) -> list[str]:
    return [entry.name for entry in topic.closest[:MOST_CLOSEST]]
