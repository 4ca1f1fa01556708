"""Find ten prototypes and ten marker genes of blood cells, and compare the clusters with those of other methods."""

import warnings
from importlib.util import find_spec
from pathlib import Path

import anndata
import numpy as np
from sklearn.decomposition import NMF
from sklearn.metrics import adjusted_rand_score

from cosep import annotate

# 700 blood cells x 765 genes, logarithms of counts. The file comes with the package scanpy, as
# scanpy.datasets.pbmc68k_reduced(), and has the types of the cells and the clusters of the Louvain method.
package = find_spec("scanpy")
if package is None or package.origin is None:
    msg = "This example needs the cells that come with scanpy: install scanpy."
    raise SystemExit(msg)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it is an old file
    adata = anndata.read_h5ad(Path(package.origin).parent / "datasets" / "10x_pbmc68k_reduced.h5ad")

model = annotate(adata, n_rows=10, n_cols=10, layer="raw")
genes = list(model.selected_features_)
print(f"Ten genes that stand for {adata.n_vars}: {', '.join(genes)}")
for topic, markers in adata.uns["cosep"]["markers"].items():
    types = adata.obs["bulk_labels"][adata.obs["cosep"] == topic]
    most = f"{types.mode()[0]} ({(types == types.mode()[0]).mean():.0%} of {len(types)} cells)"
    print(f"  topic {topic}: {', '.join(markers):20s} {most}")

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
