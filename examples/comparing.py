"""
Comparing methods
=================

What do the selected rows, the selected columns and the core explain on their own, and what do the factors explain
after they are refitted? Refitted factors can look alike although the selections, which one reads, are far apart. The
grey line is what nothing of rank ten can exceed. ``cosep compare`` prints such a table for a file.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from cosep import CoSeparableNMF
from cosep.datasets import load_docstrings

# %%
# Word counts of the docstrings of SciPy and scikit-learn. All models are fitted and measured in the same norm.
corpus = load_docstrings()
models = {}
for method in ("faithful", "greedy", "cosfgm"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "spa" selects words that none of its texts has, and says so
        models[method] = CoSeparableNMF(10, 10, method=method).fit(corpus.counts)

parts = ("row", "col", "core", "refitted")
shares = {name: [100 * getattr(model, f"{part}_fidelity_") for part in parts] for name, model in models.items()}
print("percent explained    rows  columns  core  refitted")
for name, values in shares.items():
    print(f"{name:18s}" + "".join(f"{value:8.1f}" for value in values))

# %%
# Refitted factors hide the difference between the default and "cosfgm": look at the first three groups.
bound = 100 * models["faithful"].fidelity_bound_.core
fig, ax = plt.subplots(figsize=(8, 3), layout="constrained")
for k, (name, values) in enumerate(shares.items()):
    ax.bar(np.arange(4) + 0.2 * (k - 1.5), values, 0.19, label=name)
ax.axhline(bound, color="grey", lw=1)
ax.text(3.45, bound, "bound", ha="right", va="bottom")
ax.set_xticks(range(4), ["rows alone", "columns alone", "core alone", "refitted factors"])
ax.set(ylabel="percent of squares explained", ylim=(0, 1.25 * bound))
ax.legend(ncols=4)
plt.show()
