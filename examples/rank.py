"""
How many rows and columns?
==========================

``choose_rank`` hides blocks of the matrix and predicts them from the rest, for many numbers of rows and columns. It
recommends the smallest pair that predicts nearly as well as the best, and gives the reason.
"""

import matplotlib.pyplot as plt
import numpy as np

from cosep import CoSeparableNMF, choose_rank, make_coseparable

# %%
# The planted answer is five rows and five columns, with noise of two percent.
X, truth = make_coseparable(100, 60, 5, 5, noise=0.02, random_state=0)
choice = choose_rank(X, random_state=0)
print(choice.reason)
model = CoSeparableNMF(**choice.params).fit(X)
print(f"The model has {model.n_rows_} rows and {model.n_cols_} columns,")
print(f"of which {len(set(model.row_indices_) & set(truth.row_indices))} and", end=" ")
print(f"{len(set(model.col_indices_) & set(truth.col_indices))} are planted ones.")

# %%
# What a fit explains grows with every row. The error on what was hidden does not.
table = choice.table
square = table["n_rows"] == table["n_cols"]
size, error = table["n_rows"][square], table["error"][square]
order = np.argsort(size)
sizes = size[order][size[order] <= 32]
explained = [CoSeparableNMF(n, n).fit(X).row_fidelity_ for n in sizes]

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
left.plot(sizes, 1 - np.array(explained), "o-", color="grey")
left.set(title="not explained by the rows, in the fit", xlabel="rows and columns", xscale="log", yscale="log")
right.plot(sizes, error[order][: len(sizes)], "o-", color="C0")
right.axvline(choice.n_rows, color="C3", ls=":", label=f"recommended: {choice.n_rows} x {choice.n_cols}")
right.set(title="error on hidden blocks", xlabel="rows and columns", xscale="log")
right.legend()
for ax in (left, right):
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
plt.show()
