"""Formulas as inline SVG, set by matplotlib: no script, no font, no LaTeX and no network, and alike in all browsers."""

import re
from html import escape
from typing import Any

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import text_to_path
from sphinx.application import Sphinx

# What matplotlib calls otherwise than LaTeX.
OTHER_NAMES = {
    r"\\tfrac(?![A-Za-z])": r"\\frac",
    r"\\[lr]Vert(?![A-Za-z])": r"\\Vert ",
    r"\\arg \\min(?![A-Za-z])": r"\\mathrm{arg\\,min}",
    r"\\(le|ge|ne)(?![A-Za-z])": r"\\\1q",
}
FONT = FontProperties(size=100, math_fontfamily="stix")
# Units of the font in one em of the page; its letters are smaller than those of the text.
EM = 84
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


def svg(formula: str) -> str:
    """Return a formula as a picture in the color and the size of the text around it."""
    text = " ".join(formula.split())
    for latex, name in OTHER_NAMES.items():
        text = re.sub(latex, name, text)
    width, height, depth = text_to_path.get_text_width_height_descent(f"${text}$", FONT, ismath=True)
    outline = Path(*text_to_path.get_text_path(FONT, f"${text}$", ismath=True))
    steps = []
    for points, code in outline.iter_segments(simplify=False):
        xy = "" if code == Path.CLOSEPOLY else " ".join(f"{x:.0f}" for x in (points.reshape(-1, 2) * (1, -1)).ravel())
        steps.append(LETTERS[code] + xy)
    size = f"width: {width / EM:.2f}em; height: {height / EM:.2f}em; vertical-align: {-depth / EM:.2f}em"
    box = f"0 {depth - height:.0f} {width:.0f} {height:.0f}"
    name = escape(formula.strip(), quote=True)
    return (
        f'<svg class="math" role="img" aria-label="{name}" style="{size}" viewBox="{box}" fill="currentColor">'
        f'<path d="{"".join(steps)}"/></svg>'
    )


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(svg(node.astext()))
    raise nodes.SkipNode


def display(writer: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    writer.body.append(
        writer.starttag(node, "div", CLASS="math-block")
        + svg(re.sub(r"\\frac", r"\\dfrac", node.astext()))
        + "</div>\n"
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("svg_math", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
