"""A factorization and its matrix enter, one HTML file that needs nothing else leaves."""

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from cosep import plots
from cosep.findings.cards import Record
from cosep.findings.gathering import gather
from cosep.findings.wording import brief, count, percent, readable, squeezed
from cosep.plots.drawing import Figure, template
from cosep.records.factorization import Factorization
from cosep.utils.atomic import replacing
from cosep.utils.extras import optional
from cosep.utils.messages import shown
from cosep.utils.paths import check_path

SCHEMES = ("light", "dark")
# What the page may hold besides plotly.js.
MOST_BYTES = 950_000
# No name can hold it: names have their brackets escaped.
PLOTLY = "<script>/* plotly.js */</script>"
# Names are cut to so many letters, one after the other, until the page is small enough.
NAME_LETTERS = (None, 100, 40, 16)


def write_report(
    path: str | os.PathLike[str],
    factorization: Factorization,
    X: Any,
    *,
    explanation: Any = None,
    stability: Any = None,
    rank: Any = None,
    texts: Sequence[str] | None = None,
    command: str | None = None,
) -> None:
    """Write one self-contained HTML page that explains a factorization to a reader.

    The page works without a network, in light and dark, on paper and on a phone; it holds plotly.js once (4.8 MB) and
    less than 1 MB of its own. Equal input gives equal bytes. It needs plotly and jinja2, which come with
    ``cosep[cli]``.

    Parameters
    ----------
    path : path-like
        Written under exactly this name, and only once it is complete.
    factorization : Factorization
        That of a fitted `CoSeparableNMF`, or made by `mix`; with ``row_names`` and ``col_names``, if there are any.
    X : array-like or sparse of shape (m, n)
        The matrix that it explains.
    explanation : Explanation, optional
        Why each row was selected, and how well all are explained.
    stability : Stability, optional
        How often the selection came back from parts of the data.
    rank : RankChoice, optional
        How many rows and columns to select.
    texts : list of str, optional
        The text that each row was made of.
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
    ...     write_report(page, CoSeparableNMF(4, 3).fit(X).factorization_, X)
    ...     "<h1>" in page.read_text(encoding="utf-8")
    True
    """
    goal = _checked_path(path)
    known = {"explanation": explanation, "stability": stability, "rank": rank}
    for letters in NAME_LETTERS:
        cut = _cut_names(factorization, letters)
        findings = gather(cut, X, **known, texts=texts, command=command)
        page = render(findings | {"letters": letters}, _figures(cut, X, known))
        if len(page.encode("utf-8")) < MOST_BYTES:
            break
    whole = page.replace(PLOTLY, f"<script>{_plotlyjs()}</script>", 1)
    with replacing(goal) as part:
        part.write_bytes(whole.encode("utf-8"))


def _cut_names(factorization: Factorization, letters: int | None) -> Factorization:
    """Return the factorization with shorter names, unless no length is given."""
    if letters is None:
        return factorization
    rows, cols = (
        None if names is None else np.array([squeezed(readable(name), letters) for name in names])
        for names in (factorization.row_names, factorization.col_names)
    )
    return replace(factorization, row_names=rows, col_names=cols)


def _figures(factorization: Factorization, X: Any, known: Record) -> dict[str, Figure]:
    """Draw what is known."""
    names: Record = {"row_names": factorization.row_names, "col_names": factorization.col_names}
    figures = {"core": plots.core(factorization), "matrix": plots.matrix(factorization, X)}
    if known["explanation"] is not None:
        figures["errors"] = plots.errors(known["explanation"], **names)
    if known["stability"] is not None:
        figures["stability"] = plots.stability(known["stability"], **names)
    if known["rank"] is not None:
        figures["rank"] = plots.rank_curve(known["rank"])
    return figures


def render(findings: Record, figures: dict[str, Figure]) -> str:
    """Return the page as text, with a mark where plotly.js belongs."""
    jinja2 = optional("jinja2", "the report", "cli")
    here = files("cosep.report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"percent": percent, "brief": brief, "count": count, "squeezed": squeezed}
    data = {
        "figures": {name: _compact(figure) for name, figure in figures.items()},
        "templates": {scheme: template(scheme) for scheme in SCHEMES},
    }
    script = here.joinpath("script.js").read_text(encoding="utf-8")
    page: str = environment.from_string(here.joinpath("template.html.j2").read_text(encoding="utf-8")).render(
        findings,
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
    from plotly.offline import get_plotlyjs  # noqa: PLC0415 - an extra, there since it drew the figures

    return str(get_plotlyjs()).strip()


def _compact(figure: Figure) -> Record:
    """Return a figure as plain JSON, without what the page says itself; names of a heat map once, not in each cell."""
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


def _embedded(data: Record) -> str:
    """Return JSON that no HTML parser takes for markup."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _trusted(text: str) -> Any:
    """Return our own text, which the template shall not escape."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    return Markup(text)  # noqa: S704 - style, scripts and JSON of ours


def _hash(script: str) -> str:
    """Return the name by which a content security policy lets one script run and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode('utf-8')).digest()).decode('ascii')}"


def _checked_path(path: Any) -> Path:
    goal = check_path(path, "path", "the name of a file")
    if not goal.name or goal.is_dir():
        msg = f"path={shown(str(path))} must be the name of a file, not of a folder."
        raise ValueError(msg)
    return goal
