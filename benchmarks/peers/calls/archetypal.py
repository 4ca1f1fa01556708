"""archetypes: archetypal analysis (AA), its variant with rows as archetypes (ADA), and of both sides (BiAA)."""

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.calls.prepare import PREPARED, nearest


def archetypes(X: Any, k: int, seed: int, kind: str = "AA", **options: Any) -> dict[str, Any]:
    """Fit archetypes of rows; the representatives are the rows nearest to them, which for ADA they are."""
    A = PREPARED[""](X)
    model = getattr(import_module("archetypes"), kind)(k, random_state=seed, **options).fit(A)
    return {"rows": nearest(A, model.archetypes_), "components": model.archetypes_, "row_labels": model.labels_}


def biarchetypes(X: Any, k: int, seed: int, **options: Any) -> dict[str, Any]:
    """Fit archetypes of rows and of columns; labels are the largest coefficients of each."""
    model = import_module("archetypes").BiAA((k, k), random_state=seed, **options).fit(PREPARED[""](X))
    rows, cols = (np.asarray(part) for part in model.A_)
    # The coefficients of the columns are stored as k x n.
    return {"row_labels": rows.argmax(axis=1), "col_labels": (cols if cols.shape[1] == k else cols.T).argmax(axis=1)}
