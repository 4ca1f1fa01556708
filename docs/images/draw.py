"""Draw the pictures of the page "How it works": `python docs/images/draw.py`.

They have no background and are drawn in colors between black and white, so that they suit light and dark pages.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from cosep import CoSeparableNMF

HERE = Path(__file__).parent
GREY, INK, ROW, COLUMN, BOTH = "#77808a", "#1d2733", "#2f7fb8", "#d9822b", "#8b5fbf"
TINTS = {ROW: "#bcd9ec", COLUMN: "#f6d8b5", BOTH: BOTH}
PAGES = ["sports", "politics", "monday", "sunday"]
WORDS = ["goal", "match", "vote", "party", "news"]
X = np.array([[3, 2, 0, 0, 1], [0, 0, 4, 2, 2], [3, 2, 4, 2, 3], [6, 4, 4, 2, 4]], dtype=float)
# The same pages with entries that no mixture explains.
REAL = X + np.array([[0, 1, 0, 1, 2], [1, 0, 0, 2, 0], [2, 0, 0, 3, 0], [0, 2, 1, 0, 3]])


def table(ax: Any, values: Any, rows: Any = (), cols: Any = (), **colors: Any) -> None:
    """Draw a table of numbers; `colors` has the color of selected rows (`rows_`) and columns (`cols_`)."""
    m, n = values.shape
    chosen_rows, chosen_cols = colors.get("rows_", ()), colors.get("cols_", ())
    for i in range(m):
        for j in range(n):
            both = i in chosen_rows and j in chosen_cols
            color = BOTH if both else ROW if i in chosen_rows else COLUMN if j in chosen_cols else colors.get("all_")
            ax.add_patch(Rectangle((j, i), 1, 1, fc=TINTS.get(color, "none"), ec=GREY, lw=0.6))
            ink = "white" if color == BOTH else INK if color else GREY
            ax.text(j + 0.5, i + 0.5, f"{values[i, j]:.2g}", ha="center", va="center", color=ink)
    ax.set(xlim=(-0.05, n + 0.05), ylim=(m + 0.05, -0.05), aspect="equal")
    ax.set_xticks(np.arange(len(cols)) + 0.5, cols, rotation=40, ha="left")
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)


def model_picture() -> None:
    """Draw the matrix with what is selected, and the product that explains it."""
    model = CoSeparableNMF(n_rows=2, n_cols=2).fit(X)
    rows, cols = model.row_indices_, model.col_indices_
    fig = plt.figure(figsize=(10, 3.1), layout="constrained")
    parts = fig.subplots(1, 7, width_ratios=[6.2, 0.6, 2.6, 0.5, 2, 0.5, 5])
    names, words = [PAGES[i] for i in rows], [WORDS[j] for j in cols]
    table(parts[0], X, PAGES, WORDS, rows_=rows, cols_=cols)
    table(parts[2], model.row_weights_, (), names, all_=ROW)
    table(parts[4], model.core_, names, words, rows_=range(2), cols_=range(2))
    table(parts[6], model.col_weights_, words, WORDS, all_=COLUMN)
    for ax, sign in zip(parts[1::2], "=··", strict=True):
        ax.text(0.5, 0.5, sign, ha="center", va="center", fontsize=20)
        ax.set_axis_off()
    titles = ["the matrix X", "row weights P1", "the core", "column weights P2"]
    for ax, title in zip(parts[::2], titles, strict=True):
        ax.set_xlabel(title, fontsize=11)
        ax.xaxis.set_label_position("bottom")
    fig.savefig(HERE / "model.png", dpi=130, transparent=True, metadata={"Software": None})


def fidelity_picture() -> None:
    """Draw what rows, columns, core and refitted factors explain, next to the bound."""
    model = CoSeparableNMF(n_rows=2, n_cols=2).fit(REAL)
    shares = np.array(model.result_.fidelity)
    bounds = np.array(model.fidelity_bound_)
    labels = ["2 rows alone", "2 columns alone", "their core alone", "refitted factors"]
    fig, ax = plt.subplots(figsize=(8, 2.4), layout="constrained")
    ax.barh(labels, 100 * shares, color=[ROW, COLUMN, BOTH, GREY], height=0.6)
    ax.plot(100 * bounds, labels, "|", color=GREY, ms=20, mew=2, label="bound: nothing of this size explains more")
    for k, share in enumerate(shares):
        ax.text(100 * share - 1, k, f"{share:.1%}", va="center", ha="right", color="white")
    ax.set(xlim=(0, 100), xlabel="percent of squares explained")
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.25))
    fig.savefig(HERE / "fidelity.png", dpi=130, transparent=True, metadata={"Software": None})
    print("rows, columns, core, refitted:", shares.round(3), "bounds:", bounds.round(3))


def main() -> None:
    """Draw all pictures."""
    mpl.use("agg")
    colored = ("axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "text.color", "xtick.color", "ytick.color")
    mpl.rcParams.update(dict.fromkeys(colored, GREY))
    model_picture()
    fidelity_picture()


if __name__ == "__main__":
    main()
