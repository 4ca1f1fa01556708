"""The look of the figures of the gallery."""

from typing import Any

import matplotlib as mpl

# Between black and white, so that text can be read on light and on dark pages.
GREY = "#77808a"


def reset_figures(_settings: dict[str, Any], _file: str) -> None:
    """Draw every figure on a transparent ground."""
    mpl.rcdefaults()
    mpl.use("agg")
    colored = ("axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "text.color", "xtick.color", "ytick.color")
    mpl.rcParams.update(dict.fromkeys(colored, GREY))
    mpl.rcParams.update(
        {
            "axes.facecolor": "none",
            "axes.spines.right": False,
            "axes.spines.top": False,
            "figure.dpi": 110,
            "figure.facecolor": "none",
            "legend.framealpha": 0,
            "savefig.transparent": True,
        }
    )
