"""The report: one self-contained HTML page about a factorization."""

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from cosep import plots
from cosep.findings.describe import describe, nouns_of, with_names
from cosep.findings.look_up import MOST_KEPT, LookUp, look_up
from cosep.findings.record import Findings, Nouns
from cosep.findings.topics import topics_of
from cosep.findings.wording import brief, percent, readable, squeezed
from cosep.plots.drawing import Figure, label, template
from cosep.records.factorization import Factorization
from cosep.records.filled_data import matrix_of
from cosep.records.model import factorization_of
from cosep.report.content import page_content
from cosep.report.finder import finder_content, named_cols, named_rows
from cosep.report.naming import Content
from cosep.utils.atomic import replacing
from cosep.utils.columns import flat
from cosep.utils.extras import optional
from cosep.utils.messages import counted, shown
from cosep.utils.paths import check_path

# The words of figures for rows and columns.
WORDS = re.compile(r"\b(?:row|column)s?\b")
SCHEMES = ("light", "dark")
# The largest size of the page without plotly.js.
MOST_BYTES = 950_000
# Stands for plotly.js. No name can contain it: the brackets of names are escaped.
PLOTLY = "<script>/* plotly.js */</script>"
# If the page is too large, names are cut to this many letters, and this many rows and columns can be looked up: the
# first pair that makes it small enough.
ROOM = ((None, MOST_KEPT), (100, MOST_KEPT), (40, 1000), (16, 500), (16, 0))


def write_report(  # noqa: PLR0913 - all that a page can show
    X: Any,
    model: Any,
    path: str | os.PathLike[str],
    *,
    explanation: Any = None,
    stability: Any = None,
    rank: Any = None,
    selection_path: Any = None,
    texts: Sequence[str] | None = None,
    labels: Any = None,
    title: str | None = None,
    nouns: tuple[str, str] | None = None,
    command: str | None = None,
) -> None:
    """Write one self-contained HTML page that explains a factorization to a reader.

    The page works without a network, in light and dark mode, on paper and on a phone. It contains plotly.js (4.8 MB)
    and less than 1 MB besides. Equal input gives equal bytes. Writing it needs plotly and jinja2, which come with
    ``cosep[cli]``.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
        The matrix that the model was fitted to.
    model : fitted CoSeparableNMF or Factorization
        What was fitted, or what `mix` returned. The page uses its names, or those of X; it shows ``meta["note"]`` of a
        factorization at the top, and lists ``meta["warnings"]``.
    path : path-like
        The name of the file, which appears only when it is complete.
    explanation : Explanation, optional
        What `explain` returns: why each row was selected, and how well every row and column is explained.
    stability : Stability, optional
        What `stability` returns: how often the same was selected from parts of the data.
    rank : RankChoice, optional
        What `choose_rank` returns: how many rows and columns to select.
    selection_path : SelectionPath, optional
        What `selection_path` returns: how much the first of the selected rows and columns explain.
    texts : list of str, optional
        The text of each row, for data that counts words.
    labels : array-like of length m, optional
        The class of each row, to compare the topics with.
    title : str, optional
        What the data are called. Default: ``meta["title"]``, or the numbers of topics, rows and columns.
    nouns : tuple of str, optional
        What a row and a column are called, such as ``("country", "product")``. Default: ``meta["nouns"]``, or "row" and
        "column".
    command : str, optional
        The command that makes this page again.

    Raises
    ------
    ValueError
        If a part belongs to another matrix or another selection.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from cosep import CoSeparableNMF, make_coseparable
    >>> from cosep.report import write_report
    >>> X, _ = make_coseparable(60, 40, 4, 3, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     page = Path(folder) / "report.html"
    ...     write_report(X, CoSeparableNMF(4, 3).fit(X), page)
    ...     "<h1>" in page.read_text(encoding="utf-8")
    True
    """
    goal = _checked_path(path)
    factorization = with_title(factorization_of(model, X), title, nouns)
    found = describe(X, factorization, labels=labels)
    known = {"explanation": explanation, "stability": stability, "rank": rank, "selection_path": selection_path}
    write_page(goal, found, factorization, X, **known, texts=texts, command=command)


def with_title(factorization: Any, title: Any, nouns: Any) -> Any:
    """Return the factorization with a title and nouns, if they are given, in its ``meta``."""
    given: Content = {}
    if title is not None:
        if not isinstance(title, str) or not title.strip():
            msg = f"title={shown(title)} must be the title of the page, or None."
            raise ValueError(msg)
        given["title"] = title
    if nouns is not None:
        known = flat(nouns)
        if (
            known is None
            or len(known) != len(Nouns())
            or not all(isinstance(one, str) and one.strip() for one in known)
        ):
            msg = f"nouns={shown(nouns)} must be what a row and a column are called, such as ('document', 'word')."
            raise ValueError(msg)
        given["nouns"] = [str(one) for one in known]
    if not given or not isinstance(factorization, Factorization):
        return factorization
    return replace(factorization, meta={**factorization.meta, **given})


def write_page(
    goal: Path,
    found: Findings,
    factorization: Factorization,
    X: Any,
    *,
    explanation: Any = None,
    stability: Any = None,
    rank: Any = None,
    selection_path: Any = None,
    texts: Sequence[str] | None = None,
    command: str | None = None,
) -> None:
    """Write the page of findings that are at hand; see `write_report` for the other parameters."""
    record = with_names(factorization)
    known = {"explanation": explanation, "stability": stability, "rank": rank, "selection_path": selection_path}
    look_ups = _look_ups(found, record, X)
    for letters, most in ROOM:
        content = page_content(found, record, **known, texts=texts, command=command, letters=letters)
        finder = finder_content(found, look_ups, (record.row_names, record.col_names), letters, most)
        page = render(content, _figures(_cut_names(record, letters), X, known), finder)
        if len(page.encode("utf-8")) < MOST_BYTES:
            break
    whole = page.replace(PLOTLY, f"<script>{_plotlyjs()}</script>", 1)
    with replacing(goal) as part:
        part.write_bytes(whole.encode("utf-8"))


def _look_ups(found: Findings, record: Factorization, X: Any) -> tuple[LookUp, LookUp]:
    """Return what to say of the rows and of the columns that can be looked up."""
    M = matrix_of(X, record)
    return (
        look_up(topics_of(record), found.rows, M, named_rows(found)),
        look_up(topics_of(record.T), found.cols, M.T, named_cols(found)),
    )


def _cut_names(factorization: Factorization, letters: int | None) -> Factorization:
    """Return the factorization with names of at most this many letters, unless None."""
    if letters is None:
        return factorization
    rows, cols = (
        np.array([squeezed(readable(name), letters) for name in np.asarray(names)])
        for names in (factorization.row_names, factorization.col_names)
    )
    return replace(factorization, row_names=rows, col_names=cols)


def _figures(factorization: Factorization, X: Any, known: Content) -> dict[str, Figure]:
    """Return the figures of all that is known."""
    names: Content = {"row_names": factorization.row_names, "col_names": factorization.col_names}
    figures = {"core": plots.core(factorization), "matrix": plots.matrix(X, factorization)}
    if known["explanation"] is not None:
        figures["errors"] = plots.errors(known["explanation"], **names)
    if known["stability"] is not None:
        figures["stability"] = plots.stability(known["stability"], **names)
    if known["selection_path"] is not None:
        figures["path"] = plots.selection_path(known["selection_path"], **names)
    if known["rank"] is not None:
        figures["rank"] = plots.rank_curve(known["rank"])
    nouns = nouns_of(factorization)
    return figures if nouns == Nouns() else {name: _with_nouns(one, nouns) for name, one in figures.items()}


def _with_nouns(figure: Figure, nouns: Nouns) -> Figure:
    """Return a figure whose legend, titles and note call rows and columns what they are."""
    called = {"row": nouns.row, "rows": nouns.rows, "column": nouns.col, "columns": nouns.cols}

    def renamed(text: str, form: Callable[[str], str] = str) -> str:
        return WORDS.sub(lambda word: form(called[word[0]]), text)

    for trace in figure.data:
        for part in ("name", "hovertemplate"):
            if trace[part]:
                trace[part] = renamed(trace[part], label)
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        if axis.title.text:
            axis.title.text = renamed(axis.title.text, label)
    title, note = renamed(figure.layout.title.text), renamed(figure.layout.meta["note"])
    figure.update_layout(title={"text": title}, meta={"note": note})
    return figure


def render(content: Content, figures: dict[str, Figure], finder: Content) -> str:
    """Return the page as text, with a mark in the place of plotly.js."""
    jinja2 = optional("jinja2", "the report", "cli")
    here = files("cosep.report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"percent": percent, "brief": brief, "count": counted, "squeezed": squeezed}
    data = {
        "figures": {name: _compact(figure) for name, figure in figures.items()},
        "finder": finder,
        "templates": {scheme: template(scheme) for scheme in SCHEMES},
    }
    script = here.joinpath("script.js").read_text(encoding="utf-8")
    page: str = environment.from_string(here.joinpath("template.html.j2").read_text(encoding="utf-8")).render(
        content,
        style=_trusted(here.joinpath("style.css").read_text(encoding="utf-8")),
        data=_trusted(_embedded(data)),
        captions={name: figure.layout.meta["note"] for name, figure in figures.items()},
        titles={name: figure.layout.title.text for name, figure in figures.items()},
        hashes=[_hash(text) for text in (_plotlyjs(), script)],
        plotly=_trusted(PLOTLY),
        script=_trusted(script),
    )
    return page


def _plotlyjs() -> str:
    return str(optional("plotly.offline", "the report", "cli").get_plotlyjs()).strip()


def _compact(figure: Figure) -> Content:
    """Return a figure as plain JSON without its title and note; names of a heat map once, not in each cell."""
    names = None
    traces = [trace for trace in figure.data if trace.type == "heatmap"]
    if traces:
        cells = np.asarray(traces[0].customdata)
        names = {"rows": cells[:, 0, 0].tolist(), "cols": cells[0, :, 1].tolist()}
        traces[0].customdata = None
    plain = json.loads(figure.to_json())
    for key in ("title", "template", "meta"):
        plain["layout"].pop(key, None)
    return {"data": plain["data"], "layout": plain["layout"], "names": names}


def _embedded(data: Content) -> str:
    """Return JSON that no HTML parser takes for markup."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _trusted(text: str) -> Any:
    """Return our own style, script or JSON, which the template must not escape."""
    return optional("markupsafe", "the report", "cli").Markup(text)


def _hash(script: str) -> str:
    """Return the hash by which a content security policy allows exactly this script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode('utf-8')).digest()).decode('ascii')}"


def _checked_path(path: Any) -> Path:
    goal = check_path(path, "path", "the name of a file")
    if not goal.name or goal.is_dir():
        msg = f"path={shown(str(path))} must be the name of a file, not of a folder."
        raise ValueError(msg)
    return goal
