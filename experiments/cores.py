"""Heat map of the core of a document set, ordered by class."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.patches import Rectangle
from numpy.typing import NDArray


def draw_core(
    axes: Axes, core: NDArray[np.float64], classes: list[int], word_classes: list[int], words: list[str], title: str
) -> Any:
    """Draw counts by their square roots, and frame where documents and words of one class meet."""
    drawn = axes.imshow(core, cmap="Blues", norm=PowerNorm(0.5, vmin=0), interpolation="nearest")
    for label in sorted(set(classes) & set(word_classes)):
        y, x = classes.index(label), word_classes.index(label)
        height, width = classes.count(label), word_classes.count(label)
        corner = x - 0.5, y - 0.5
        axes.add_patch(Rectangle(corner, width, height, edgecolor="#d1495b", facecolor="none", linewidth=1.8))
    axes.grid(visible=False)
    axes.set_xticks(range(len(words)), words, rotation=90, fontsize=11)
    axes.set_yticks(range(len(classes)), [str(label + 1) for label in classes], fontsize=10)
    axes.set_xlabel("chosen words, by class")
    axes.set_ylabel("class of the chosen document")
    axes.set_title(title, fontsize=13)
    return drawn
