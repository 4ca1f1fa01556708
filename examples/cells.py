"""
Cells and marker genes
======================

Ten prototype cells and ten marker genes of 700 blood cells, written into the AnnData. The topics are compared with the
types of the cells, with the Louvain clusters that come with the data, and with NMF.
"""

import warnings
from importlib.util import find_spec
from pathlib import Path

import anndata
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF
from sklearn.metrics import adjusted_rand_score

from cosep import annotate

# %%
# 700 blood cells x 765 genes, logarithms of counts. The file comes with the package scanpy, as
# scanpy.datasets.pbmc68k_reduced(), and has the types of the cells and the clusters of the Louvain method.
package = find_spec("scanpy")
if package is None or package.origin is None:
    msg = "This example needs the cells that come with scanpy: install scanpy."
    raise SystemExit(msg)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it is an old file
    adata = anndata.read_h5ad(Path(package.origin).parent / "datasets" / "10x_pbmc68k_reduced.h5ad")

# %%
# One call; scanpy finds the results where it expects them.
model = annotate(adata, n_rows=10, n_cols=10, layer="raw")
genes = list(model.selected_features_)
print(f"Ten genes that stand for {adata.n_vars}: {', '.join(genes)}")
for topic, markers in adata.uns["cosep"]["markers"].items():
    types = adata.obs["bulk_labels"][adata.obs["cosep"] == topic]
    most = f"{types.mode()[0]} ({(types == types.mode()[0]).mean():.0%} of {len(types)} cells)"
    print(f"  topic {topic}: {', '.join(markers):20s} {most}")

# %%
# Topics and types of the cells on the UMAP that comes with the data. Crosses are the ten selected cells.
fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for ax, groups, title in zip(axes, (adata.obs["cosep"], adata.obs["bulk_labels"]), ("topic", "type"), strict=True):
    for k, group in enumerate(groups.cat.categories):
        x, y = adata.obsm["X_umap"][np.asarray(groups == group)].T
        name = f"{group}: {', '.join(adata.uns['cosep']['markers'].get(group, ()))}" if title == "topic" else group
        ax.scatter(x, y, s=6, color=f"C{k % 10}" if k < 10 else "grey", label=name)
    ax.set(xticks=[], yticks=[], title=title)
    ax.legend(markerscale=2, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
axes[0].plot(*adata.obsm["X_umap"][model.row_indices_].T, "kx", mew=2)
plt.show()

# %%
# Agreement with the types: 0 is chance, 1 is all.
nmf = NMF(10, init="nndsvda", max_iter=1000, random_state=0)
shares = nmf.fit_transform(adata.raw.X) * np.linalg.norm(nmf.components_, axis=1)
clusters = {
    "topics of ten cells and ten genes": adata.obs["cosep"],
    "NMF of rank ten": shares.argmax(axis=1),
    f"Louvain, {adata.obs['louvain'].nunique()} clusters": adata.obs["louvain"],
}
agreement = {name: adjusted_rand_score(adata.obs["bulk_labels"], found) for name, found in clusters.items()}
print("\nAdjusted Rand index against the types of the cells:")
for name, index in agreement.items():
    print(f"  {name:35s} {index:.2f}")
