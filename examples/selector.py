"""
A selector of your own
======================

Any function ``(X, n_rows, n_cols) -> Selection`` is a method of ``CoSeparableNMF``. It gets the data in the norm of the
model, and everything else follows: factors, clusters, what is explained, the report.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from cosep import CoSeparableNMF, Selection

images = load_digits().data

# %%
# Two simple selectors: rows and columns nearest to centres of k-means, and the longest ones.


def nearest_to_centers(X, n):
    """Return the row nearest to the centre of each cluster, from the longer half of all rows."""
    length = np.linalg.norm(X, axis=1)
    longer = np.flatnonzero(length >= np.median(length))
    means = KMeans(n, n_init=3, random_state=0).fit(X[longer] / length[longer, None])
    return longer[means.transform(X[longer] / length[longer, None]).argmin(axis=0)]


def by_clusters(X, n_rows, n_cols):
    """Select by k-means on both sides."""
    return Selection(nearest_to_centers(X, n_rows), nearest_to_centers(X.T, n_cols))


def longest(X, n_rows, n_cols):
    """Select the longest rows and columns."""
    rows, cols = np.linalg.norm(X, axis=1), np.linalg.norm(X, axis=0)
    return Selection(np.argsort(-rows)[:n_rows], np.argsort(-cols)[:n_cols])


methods = {"faithful": "faithful", "k-means": by_clusters, "longest": longest}
models = {name: CoSeparableNMF(10, 10, method=method).fit(images) for name, method in methods.items()}
for name, model in models.items():
    print(f"{name:9s} rows explain {model.row_fidelity_:.1%}, columns {model.col_fidelity_:.1%},", end=" ")
    print(f"the core {model.core_fidelity_:.1%}; nothing can exceed {model.fidelity_bound_.core:.1%}")

fig, axes = plt.subplots(3, 10, figsize=(9, 3.2), layout="constrained")
for line, (name, model) in zip(axes, models.items(), strict=True):
    for ax in line:
        ax.set_axis_off()
    for ax, image in zip(line, images[model.row_indices_], strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray")
    line[0].set_title(name, loc="left", fontsize=9)
plt.show()
