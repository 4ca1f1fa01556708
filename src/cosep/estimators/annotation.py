"""Findings written into an AnnData of cells and genes: prototypes, markers, clusters and memberships."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from cosep.estimators import CoSeparableNMF
from cosep.findings.describe import describe
from cosep.fit.pools import pool_by_position
from cosep.matrix.validation import as_matrix
from cosep.select.pool import Pool
from cosep.solve.labels import factor_labels
from cosep.utils.extras import optional
from cosep.utils.layers import NOUNS, anndata_layer, anndata_layer_names
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
        Cells x genes in memory; changed in place. As always in anndata, a view becomes a copy first.
    n_rows, n_cols : int
        How many cells and genes to select. Default: 10.
    layer : str, optional
        Fit ``adata.layers[layer]`` instead of ``adata.X``; "raw" is ``adata.raw.X``, if there is no layer of that name
        and the genes are those of ``adata``. Choose one without negative entries, such as counts or their logarithms.
    key : str
        The name under which the results are written. Default: "cosep".
    row_pool, col_pool : Pool, optional
        Which cells and genes may be selected, and which must be, by position or by name.
    **options
        Further parameters of `CoSeparableNMF`, such as ``method``, ``scaling`` or ``callback``.

    Returns
    -------
    CoSeparableNMF
        The fitted model; its ``factorization_`` has the names of cells and genes. ``adata`` then has:

        ``obsm["X_cosep"]``, ``varm["cosep"]``
            How much of each topic a cell has, ``row_factor_``, and a gene, ``components_.T``: column k is that of the
            k-th selected cell, the prototype of topic k.
        ``obs["cosep"]``, ``var["cosep"]``
            The topic with the largest share in a cell, and in a gene: "0", "1", ..., categorical. Cells and genes of
            topic k have the same number k. Missing for an all-zero cell or gene.
        ``obs["cosep_selected"]``, ``var["cosep_selected"]``
            Whether a cell is a prototype, and a gene a marker.
        ``uns["cosep"]``
            ``prototypes``, the names of the selected cells, of which the k-th stands for topic k, and ``markers``, the
            names of the selected genes of each topic: ``{"0": [...], "1": [...]}``, without topics that have none;
            ``prototype_indices`` and ``marker_indices``, their positions in the order of the selection;
            ``prototype_topics`` and ``marker_topics``, their topics in ``obs`` and ``var``. The k-th prototype can hold
            more of another topic than of topic k, and is counted there; ``metrics``, with the fidelities, their bound
            and ``n_iter``; ``params``, the parameters of the fit.

    Notes
    -----
    With scanpy, for counts in ``adata.X``::

        cosep.annotate(adata, n_rows=10, n_cols=10)
        scanpy.pp.neighbors(adata)
        scanpy.tl.umap(adata)
        scanpy.pl.umap(adata, color="cosep")
        scanpy.pl.dotplot(adata, adata.uns["cosep"]["markers"], groupby="cosep")

    ``scanpy.tl.rank_genes_groups(adata, groupby="cosep")`` and ``scanpy.pp.neighbors(adata, use_rep="X_cosep")`` work
    too, and ``adata.write_h5ad`` keeps everything.

    Examples
    --------
    >>> import anndata
    >>> from cosep import annotate, make_coseparable
    >>> X, truth = make_coseparable(60, 40, 4, 4, random_state=0)
    >>> adata = anndata.AnnData(X)
    >>> model = annotate(adata, n_rows=4, n_cols=4)
    >>> set(adata.uns["cosep"]["prototype_indices"]) == set(truth.row_indices)
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
    meta = {**model.result_.meta, "nouns": list(NOUNS)}
    model.result_ = replace(model.result_, row_names=row_names, col_names=col_names, meta=meta)
    found = describe(values, model)
    with warnings.catch_warnings():
        # The documentation says that a view becomes a copy.
        warnings.simplefilter("ignore", _anndata().ImplicitModificationWarning)
        adata.obs[key] = _clusters(model.row_labels_)
    genes = gene_topics(model)
    adata.var[key] = _clusters(genes)
    chosen, of_markers = np.asarray(model.col_indices_), genes[np.asarray(model.col_indices_)]
    adata.obs[f"{key}_selected"] = found.rows["selected"]
    adata.var[f"{key}_selected"] = found.cols["selected"]
    adata.obsm[f"X_{key}"] = model.row_factor_
    adata.varm[key] = np.ascontiguousarray(model.components_.T)

    def genes_of(k: int) -> Any:
        return col_names[chosen[of_markers == k]].astype(str)

    adata.uns[key] = {
        "prototypes": row_names[model.row_indices_].astype(str),
        "markers": {str(k): genes_of(k) for k in np.unique(of_markers[of_markers >= 0])},
        "prototype_indices": np.asarray(model.row_indices_),
        "marker_indices": chosen,
        "prototype_topics": np.asarray(model.row_labels_)[model.row_indices_],
        "marker_topics": of_markers,
        "metrics": {
            "row_fidelity": found.fidelity.rows,
            "col_fidelity": found.fidelity.cols,
            "core_fidelity": found.fidelity.core,
            "refitted_fidelity": found.fidelity.refitted,
            "bound": found.bound.refitted,
            "n_iter": model.n_iter_,
        },
        "params": _stored({"layer": layer, **model.get_params(deep=False)}),
    }
    return model


def gene_topics(model: CoSeparableNMF) -> Indices:
    """Return the topic with the largest share in each column: ``||D p_k|| h_kj`` for factors p and components h."""
    scaling, P1 = model.factorization_.scaling, np.asarray(model.row_factor_, dtype=np.float64)
    strengths = np.linalg.norm(P1 if scaling is None else scaling.unit()[0][:, None] * P1, axis=0)
    filled = np.asarray(model.column_labels_) >= 0
    return factor_labels(np.asarray(model.components_, dtype=np.float64).T, strengths, filled)


def _anndata() -> Any:
    return optional("anndata", "annotate", "anndata")


def _check(adata: Any, key: Any) -> None:
    """Raise ValueError for anything but an AnnData in memory, and for a key that a file cannot hold."""
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
    """Return the data to fit, which has no negative entries."""
    source = "adata.X" if layer is None else f"layer={shown(layer)}"
    others = anndata_layer_names(adata)
    choice = f"pass layer=, one of {', '.join(map(repr, others))}" if others else "keep the counts in a layer"
    values, is_raw = anndata_layer(adata, layer)
    if is_raw and not np.array_equal(adata.raw.var_names, adata.var_names):
        msg = "layer='raw' has other genes than adata; annotate adata.raw.to_adata() instead."
        raise ValueError(msg)
    if as_matrix(values, source, signed=True).smallest() < 0:
        msg = f"{source} has negative entries, as scaled data have, but must be counts or their logarithms; {choice}."
        raise ValueError(msg)
    return values


def _clusters(labels: Any) -> Any:
    """Return labels as a categorical of text without empty categories; -1 becomes missing."""
    pandas = optional("pandas", "annotate", "anndata")
    used = np.unique(labels[labels >= 0])
    return pandas.Categorical.from_codes(np.where(labels < 0, -1, np.searchsorted(used, labels)), used.astype(str))


def _stored(params: dict[str, Any]) -> dict[str, str | float | np.number[Any]]:
    """Return the parameters that were set, in types that an h5ad file can hold."""
    return {
        name: value if isinstance(value, (str, int, float, np.number)) else str(value)
        for name, value in params.items()
        if value is not None and not name.endswith(("pool", "callback"))
    }
