"""The look of the figures of the gallery, and the order of its examples."""

from typing import Any

import matplotlib as mpl

# From the data that most people have to what few need; others follow in the order of their names.
ORDER = (
    "text",
    "cells",
    "panel",
    "digits",
    "spectra",
    "mutations",
    "rank",
    "growing",
    "comparing",
    "selector",
    "blocks",
)
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


class TeachingOrder:
    """The key that the gallery sorts the examples of a folder by."""

    def __init__(self, _folder: str) -> None:
        """Take the folder, which makes no difference."""

    def __call__(self, file: str) -> tuple[int, str]:
        """Return the place of an example."""
        name = file.removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)
