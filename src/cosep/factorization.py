"""Indices and factors enter, small frozen records leave that reconstruct, measure, save and load."""

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.checks import SAFE_EXPONENT, as_matrix
from cosep.matrix.local import Array, Indices, LocalMatrix

# What a long computation reports: stage, step, most steps, relative error (nan where it is not known yet).
Callback = Callable[[str, int, int, float], None]

FORMAT = "cosep-factorization"
FORMAT_VERSION = 1

_SIDES = ("factor", "weights", "labels", "names")
_OTHER_SIDE = {f"{a}_{part}": f"{b}_{part}" for part in _SIDES for a, b in (("row", "col"), ("col", "row"))}
_ARRAYS = ("core", *_OTHER_SIDE)

# Below this squared relative error the difference of norms has lost too many digits.
CANCELLATION = 1e-6


class SelectionWarning(UserWarning):
    """The selection is smaller than asked for, or some of it explains nothing."""


@dataclass(frozen=True, eq=False)
class Selection:
    """The rows and columns that a method chose, best first; the side that it does not choose is None.

    Parameters
    ----------
    row_indices, col_indices : ndarray of int or None
        Positions in the data matrix.
    gap : float or None
        Relative duality gap of the convex model, where the method solves one: 0 is a proven optimum.
    n_iter : int or None
        Iterations, or alternations, that the method took.
    history : tuple
        One entry per iteration; what it holds is documented by the method.
    """

    row_indices: Indices | None
    col_indices: Indices | None
    gap: float | None = None
    n_iter: int | None = None
    history: tuple[Any, ...] = ()

    @property
    def T(self) -> "Selection":
        """The same choice, for the transpose of the matrix."""
        return Selection(self.col_indices, self.row_indices, self.gap, self.n_iter, self.history)


@dataclass(frozen=True, eq=False)
class Scaling:
    """``diag(rows) @ X @ diag(cols)``: two vectors of positive factors and the name of the rule that gave them."""

    name: str
    rows: Array
    cols: Array


@dataclass(frozen=True, eq=False)
class Factorization:
    """``X ~ row_factor @ core @ col_factor``; a core of None is the identity.

    Parameters
    ----------
    row_factor : ndarray of shape (m, r1)
    core : ndarray of shape (r1, r2) or None
    col_factor : ndarray of shape (r2, n)
    selection : Selection, optional
        Where core, or one of the factors, comes from in the data.
    row_weights, col_weights : ndarray, optional
        Every row as a mix of the selected rows, every column as a mix of the selected columns.
    row_labels, col_labels : ndarray of int, optional
        The cluster of each row and column; -1 for an all-zero one.
    row_names, col_names : ndarray of str, optional
    scaling : Scaling, optional
        The scaling that the rows and columns were selected under. The factors are always those of X itself.
    meta : mapping
        Anything that JSON can hold.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import Factorization
    >>> ones = Factorization(np.ones((3, 1)), None, np.ones((1, 2)))
    >>> ones.relative_error(np.ones((3, 2)))
    0.0
    """

    row_factor: NDArray[Any]
    core: NDArray[Any] | None
    col_factor: NDArray[Any]
    selection: Selection | None = None
    row_weights: NDArray[Any] | None = None
    col_weights: NDArray[Any] | None = None
    row_labels: Indices | None = None
    col_labels: Indices | None = None
    row_names: NDArray[Any] | None = None
    col_names: NDArray[Any] | None = None
    scaling: Scaling | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shapes = {
            name: np.shape(part)
            for name in ("row_factor", "core", "col_factor")
            if (part := getattr(self, name)) is not None
        }
        chain = list(shapes.values())
        if any(len(shape) != 2 for shape in chain) or any(a[1] != b[0] for a, b in pairwise(chain)):
            msg = f"The factors must be matrices whose product exists, got shapes {shapes}."
            raise ValueError(msg)
        m, n = self.shape
        expected = {"row_weights": (m,), "row_labels": (m,), "row_names": (m,)}
        expected |= {"col_weights": (n,), "col_labels": (n,), "col_names": (n,)}
        for name, (size,) in expected.items():
            part = getattr(self, name)
            if part is not None and size != np.shape(part)[-1 if name == "col_weights" else 0]:
                msg = f"{name} has shape {np.shape(part)}, which does not fit the {m} x {n} matrix of the factors."
                raise ValueError(msg)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix that the factors stand for."""
        return self.row_factor.shape[0], self.col_factor.shape[1]

    @property
    def T(self) -> "Factorization":
        """The same factorization, for the transpose of the matrix."""
        swapped = {name: getattr(self, _OTHER_SIDE.get(name, name)) for name in _ARRAYS}
        parts = {name: part.T if part is not None and part.ndim == 2 else part for name, part in swapped.items()}
        selection = None if self.selection is None else self.selection.T
        scaling = None if self.scaling is None else Scaling(self.scaling.name, self.scaling.cols, self.scaling.rows)
        return Factorization(selection=selection, scaling=scaling, meta=self.meta, **parts)

    def _thin(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return W and H with ``W @ H`` the reconstruction and the shorter side between them."""
        if self.core is None:
            return self.row_factor, self.col_factor
        if self.core.shape[0] < self.core.shape[1]:
            return self.row_factor, self.core @ self.col_factor
        return self.row_factor @ self.core, self.col_factor

    def reconstruct(self, rows: Any = None) -> NDArray[Any]:
        """Return ``row_factor @ core @ col_factor``, all of it or the given rows (an index array or a slice)."""
        left = self.row_factor if rows is None else self.row_factor[rows]
        right = self.col_factor if self.core is None else self.core @ self.col_factor
        return np.asarray(left @ right)

    def relative_error(self, X: Any) -> float:
        """``||X - reconstruction||_F / ||X||_F``, never forming the reconstruction as a whole.

        ``||X||^2 - 2 <X, WH> + ||WH||^2`` costs O(nnz r); where it has cancelled to a small difference, the residual
        is summed over blocks of rows instead.
        """
        M = as_matrix(X)
        if M.shape != self.shape:
            msg = f"X has shape {M.shape}, but the factors stand for a matrix of shape {self.shape}."
            raise ValueError(msg)
        (W, row_exponent), (H, col_exponent) = (_mantissa(part) for part in self._thin())
        exponent = row_exponent + col_exponent - M.exponent
        total = M.squared_norm()
        if not (W.any() and H.any()):
            return 0.0 if total == 0 else 1.0
        if total == 0 or exponent > SAFE_EXPONENT:
            return np.inf
        W = np.ldexp(W, exponent)
        squared = total - 2.0 * float(np.vdot(M.cross(W), H.T)) + float(np.vdot(W.T @ W, H @ H.T))
        if squared < CANCELLATION * total:
            squared = _blockwise_squared_error(M, W, H)
        return float(np.sqrt(squared / total))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one ``.npz`` file, under exactly this name and only once it is complete."""
        path = Path(path)
        arrays = _flatten(self)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = Path(file.name)
            try:
                np.savez_compressed(file, **arrays)
                file.close()
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Factorization":
        """Read a file written by `save`. Nothing in it is executed.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is truncated, malformed, from a newer version, or not one of ours.
        """
        path = Path(path)
        try:
            return _unflatten(_read_arrays(path))
        except FileNotFoundError:
            raise
        except (ValueError, KeyError, TypeError, OSError, EOFError, MemoryError, zipfile.BadZipFile) as error:
            msg = f"path={str(path)!r} is not a readable factorization ({error}); write one with Factorization.save."
            raise ValueError(msg) from error


def _mantissa(part: NDArray[Any]) -> tuple[Array, int]:
    """Return the matrix divided by a power of two that brings its largest entry to about one, and that power."""
    exponent = int(np.frexp(np.abs(part).max(initial=0.0))[1])
    return np.ldexp(np.asarray(part, dtype=np.float64), -exponent), exponent


def _blockwise_squared_error(M: LocalMatrix, W: Array, H: Array) -> float:
    squared = 0.0
    for rows, block in M.row_blocks():
        difference = block - W[rows] @ H
        squared += float(np.vdot(difference, difference))
    return squared


def _flatten(factorization: Factorization) -> dict[str, Any]:
    """Return the record as named arrays of plain types."""
    arrays = {name: part for name in _ARRAYS if (part := getattr(factorization, name)) is not None}
    for name in ("row_names", "col_names"):
        if name in arrays:
            arrays[name] = np.asarray(arrays[name]).astype(np.str_)
    header: dict[str, Any] = {"format": FORMAT, "version": FORMAT_VERSION, "meta": dict(factorization.meta)}
    if (selection := factorization.selection) is not None:
        header["selection"] = {"gap": selection.gap, "n_iter": selection.n_iter, "history": selection.history}
        for name in ("row_indices", "col_indices"):
            if (part := getattr(selection, name)) is not None:
                arrays[name] = part
    if (scaling := factorization.scaling) is not None:
        header["scaling"] = scaling.name
        arrays |= {"scaling_rows": scaling.rows, "scaling_cols": scaling.cols}
    for name, array in arrays.items():
        _check_stored(name, np.asarray(array))
    try:
        arrays["header"] = np.asarray(json.dumps(header))
    except TypeError as error:
        msg = f"meta and history must hold only what JSON can hold ({error}); convert the rest to text or numbers."
        raise ValueError(msg) from error
    return arrays


def _unflatten(arrays: dict[str, NDArray[Any]]) -> Factorization:
    """Return the record that `_flatten` took apart; anything missing, left over or out of place raises."""
    header = json.loads(str(arrays.pop("header")))
    if header["format"] != FORMAT:
        msg = f"format {header['format']!r} instead of {FORMAT!r}"
        raise ValueError(msg)
    if header["version"] != FORMAT_VERSION:
        msg = f"format version {header['version']!r}, while this cosep reads {FORMAT_VERSION}"
        raise ValueError(msg)
    for name, array in arrays.items():
        _check_stored(name, array)
    parts: dict[str, Any] = {name: arrays.pop(name) for name in _ARRAYS if name in arrays}
    if "selection" in header:
        stored = header["selection"]
        history = tuple(tuple(entry) if isinstance(entry, list) else entry for entry in stored["history"])
        parts["selection"] = Selection(
            arrays.pop("row_indices", None),
            arrays.pop("col_indices", None),
            stored["gap"],
            stored["n_iter"],
            history,
        )
    if "scaling" in header:
        parts["scaling"] = Scaling(header["scaling"], arrays.pop("scaling_rows"), arrays.pop("scaling_cols"))
    if arrays:
        msg = f"unknown arrays {sorted(arrays)}"
        raise ValueError(msg)
    if not isinstance(header["meta"], dict):
        msg = f"meta is a {type(header['meta']).__name__}"
        raise TypeError(msg)
    return Factorization(meta=header["meta"], **{"core": None, **parts})


def _check_stored(name: str, array: NDArray[Any]) -> None:
    kind = "iu" if name.endswith(("_indices", "_labels")) else "U" if name.endswith("_names") else "f"
    dimensions = 2 if name.endswith(("_factor", "core", "_weights")) else 1
    if array.dtype.kind not in kind or array.ndim != dimensions:
        msg = f"{name} has type {array.dtype} and {array.ndim} dimensions"
        raise ValueError(msg)
    if kind == "f" and not np.isfinite(array).all():
        msg = f"{name} has entries that are not finite"
        raise ValueError(msg)


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read every array of an ``.npz``, trusting no size that the file does not hold."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            with archive.open(info) as member:
                version = np.lib.format.read_magic(member)
                reader = (
                    np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = reader(member)
                size = member.tell()
            if dtype.hasobject or size + int(np.prod(shape, dtype=object)) * dtype.itemsize != info.file_size:
                msg = f"{info.filename} does not hold the array that it announces"
                raise ValueError(msg)
            with archive.open(info) as member:
                arrays[info.filename.removesuffix(".npy")] = np.lib.format.read_array(member, allow_pickle=False)
    return arrays
