"""
Counts of mutations in tumours
==============================

Tumours are described by how often each of 96 types of mutation occurs. Each process that causes mutations, such as
tobacco smoke or sunlight, leaves its own profile of types, and a tumour is a mixture of a few. The counts here are
drawn at random, so that the answer is known. The selected tumours stand for processes, and the selected types mark
them: a small panel tells which process a new tumour was exposed to.
"""

import matplotlib.pyplot as plt
import numpy as np

from cosep import CoSeparableNMF

# %%
# Three processes; two of three tumours were exposed to more than one.
rng = np.random.default_rng(1)
changes = ["C>A", "C>G", "C>T", "T>A", "T>C", "T>G"]
profiles = rng.dirichlet(np.full(96, 0.15), size=3)
exposure = rng.dirichlet(np.full(3, 0.4), size=200)
counts = rng.poisson(exposure * rng.lognormal(7, 0.8, size=(200, 1)) @ profiles).astype(float)

# %%
# The norm is the default one, in which tumours with many mutations do not outweigh the others.
model = CoSeparableNMF(n_rows=3, n_cols=3).fit(counts)
process = exposure[model.row_indices_].argmax(axis=1)
print(f"Tumours {model.row_indices_.tolist()} stand for processes {process.tolist()}:")
print(f"they are pure to {', '.join(f'{pure:.0%}' for pure in exposure[model.row_indices_].max(axis=1))}.")
found = process[model.row_labels_] == exposure.argmax(axis=1)
print(f"The main process of {found.mean():.0%} of all tumours is that of their cluster.")
print(f"They explain {model.row_fidelity_:.0%} of the counts. Nothing of rank 3 explains more than", end=" ")
print(f"{model.fidelity_bound_.rows:.0%};")
print("the rest is the noise of counting.")

fig, axes = plt.subplots(3, 1, figsize=(9, 4.5), sharex=True, layout="constrained")
for ax, row, true in zip(axes, model.row_indices_, process, strict=True):
    colors = [f"C{i}" for i in range(6) for _ in range(16)]
    ax.bar(np.arange(96), counts[row] / counts[row].sum(), color=colors, width=0.9)
    ax.plot(np.arange(96), profiles[true], "_", color="grey", ms=5)
    for column in model.col_indices_:
        ax.axvline(column, color="grey", ls=":", lw=1, zorder=0)
    ax.set(title=f"tumour {row} (bars) and process {true} (dashes)", yticks=[])
axes[-1].set_xticks(np.arange(8, 96, 16), changes)
axes[-1].set_xlabel("type of mutation; dotted: the three selected types")
plt.show()
