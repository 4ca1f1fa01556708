"""Short readable forms of records, for a terminal (``repr``) and for a notebook (``_repr_html_``)."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from html import escape
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from cosep.utils.messages import one_line, shown

# A screen: letters of a line, and lines of a table.
WIDTH, MOST_LINES = 79, 12
# Letters of a sentence that are shown.
MOST_SENTENCE = 300
# Letters of a name that a column keeps however narrow the screen is, and of one in a notebook.
FEWEST_LETTERS, HTML_LETTERS = 8, 60
# Numbers of a list that are shown.
MOST_VALUES = 8


class Grid(NamedTuple):
    """A table of short texts.

    Attributes
    ----------
    title : str
    header : tuple of str
    lines : list of tuple of str
        The first lines.
    n_lines : int
        How many there are in all.
    """

    title: str
    header: tuple[str, ...]
    lines: list[tuple[str, ...]]
    n_lines: int


class View(NamedTuple):
    """What is shown of a record.

    Attributes
    ----------
    title : str
    sentences : tuple of str
    grids : tuple of Grid
    """

    title: str
    sentences: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()


class Readable:
    """A record with a readable form; a subclass says in `_view` what is shown."""

    # Columns of tables that are not shown.
    _hidden: tuple[str, ...] = ()

    def _view(self) -> View:
        sentences, grids = [], []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Mapping) and value and all(getattr(one, "ndim", 0) == 1 for one in value.values()):
                grids.append(grid_of(field.name, value, self._hidden))
            elif value is not None:
                sentences.append(f"{field.name}: {brief_value(value)}")
        return View(type(self).__name__, tuple(sentences), tuple(grids))

    def __repr__(self) -> str:
        try:
            return as_text(self._view())
        except Exception:  # noqa: BLE001 - fields of a user may raise anything
            return f"{type(self).__name__}(...)"

    def _repr_html_(self) -> str:
        try:
            return as_html(self._view())
        except Exception:  # noqa: BLE001 - fields of a user may raise anything
            return escape(repr(self))


class ColumnTable(dict[str, Any]):
    """Columns of equal length by name, which print as a table; ``pandas.DataFrame`` takes it as it is."""

    def __repr__(self) -> str:
        return as_text(View("", (), (grid_of("", self),))).strip("\n")

    def _repr_html_(self) -> str:
        return as_html(View("", (), (grid_of("", self),)))


def grid_of(title: str, columns: Mapping[str, Any], hidden: Iterable[str] = ()) -> Grid:
    """Return the first lines of columns of equal length."""
    kept = {name: column for name, column in columns.items() if name not in hidden}
    n_lines = min((len(column) for column in kept.values()), default=0)
    lines = [tuple(_cell(column[i]) for column in kept.values()) for i in range(min(n_lines, MOST_LINES))]
    return Grid(title, tuple(kept), lines, n_lines)


def brief_value(value: Any) -> str:
    """Return a field on one line: a list by its first entries, a matrix by its shape.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep.utils.display import brief_value
    >>> brief_value(np.arange(20)), brief_value(np.ones((3, 2))), brief_value(0.123456)
    ('0, 1, 2, 3, 4, 5, 6, 7, ... (20)', 'ndarray of shape (3, 2)', '0.1235')
    """
    if isinstance(value, (tuple, list)) and all(isinstance(one, (int, float, str)) for one in value):
        value = np.asarray(value, dtype=object)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        listed = ", ".join(map(_cell, value[:MOST_VALUES].tolist()))
        return listed if len(value) <= MOST_VALUES else f"{listed}, ... ({len(value):,})"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ", ".join(
            f"{name} {_cell(one)}" for name, one in zip(value._fields, value, strict=True) if one is not None
        )
    if isinstance(value, (tuple, list, Mapping)):
        return f"{type(value).__name__} of {len(value)}"
    return shown(value) if isinstance(value, Readable) else _cell(value)


def _cell(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{float(value):.4g}"
    if isinstance(value, (int, np.integer)):
        return str(value)
    return one_line(value, 400) if isinstance(value, str) else shown(value)


def shortened(text: str, letters: int) -> str:
    """Return a text without its middle if it is longer than ``letters``: names often differ at the end."""
    if len(text) <= letters:
        return text
    head = (letters - 1) // 2
    return f"{text[:head]}\u2026{text[len(text) - (letters - 1 - head) :]}"


def as_text(view: View) -> str:
    """Return a view as lines that fit a screen."""
    lines = [one_line(view.title, WIDTH)]
    for sentence in view.sentences:
        lines += wrap(one_line(sentence, MOST_SENTENCE), WIDTH, initial_indent="  ", subsequent_indent="    ")
    for grid in view.grids:
        lines += ["", *([grid.title] if grid.title else []), *_text_lines(grid)]
    return "\n".join(lines)


def _text_lines(grid: Grid) -> list[str]:
    """Return a grid as aligned lines; the widest columns become narrower until the lines fit."""
    table = [grid.header, *grid.lines]
    widths = [max(len(line[j]) for line in table) for j in range(len(grid.header))]
    while sum(widths) + 2 * len(widths) > WIDTH and max(widths) > FEWEST_LETTERS:
        widths[int(np.argmax(widths))] -= 1
    right = [all(_is_number(line[j]) for line in grid.lines) for j in range(len(widths))]
    lines = [
        "  "
        + "  ".join(
            f"{shortened(text, width):>{width}}" if number else f"{shortened(text, width):<{width}}"
            for text, width, number in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in table
    ]
    return [*lines, *([f"  ... and {grid.n_lines - len(grid.lines):,} more"] if grid.n_lines > len(grid.lines) else [])]


def _is_number(text: str) -> bool:
    return not text.strip("+-.0123456789e%<> ")


def as_html(view: View) -> str:
    """Return a view as HTML for a notebook; all texts are escaped."""
    sentences = "".join(f"<div>{escape(one_line(sentence, 600))}</div>" for sentence in view.sentences)
    return f"<div><b>{escape(view.title)}</b>{sentences}{''.join(map(_html_table, view.grids))}</div>"


def _html_table(grid: Grid) -> str:
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in grid.header)
    body = "".join(f"<tr>{''.join(map(_html_cell, line))}</tr>" for line in grid.lines)
    more = grid.n_lines - len(grid.lines)
    rest = f"<div>\u2026 and {more:,} more</div>" if more else ""
    caption = f"<caption>{escape(grid.title)}</caption>" if grid.title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _html_cell(text: str) -> str:
    return f'<td style="text-align:left">{escape(shortened(text, HTML_LETTERS))}</td>'
