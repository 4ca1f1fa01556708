"""A Python function of arrays enters, its compiled twin leaves."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def kernel(function: Kernel) -> Kernel:
    """Compile ``function`` on its first call, and remember the machine code on disk where that is possible.

    Numba refuses ``cache=True`` at import time when neither the package folder nor a home directory can be
    written (a read-only install in a container, say); such an install compiles anew in every process instead.
    The Python source stays reachable as ``.py_func``.
    """
    import numba  # noqa: PLC0415 - `is_compiled` answers without it

    try:
        compiled = numba.njit(cache=True, error_model="numpy", nogil=True)(function)
    except RuntimeError:
        compiled = numba.njit(error_model="numpy", nogil=True)(function)
    return cast("Kernel", compiled)


def is_compiled() -> bool:
    """Tell, without loading numba, whether an earlier run left machine code of the kernels in numba's cache.

    The cache lies next to the kernels, or in the folder named by NUMBA_CACHE_DIR, or in the user's cache folder.
    """
    here = Path(__file__).parent
    named = os.environ.get("NUMBA_CACHE_DIR")
    # Unlike Path.home(), this leaves "~" as it is for a user without a home.
    caches = Path(os.path.expanduser("~")) / ("Library/Caches" if sys.platform == "darwin" else ".cache")  # noqa: PTH111 - as said
    home = Path(os.environ.get("XDG_CACHE_HOME") or caches) / "numba"
    folders = [*Path(named).glob(f"{here.name}_*")] if named else [here / "__pycache__", *home.glob(f"{here.name}_*")]
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    return any(True for folder in folders for _ in folder.glob(f"*.{version}*.nbi"))
