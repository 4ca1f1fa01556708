"""An AnnData of cells and genes enters, the same with prototypes, markers and memberships in its slots leaves."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from cosep.estimators import CoSeparableNMF
from cosep.fit.pools import pool_by_position
from cosep.matrix.validation import as_matrix
from cosep.select.pool import Pool
from cosep.utils.extras import optional
from cosep.utils.layers import anndata_layer, anndata_layer_names
from cosep.utils.messages import shown
from cosep.utils.types import Indices


def annotate(
    adata: Any,
    n_rows: int = 10,
    n_cols: int = 10,
    *,
    layer: str | None = None,
    key: str = "cosep",
    row_pool: Pool | None = None,
    col_pool: Pool | None = None,
    **options: Any,
) -> CoSeparableNMF:
    """Fit ``X ~ P1 X(cells, genes) P2`` to an AnnData and write what was found into it.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells x genes in memory; changed in place. A view becomes an object of its own first, as anndata has it.
    n_rows, n_cols : int
        How many cells and genes to select.
    layer : str, optional
        Take ``adata.layers[layer]`` in the place of ``adata.X``; "raw" is ``adata.raw.X`` if no layer is called so and
        its genes are those of ``adata``. Counts, or their logarithms, have no negative entries; scaled data have.
    key : str
        The name under which things are written.
    row_pool, col_pool : Pool, optional
        Which cells and genes may be selected, and which must be, by position or by name.
    **options
        Further parameters of `CoSeparableNMF`, such as ``method``, ``scaling`` or ``callback``.

    Returns
    -------
    CoSeparableNMF
        The fitted model; its ``factorization_`` has the names of cells and genes. In ``adata`` are then:

        ``obsm["X_cosep"]``, ``varm["cosep"]``
            Memberships: ``row_weights_``, every cell as a mix of the selected cells, and ``col_weights_.T``, every gene
            as a mix of the selected genes.
        ``obs["cosep"]``, ``var["cosep"]``
            Clusters, categorical: "0", "1", ..., as columns of the memberships; missing for an all-zero cell or gene.
        ``obs["cosep_selected"]``, ``var["cosep_selected"]``
            Whether a cell or gene was selected.
        ``uns["cosep"]``
            ``row_indices``, ``col_indices``, ``row_names`` and ``col_names`` of the selected cells and genes, of which
            the k-th belongs to cluster k; ``metrics``: the fidelities, ``score`` and ``n_iter``; ``params``.

    Notes
    -----
    So ``scanpy.pl.umap(adata, color="cosep")``, ``scanpy.tl.rank_genes_groups(adata, groupby="cosep")`` and
    ``scanpy.pp.neighbors(adata, use_rep="X_cosep")`` work, and ``adata.write_h5ad`` keeps everything.

    Examples
    --------
    >>> import anndata
    >>> from cosep import annotate, make_coseparable
    >>> X, truth = make_coseparable(60, 40, 4, 4, random_state=0)
    >>> adata = anndata.AnnData(X)
    >>> model = annotate(adata, n_rows=4, n_cols=4)
    >>> set(adata.uns["cosep"]["row_indices"]) == set(truth.row_indices)
    True
    >>> adata.obsm["X_cosep"].shape, adata.varm["cosep"].shape, int(adata.var["cosep_selected"].sum())
    ((60, 4), (40, 4), 4)
    """
    _check(adata, key)
    values = _values(adata, layer)
    row_names, col_names = adata.obs_names.to_numpy(), adata.var_names.to_numpy()
    model = CoSeparableNMF(
        n_rows,
        n_cols,
        row_pool=pool_by_position(row_pool, row_names, "row_pool"),
        col_pool=pool_by_position(col_pool, col_names, "col_pool"),
        **options,
    ).fit(values)
    model.result_ = replace(model.result_, row_names=row_names, col_names=col_names)
    rows, cols = np.asarray(model.row_indices_), np.asarray(model.col_indices_)
    with warnings.catch_warnings():
        # That a view turns into an object of its own is said above.
        warnings.simplefilter("ignore", _anndata().ImplicitModificationWarning)
        adata.obs[key] = _clusters(np.asarray(model.row_labels_))
    adata.var[key] = _clusters(np.asarray(model.column_labels_))
    adata.obs[f"{key}_selected"] = np.isin(np.arange(len(row_names)), rows)
    adata.var[f"{key}_selected"] = np.isin(np.arange(len(col_names)), cols)
    adata.obsm[f"X_{key}"] = model.row_weights_
    adata.varm[key] = np.ascontiguousarray(model.col_weights_.T)
    adata.uns[key] = {
        "row_indices": rows,
        "col_indices": cols,
        "row_names": row_names[rows].astype(str),
        "col_names": col_names[cols].astype(str),
        "metrics": {
            "row_fidelity": model.row_fidelity_,
            "col_fidelity": model.col_fidelity_,
            "core_fidelity": model.core_fidelity_,
            "score": 1.0 - model.factorization_.relative_error(values),
            "n_iter": model.n_iter_,
        },
        "params": _stored({"layer": layer, **model.get_params(deep=False)}),
    }
    return model


def _anndata() -> Any:
    return optional("anndata", "annotate", "anndata")


def _check(adata: Any, key: Any) -> None:
    """Refuse what is no AnnData in memory, and keys that a file could not have."""
    if not isinstance(adata, _anndata().AnnData):
        msg = f"adata must be an anndata.AnnData, got {type(adata).__name__}; fit a matrix with CoSeparableNMF."
        raise ValueError(msg)
    if adata.isbacked:
        msg = "adata is backed by a file, but must be in memory; call adata.to_memory() first."
        raise ValueError(msg)
    if not isinstance(key, str) or not key or "/" in key:
        msg = f"key={shown(key)} must be a name without '/', under which the results are written."
        raise ValueError(msg)


def _values(adata: Any, layer: Any) -> Any:
    """Return the data to fit, nothing of it negative."""
    source = "adata.X" if layer is None else f"layer={shown(layer)}"
    others = anndata_layer_names(adata)
    choice = f"pass layer=, one of {', '.join(map(repr, others))}" if others else "keep the counts in a layer"
    values, is_raw = anndata_layer(adata, layer)
    if is_raw and not np.array_equal(adata.raw.var_names, adata.var_names):
        msg = "layer='raw' has other genes than adata; annotate adata.raw.to_adata() instead."
        raise ValueError(msg)
    M = as_matrix(values, source, signed=True)
    smallest = float((M.values.data if M.is_sparse else M.values).min(initial=0.0))
    if smallest < 0:
        msg = f"{source} has negative entries, as scaled data have, but must be counts or their logarithms; {choice}."
        raise ValueError(msg)
    return values


def _clusters(labels: Indices) -> Any:
    """Return labels as a categorical of text without empty categories; -1 is missing."""
    import pandas as pd  # noqa: PLC0415 - comes with anndata

    used = np.unique(labels[labels >= 0])
    return pd.Categorical.from_codes(np.where(labels < 0, -1, np.searchsorted(used, labels)), used.astype(str))


def _stored(params: dict[str, Any]) -> dict[str, str | float | np.number[Any]]:
    """Return the parameters that were set, as what an h5ad file can hold."""
    return {
        name: value if isinstance(value, (str, int, float, np.number)) else str(value)
        for name, value in params.items()
        if value is not None and not name.endswith(("pool", "callback"))
    }
