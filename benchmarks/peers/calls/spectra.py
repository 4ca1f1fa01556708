"""pysptools: endmembers of a hyperspectral image by N-FINDR, PPI and FIPPI."""

from importlib import import_module
from typing import Any

import numpy as np


def endmembers(X: Any, k: int, seed: int, kind: str = "NFINDR") -> dict[str, Any]:
    """Return the pixels that are endmembers."""
    np.random.seed(seed)  # noqa: NPY002 - what the package draws from
    found = getattr(import_module("pysptools.eea.eea"), kind)(X, k)
    return {"components": found[0] if isinstance(found, tuple) else found}
