"""scikit-learn: k-means, NMF, LDA and co-clusters, with the row or column nearest to each centre."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralCoclustering
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.peers.calls.prepare import PREPARED, degree, nearest


def k_means(X: Any, k: int, seed: int, prepare: str = "", **options: Any) -> dict[str, Any]:
    """Cluster rows; the representatives are the rows nearest to the centres."""
    A = PREPARED[prepare](X) if prepare else X
    model = KMeans(k, random_state=seed, **options).fit(A)
    return {"row_labels": model.labels_, "rows": nearest(A, model.cluster_centers_)}


def tf_idf(X: Any) -> Any:
    """Return counts as TF-IDF."""
    return TfidfTransformer().fit_transform(X)


SCALED: dict[str, Callable[[Any], Any]] = {"": lambda X: X, "degree": degree, "tfidf": tf_idf}


def nmf(X: Any, k: int, seed: int, scaling: str = "", **options: Any) -> dict[str, Any]:
    """Factorize; labels are the largest shares, selected rows and columns those with the largest cosines."""
    A = SCALED[scaling](X)
    model = NMF(k, random_state=seed, **options)
    W = model.fit_transform(A)
    H = model.components_
    return {
        "row_labels": largest(W * np.linalg.norm(H, axis=1)),
        "col_labels": largest((H * np.linalg.norm(W, axis=0)[:, None]).T),
        "rows": closest(A.T, H.T),
        "cols": closest(A, W),
        "topics": H,
        "components": H,
    }


def lda(X: Any, k: int, seed: int, **options: Any) -> dict[str, Any]:
    """Fit latent Dirichlet allocation; a word belongs to the topic that it occurs in most."""
    model = LatentDirichletAllocation(k, random_state=seed, **options)
    shares = model.fit_transform(X)
    return {"row_labels": largest(shares), "col_labels": largest(model.components_.T), "topics": model.components_}


def spectral(X: Any, k: int, seed: int, **options: Any) -> dict[str, Any]:
    """Co-cluster the rows and columns that are not zero, as SpectralCoclustering accepts no others."""
    rows, cols = (np.flatnonzero(np.asarray(X.sum(axis=axis)).ravel()) for axis in (1, 0))
    model = SpectralCoclustering(k, random_state=seed, **options).fit(X[rows][:, cols])
    of_rows, of_cols = (np.full(size, -1) for size in X.shape)
    of_rows[rows], of_cols[cols] = model.row_labels_, model.column_labels_
    return {"row_labels": of_rows, "col_labels": of_cols}


def random_rows(X: Any, k: int, seed: int) -> dict[str, Any]:
    """Draw rows that are not zero: what any tool has to beat."""
    known = np.flatnonzero(np.asarray(X.sum(axis=1)).ravel())
    return {"rows": np.random.default_rng(seed).choice(known, k, replace=False)}


def most_variable(X: Any, k: int, _seed: int) -> dict[str, Any]:
    """Return the rows that vary most: a common first choice of variables, which are rows here."""
    return {"rows": np.argsort(-X.var(axis=1), kind="stable")[:k]}


def largest(shares: Any) -> Any:
    """Return the component with the largest share in each row, -1 for a row without any."""
    return np.where(shares.any(axis=1), shares.argmax(axis=1), -1)


def closest(X: Any, components: Any) -> Any:
    """Return for each component the column with the largest cosine, without repetition."""
    norms = np.sqrt(np.asarray((X.multiply(X) if hasattr(X, "multiply") else X**2).sum(axis=0)).ravel())
    lengths = norms[:, None] * np.linalg.norm(components, axis=0)
    cosines = np.asarray(X.T @ components) / np.where(lengths > 0, lengths, np.inf)
    chosen: list[int] = []
    for column in cosines.T:
        column[chosen] = -1.0
        chosen.append(int(column.argmax()))
    return np.array(chosen)
