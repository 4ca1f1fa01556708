"""The decorator that compiles the kernels with numba."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def kernel(function: Kernel) -> Kernel:
    """Compile ``function`` on its first call, and cache the machine code on disk if possible.

    Numba raises for ``cache=True`` at import time if neither the package folder nor a home directory can be written,
    for example in a read-only container; then each process compiles again. ``.py_func`` is the Python function.
    """
    import numba  # noqa: PLC0415 - `is_compiled` answers without it

    try:
        compiled = numba.njit(cache=True, error_model="numpy", nogil=True)(function)
    except RuntimeError:
        compiled = numba.njit(error_model="numpy", nogil=True)(function)
    return cast("Kernel", compiled)


def is_compiled() -> bool:
    """Return whether numba's cache has machine code of the kernels from an earlier run, without loading numba.

    The cache is next to the kernels, in the folder named by NUMBA_CACHE_DIR, or in the user's cache folder.
    """
    here = Path(__file__).parent
    named = os.environ.get("NUMBA_CACHE_DIR")
    # Unlike Path.home(), this keeps "~" for a user without a home folder.
    caches = Path(os.path.expanduser("~")) / ("Library/Caches" if sys.platform == "darwin" else ".cache")  # noqa: PTH111 - see above
    home = Path(os.environ.get("XDG_CACHE_HOME") or caches) / "numba"
    folders = [*Path(named).glob(f"{here.name}_*")] if named else [here / "__pycache__", *home.glob(f"{here.name}_*")]
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    return any(True for folder in folders for _ in folder.glob(f"*.{version}*.nbi"))
