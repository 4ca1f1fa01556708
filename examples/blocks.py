"""
Data in blocks of rows, with Dask
=================================

A matrix that does not fit in memory is read in blocks of rows, at most ten times. Here it is a Dask array of 40 blocks
that are made when they are needed. The same matrix is small enough to be fitted in memory too, to see that both find
the same.
"""

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from cosep import CoSeparableNMF, make_coseparable

# %%
# 20,000 rows, of which 8 and of whose 300 columns 8 are planted.
X, truth = make_coseparable(20_000, 300, 8, 8, noise=0.02, random_state=0)
blocks = da.from_array(X, chunks=(500, -1))
fits = {"in memory": CoSeparableNMF(8, 8).fit(X)}
for size in (4000, 1000, 250):
    fits[f"blocks, sample of {size}"] = CoSeparableNMF(8, 8, sample_size=size, random_state=0).fit(blocks)

# %%
# Whatever the sample, all rows are searched for better ones, and all rows are measured.
for name, model in fits.items():
    rows = len(set(model.row_indices_) & set(truth.row_indices))
    passes = f", read {model.n_passes_} times" if hasattr(model, "n_passes_") else ""
    print(f"{name:24s} {rows} of 8 planted rows, core explains {model.core_fidelity_:.4f}{passes}")

# %%
# Factors of all rows stay lazy: nothing is computed until it is asked for.
model = fits["blocks, sample of 1000"]
print(type(model.row_labels_).__module__, model.row_labels_.shape)
(labels,) = dask.compute(model.row_labels_)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 2.8), layout="constrained")
parts = ("rows", "cols", "core", "refitted")
for k, (name, one) in enumerate(fits.items()):
    missing = [1 - getattr(one.result_.fidelity, part) for part in parts]
    left.bar(np.arange(4) + 0.2 * (k - 1.5), missing, 0.2, label=name)
left.set_xticks(range(4), parts)
left.set(title="share that is not explained", ylim=(0, 1.7 * max(missing)))
left.legend(fontsize=8, ncols=2, loc="upper center")
right.bar(range(8), np.bincount(labels, minlength=8), color="C2")
right.set(title="rows of each topic", xlabel="topic")
plt.show()
