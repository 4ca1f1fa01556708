"""
Growing a panel that is in use
==============================

Ten pixels are measured of every digit, and more money comes in. ``grow`` selects more and keeps what is selected,
first and in the same order, so that old measurements stay valid.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from cosep import CoSeparableNMF

images = load_digits().data
known, new = images[:1500], images[1500:]

# %%
# Each larger model keeps the pixels of the one before.
panels = [CoSeparableNMF(n_rows=10, n_cols=10).fit(known)]
for n_cols in (15, 20, 30):
    panels.append(panels[-1].grow(known, n_rows=n_cols, n_cols=n_cols))
    assert (panels[-1].col_indices_[: panels[-2].n_cols_] == panels[-2].col_indices_).all()

# %%
# How well do they predict images that no fit has seen, next to pixels of the same number that are selected anew?


def error(model):
    """Return the relative error of the images that are predicted from the panel."""
    return np.linalg.norm(new - model.complete(new[:, model.col_indices_])) / np.linalg.norm(new)


sizes = [model.n_cols_ for model in panels]
grown = [error(model) for model in panels]
anew = [error(CoSeparableNMF(n, n).fit(known)) for n in sizes]
for n, one, other in zip(sizes, grown, anew, strict=True):
    print(f"{n} pixels: error {one:.1%}; selected anew {other:.1%}")

fig, axes = plt.subplots(1, 5, figsize=(11, 2.3), width_ratios=[1, 1, 1, 1, 1.7], layout="constrained")
for ax, model in zip(axes, panels, strict=False):
    order = np.full(64, np.nan)
    order[model.col_indices_] = np.arange(model.n_cols_)
    ax.imshow(known.mean(axis=0).reshape(8, 8), cmap="Greys", alpha=0.4)
    ax.imshow(order.reshape(8, 8), cmap="viridis", vmin=0, vmax=30)
    ax.set(xticks=[], yticks=[], title=f"{model.n_cols_} pixels")
axes[-1].plot(sizes, grown, "o-", label="grown")
axes[-1].plot(sizes, anew, "o--", color="grey", label="selected anew")
axes[-1].set(xlabel="pixels", title="relative error, new images", xticks=sizes)
axes[-1].legend()
plt.show()
