"""Formulas as MathML, which browsers draw by themselves: no script, no font and no network."""

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def display(writer: Any, node: nodes.math_block) -> None:
    """Write a formula of its own, which can be scrolled where it is wider than the page."""
    number = f'<span class="eqno">({node["number"]})</span>' if node["number"] else ""
    formula = tex2mathml(node.astext(), as_block=True)
    writer.body.append(writer.starttag(node, "div", CLASS="math-block") + number + formula + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
