"""Drawings of faces, of chosen pixels and images, and of correlations."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

Block = NDArray[np.float64]
Line = tuple[str, float | None, float | None, str]


def blank(axes: Axes, title: str) -> None:
    """Remove everything but a title."""
    axes.set_title(title, fontsize=13)
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def key_pixels(axes: Axes, face: Block, shape: tuple[int, int], chosen: Any, colour: str, title: str) -> None:
    """Draw a face, pale, and fill the chosen pixels."""
    axes.imshow(face.reshape(shape), cmap="gray", vmin=2 * face.min() - face.max(), vmax=face.max())
    for pixel in chosen:
        y, x = divmod(int(pixel), shape[1])
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, alpha=0.85, edgecolor="white", lw=1))
    blank(axes, title)


def mosaic(
    axes: Axes, images: Block, shape: tuple[int, int], columns: int, title: str, names: Sequence[str] = ()
) -> None:
    """Draw images, the columns of a matrix, row by row with a gap between them, and a small name in the corner."""
    height, width = shape[0] + 1, shape[1] + 1
    lines = -(-images.shape[1] // columns)
    sheet = np.ones((lines * height - 1, columns * width - 1))
    for k, image in enumerate(images.T):
        y, x = (k // columns) * height, (k % columns) * width
        sheet[y : y + shape[0], x : x + shape[1]] = np.clip(image, 0, 1).reshape(shape)
    axes.imshow(sheet, cmap="gray", vmin=0, vmax=1)
    for k, name in enumerate(names):
        box = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.8}
        y, x = (k // columns) * height, (k % columns) * width
        axes.text(x, y, name, fontsize=9, va="top", ha="left", bbox=box)
    blank(axes, title)


def correlations(axes: Axes, values: Block, subjects: NDArray[np.int_], title: str) -> Any:
    """Draw a matrix of correlations between images that stand subject by subject."""
    drawn = axes.imshow(values, cmap=colormaps["RdBu_r"].resampled(20), vmin=-1, vmax=1, interpolation="nearest")
    axes.grid(visible=False)
    axes.set_title(title, fontsize=13)
    starts = np.flatnonzero(np.diff(subjects, prepend=-1))
    shown = starts[:: max(1, len(starts) // 8)]
    axes.set_xticks(shown, [str(subjects[start] + 1) for start in shown])
    axes.set_yticks(shown, [str(subjects[start] + 1) for start in shown])
    axes.set_xlabel("images, by subject")
    return drawn


def dots(axes: Axes, lines: Sequence[Line], label: str) -> None:
    """Draw one line for each name: a dot for the figure, a ring for the printed one, or its number if far below."""
    least = min(figure for _, figure, _, _ in lines if figure is not None) - 2
    ring: Any = {"linestyle": "", "marker": "o", "markerfacecolor": "none", "markeredgecolor": "#17202a", "mew": 1.6}
    for k, (_, figure, printed, colour) in enumerate(lines):
        if figure is not None:
            axes.plot([figure], [k], "o", color=colour, markersize=10)
        if printed is not None and printed >= least:
            axes.plot([printed], [k], markersize=13, **ring)
        elif printed is not None and figure is not None:
            axes.annotate(f"printed {printed:.2f}", (figure, k), (12, 0), textcoords="offset points", va="center")
    axes.plot([], [], "o", color="#7f8c8d", markersize=10, label="here")
    axes.plot([], [], markersize=13, label="printed", **ring)
    axes.set_yticks(range(len(lines)), [name for name, *_ in lines])
    axes.invert_yaxis()
    axes.set_xlabel(label)
