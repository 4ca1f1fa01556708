"""pysptools: endmembers of a hyperspectral image by N-FINDR and ATGP."""

from importlib import import_module
from typing import Any

import numpy as np


def endmembers(X: Any, k: int, seed: int, kind: str = "NFINDR") -> dict[str, Any]:
    """Return the pixels that are endmembers."""
    np.random.seed(seed)  # noqa: NPY002 - what the package draws from
    package = "pysptools.eea.nfindr" if kind == "NFINDR" else "pysptools.eea.eea"
    found = getattr(import_module(package), kind)(X, k)
    return {"components": found[0] if isinstance(found, tuple) else found}
