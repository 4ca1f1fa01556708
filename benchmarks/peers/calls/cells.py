"""SEACells and spapros: prototype cells and panels of genes, from an AnnData."""

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.calls.prepare import dense


def as_cells(X: Any) -> Any:
    """Return an AnnData of logarithms with the principal components and neighbours that both packages ask for."""
    scanpy = import_module("scanpy")
    adata = import_module("anndata").AnnData(np.asarray(dense(X), dtype=np.float64))
    adata.obs_names = [f"cell {i}" for i in range(adata.n_obs)]
    adata.var_names = [f"gene {j}" for j in range(adata.n_vars)]
    scanpy.pp.pca(adata, n_comps=min(30, min(adata.shape) - 1))
    return adata


def seacells(X: Any, k: int, _seed: int, n_neighbors: int = 15) -> dict[str, Any]:
    """Return the cell with the largest weight in the archetype of each metacell."""
    adata = as_cells(X)
    model = import_module("SEACells").core.SEACells(
        adata,
        build_kernel_on="X_pca",
        n_SEACells=k,
        n_waypoint_eigs=min(10, k),
        convergence_epsilon=1e-5,
        n_neighbors=n_neighbors,
        verbose=False,
    )
    model.construct_kernel_matrix()
    model.initialize_archetypes()
    model.fit(min_iter=10, max_iter=50)
    return {"rows": np.asarray(model.B_.argmax(axis=0)).ravel()}


def spapros(X: Any, k: int, _seed: int, **options: Any) -> dict[str, Any]:
    """Return genes by their loadings on principal components: the part of spapros that does not see types of cells.

    The genes are the rows of X, as for all panels.
    """
    package = import_module("spapros")
    table: Any = package.se.select_pca_genes(as_cells(dense(X).T), n=k, inplace=False, verbosity=0, **options)
    return {"rows": np.flatnonzero(table["selection"].to_numpy())}
