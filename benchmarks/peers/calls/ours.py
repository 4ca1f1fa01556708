"""`cosep`, as its users call it."""

from typing import Any

from cosep import CoSeparableNMF, MinVolNMF, SeparableNMF, TriSymmetricNMF
from cosep.findings.topics import topics_of


def co_separable(X: Any, k: int, seed: int, **options: Any) -> dict[str, Any]:
    """Fit `CoSeparableNMF`; its topics are ordered as in its table of topics."""
    model = CoSeparableNMF(k, k, random_state=seed, **options).fit(X)
    topics = topics_of(model.factorization_)
    return {
        "rows": model.row_indices_,
        "cols": model.col_indices_,
        "row_labels": model.row_labels_,
        "col_labels": model.column_labels_,
        "topics": topics.components * topics.col_scale,
    }


def one_side(X: Any, k: int, _seed: int, axis: str = "rows", method: str = "faithful") -> dict[str, Any]:
    """Select only rows, or only columns, by `SeparableNMF`."""
    model = SeparableNMF(k, axis=axis, method=method).fit(X)
    if axis == "columns":
        return {"cols": model.col_indices_}
    return {"rows": model.row_indices_}


def minimum_volume(X: Any, k: int, _seed: int, **options: Any) -> dict[str, Any]:
    """Fit `MinVolNMF`."""
    return {"components": MinVolNMF(k, **options).fit(X).components_}


def anchor_topics(X: Any, k: int, _seed: int, **options: Any) -> dict[str, Any]:
    """Fit `TriSymmetricNMF`."""
    model = TriSymmetricNMF(k, **options).fit(X)
    return {"topics": model.components_}
