"""A MATLAB file enters; one of its matrices leaves, without names."""

from typing import Any

import numpy as np
import scipy.io
import scipy.sparse

from cosep.io.arrays import choose
from cosep.io.record import NamedMatrix, as_names, build
from cosep.io.source import Source

NUMBERS = (
    "double",
    "single",
    "logical",
    "sparse",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
HDF5_MAGIC = b"\x89HDF"


def read_matlab(source: Source, variable: str | None, labels: str | None) -> NamedMatrix:
    """Read the matrix that is named, or the only one; labels are a variable with one number for each row."""
    with source.expecting("a MATLAB file of version 5 to 7"):
        with source.path.open("rb") as file:
            start = file.read(520)
        if HDF5_MAGIC in (start[:4], start[512:516]):
            source.fail("is a MATLAB file of version 7.3; save it with -v7.")
        listed = {name: (shape, kind) for name, shape, kind in scipy.io.whosmat(source.path) if kind in NUMBERS}
        name = choose(source, {name: shape for name, (shape, _) in listed.items()}, variable)
        for wanted in {name, labels} & set(listed):
            shape, kind = listed[wanted]
            entries = sum(shape) if kind == "sparse" else int(np.prod(shape, dtype=object))
            source.check_memory(8 * entries, f"{wanted} of {' x '.join(map(str, shape))}")
        wanted_names = [name] if labels is None else [name, labels]
        stored = scipy.io.loadmat(source.path, variable_names=wanted_names, spmatrix=False)
        classes = None if labels is None else _classes(source, stored.get(labels), labels, len_of=stored[name].shape[0])
    return build(source, stored[name], labels=classes)


def _classes(source: Source, stored: Any, labels: str, *, len_of: int) -> Any:
    if not isinstance(stored, np.ndarray) or stored.dtype.kind not in "fiubU" or stored.size != len_of:
        got = "nothing of that name" if stored is None else f"{type(stored).__name__} of shape {np.shape(stored)}"
        source.fail(f"labels={labels!r} must be a variable with one number for each of the {len_of} rows, got {got}.")
    plain = (f"{one:g}" if isinstance(one, float) else str(one).strip() for one in stored.ravel().tolist())
    return as_names(source, plain)
