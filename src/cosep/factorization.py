"""Indices and factors enter, small frozen records leave that reconstruct, measure, save and load."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cosep.archive import array_headers, is_unicode, read_arrays, write_arrays
from cosep.limits import memory_problem
from cosep.matrix.checks import as_matrix, check_indices, is_sound
from cosep.matrix.local import Array, Indices, LocalMatrix
from cosep.messages import one_line, shown
from cosep.paths import check_path

# What a long computation reports: stage, step, most steps, and the relative error (nan where it is not known yet) or,
# within one solve, the relative duality gap.
Callback = Callable[[str, int, int, float], None]
# Equally long columns by name: what pandas.DataFrame takes as it is.
Table = dict[str, NDArray[Any]]

FORMAT = "cosep-factorization"
FORMAT_VERSION = 1

_SIDES = ("factor", "weights", "labels", "names")
_OTHER_SIDE = {f"{a}_{part}": f"{b}_{part}" for part in _SIDES for a, b in (("row", "col"), ("col", "row"))}
_ARRAYS = ("core", *_OTHER_SIDE)
_STORED = (*_ARRAYS, "row_indices", "col_indices", "scaling_rows", "scaling_cols", "header")

# Parsed JSON can take this many times the bytes of its text, at four a character.
JSON_GROWTH = 16

# Below this squared relative error the difference of norms has lost too many digits.
CANCELLATION = 1e-6
# A reconstruction this much larger than the data, as a power of two, is all there is to the error.
HUGE = 300


class SelectionWarning(UserWarning):
    """The selection is smaller than asked for, or some of it explains nothing."""


@dataclass(frozen=True, eq=False)
class Selection:
    """The rows and columns that a method chose, best first; the side that it does not choose is None.

    Parameters
    ----------
    row_indices, col_indices : ndarray of int or None
        Distinct positions in the data matrix.
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

    def __post_init__(self) -> None:
        for side in ("row_indices", "col_indices"):
            if getattr(self, side) is not None:
                object.__setattr__(self, side, check_indices(getattr(self, side), side))
        for name, kind, value in (("gap", Real, self.gap), ("n_iter", Integral, self.n_iter)):
            try:
                number = value if value is None else float(value) if kind is Real else int(value)
            except (TypeError, ValueError, OverflowError):
                number = None
            if (value is None) != (number is None) or not isinstance(value, kind | None):
                msg = f"{name}={shown(value)} must be a number or None."
                raise ValueError(msg)
            object.__setattr__(self, name, number)
        if not isinstance(self.history, tuple):
            msg = f"history={shown(self.history)} must be a tuple."
            raise ValueError(msg)

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

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            msg = f"name={shown(self.name)} must be the name of a scaling."
            raise ValueError(msg)
        for side in ("rows", "cols"):
            try:
                factors = np.asarray(getattr(self, side))
            except Exception:  # noqa: BLE001 - what was passed may raise anything when it is looked at
                factors = np.zeros((0, 0))
            if factors.ndim != 1 or factors.dtype.kind != "f" or not (np.isfinite(factors) & (factors > 0)).all():
                msg = (
                    f"{side} of a scaling must be a list of positive, finite factors, got {shown(getattr(self, side))}."
                )
                raise ValueError(msg)
            object.__setattr__(self, side, factors)


class Fidelity(NamedTuple):
    """How much of a matrix is explained by what was selected, before anything is refitted; 1 is all of it.

    ``rows``: ``1 - min ||X - U X(rows,:)|| / ||X||`` over ``U >= 0``; ``cols``: ``1 - min ||X - X(:,cols) V|| / ||X||``
    over ``V >= 0``; ``core``: ``1 - ||X - U X(rows,cols) V|| / ||X||`` with those two. All three are 1 together exactly
    if X is co-separable with this selection. A side that is not selected has None.
    """

    rows: float | None
    cols: float | None
    core: float | None


class CoreDiagnosis(NamedTuple):
    """What to know about a core before trusting it.

    ``condition`` is that of the core with its rows and columns divided by their norms, infinite if it is singular. A
    ``permuted_diagonal`` core, one nonzero in each row and column, ties every selected row to one selected column:
    refitted factors are then those of plain NMF, whatever was selected.
    """

    nonzeros: int
    zero_rows: int
    zero_cols: int
    condition: float
    permuted_diagonal: bool


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
        for name in _ARRAYS:
            if getattr(self, name) is not None or name in {"row_factor", "col_factor"}:
                object.__setattr__(self, name, _checked_part(name, getattr(self, name)))
        factors = {"row_factor": self.row_factor, "core": self.core, "col_factor": self.col_factor}
        shapes = {name: part.shape for name, part in factors.items() if part is not None}
        if any(a[1] != b[0] for a, b in pairwise(shapes.values())):
            msg = f"The factors must be matrices whose product exists, got shapes {shapes}."
            raise ValueError(msg)
        m, n = self.shape
        for side, size in (("row", m), ("col", n)):
            self._check_side(side, size)
        for name, kind in (("selection", Selection), ("scaling", Scaling)):
            if not isinstance(getattr(self, name), kind | None):
                msg = f"{name}={shown(getattr(self, name))} must be a {kind.__name__} or None."
                raise ValueError(msg)
        if not isinstance(self.meta, Mapping):
            msg = f"meta={shown(self.meta)} must be a dictionary."
            raise ValueError(msg)

    def _check_side(self, side: str, size: int) -> None:
        """Refuse labels, names, weights, indices or scales that do not fit the size of their side."""
        for part in ("weights", "labels", "names"):
            array = getattr(self, f"{side}_{part}")
            if array is not None and array.shape[-1 if (side, part) == ("col", "weights") else 0] != size:
                msg = f"{side}_{part} has shape {array.shape}, which does not fit the matrix of shape {self.shape}."
                raise ValueError(msg)
        if isinstance(self.selection, Selection):
            indices = getattr(self.selection, f"{side}_indices")
            if indices is not None:
                check_indices(indices, f"selection.{side}_indices", size, f"the number of {side}s")
        if isinstance(self.scaling, Scaling) and len(getattr(self.scaling, f"{side}s")) != size:
            msg = f"scaling has {len(getattr(self.scaling, f'{side}s'))} {side}s, but the factors stand for {size}."
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

    def reconstruct(self, rows: Any = None) -> NDArray[Any]:
        """Return ``row_factor @ core @ col_factor``, all of it or the given rows (an index array or a slice).

        In float64 where the range of float32 is too small; infinite where that of float64 is.
        """
        try:
            left = self.row_factor if rows is None else self.row_factor[rows]
        except Exception as error:
            most, reason = len(self.row_factor), one_line(error, 150)
            msg = f"rows={shown(rows)} must be a slice or positions below {most} ({reason})."
            raise ValueError(msg) from error
        parts = [part for part in (left, self.core, self.col_factor) if part is not None]
        with np.errstate(over="ignore", invalid="ignore"):
            product = _product(parts)
            if np.isfinite(product).all():
                return product
            W, H, exponent = self._thin()
            return np.asarray(np.ldexp((W if rows is None else W[rows]) @ H, exponent))

    def relative_error(self, X: Any) -> float:
        """``||X - reconstruction||_F / ||X||_F``, never forming the reconstruction as a whole.

        ``||X||^2 - 2 <X, WH> + ||WH||^2`` costs O(nnz r); where it has cancelled to a small difference, the residual
        is summed over blocks of rows instead. X may have negative entries where the factors have.
        """
        M, W, H, exponent = self._thin_beside(X)
        total, own = M.squared_norm(), float(np.vdot(W.T @ W, H @ H.T))
        if own <= 0:
            return 0.0 if total == 0 else 1.0
        if total == 0:
            return np.inf
        if exponent > HUGE:
            with np.errstate(over="ignore"):
                return float(np.ldexp(np.sqrt(own / total), exponent))
        W, own = np.ldexp(W, exponent, out=W), float(np.ldexp(own, 2 * exponent))
        squared = total - 2.0 * float(np.vdot(M.cross(W), H.T)) + own
        if squared < CANCELLATION * total:
            squared = _blockwise_squared_error(M, W, H)
        return float(np.sqrt(squared / total))

    def row_errors(self, X: Any) -> Array:
        """``||x_i - reconstruction_i|| / ||x_i||`` for each row of X; nan for an all-zero row.

        As accurate for small errors as `relative_error`, and as quick. Those of columns: ``self.T.row_errors(X.T)``.

        Examples
        --------
        >>> import numpy as np
        >>> from cosep import Factorization
        >>> Factorization(np.ones((3, 1)), None, np.ones((1, 2))).row_errors(np.array([[1, 1], [0, 2], [0, 0]]))
        array([0.        , 0.70710678,        nan])
        """
        M, W, H, exponent = self._thin_beside(X)
        norms = M.T.squared_norms()
        errors = np.full(len(norms), np.nan)
        known = np.flatnonzero(norms)
        if exponent > HUGE:
            own = _squared_row_norms(W, H)
            with np.errstate(over="ignore"):
                errors[known] = np.ldexp(np.sqrt(own[known] / norms[known]), exponent)
            return errors
        W = np.ldexp(W, exponent)
        errors[known] = np.sqrt(squared_row_errors(M, W, H, M.dot(H.T))[known] / norms[known])
        return errors

    def _thin_beside(self, X: Any) -> tuple[LocalMatrix, Array, Array, int]:
        """Return X checked, and W, H and e with ``W @ H * 2**e`` the reconstruction in the units of its entries."""
        parts = (self.row_factor, self.core, self.col_factor)
        M = as_matrix(X, signed=any(part is not None and bool((part < 0).any()) for part in parts))
        if M.shape != self.shape:
            msg = f"X has shape {M.shape}, but the factors stand for a matrix of shape {self.shape}."
            raise ValueError(msg)
        W, H, exponent = self._thin()
        return M, W, H, exponent - M.exponent

    def fidelity(self, X: Any) -> Fidelity:
        """Return how much of X the selected rows, columns and core explain by their weights, in O(nnz r).

        Parameters
        ----------
        X : array-like or sparse of shape (m, n)
            The matrix that the rows and columns were selected from.
        """
        M = as_matrix(X)
        if M.shape != self.shape:
            msg = f"X has shape {M.shape}, but the factors stand for a matrix of shape {self.shape}."
            raise ValueError(msg)
        U, V = self.row_weights, self.col_weights
        if self.selection is None or (U is None and V is None):
            msg = "fidelity needs a selection and its weights; make the factorization with cosep.mix."
            raise ValueError(msg)
        data = LocalMatrix(M.values)
        chosen_rows, chosen_cols = self.selection.row_indices, self.selection.col_indices
        rows = cols = core = None
        if U is not None:
            rows = 1.0 - Factorization(U, None, data.take(rows=chosen_rows)).relative_error(data)
        if V is not None:
            cols = 1.0 - Factorization(data.take(cols=chosen_cols), None, V).relative_error(data)
        if U is not None and V is not None:
            core = 1.0 - Factorization(U, data.take(chosen_rows, chosen_cols), V).relative_error(data)
        return Fidelity(rows, cols, core)

    def diagnose_core(self) -> CoreDiagnosis:
        """Say how full and how well conditioned the core is, and whether it is a permuted diagonal matrix."""
        if self.core is None:
            msg = "there is no core to diagnose: the selection has one side only, or none."
            raise ValueError(msg)
        core = _mantissa(self.core)[0]
        filled = core != 0
        of_rows, of_cols = filled.sum(axis=1), filled.sum(axis=0)
        for axis in (0, 1):
            norms = np.linalg.norm(core, axis=axis, keepdims=True)
            core = core / np.where(norms > 0, norms, 1.0)
        values = np.linalg.svd(core, compute_uv=False)
        return CoreDiagnosis(
            nonzeros=int(filled.sum()),
            zero_rows=int((of_rows == 0).sum()),
            zero_cols=int((of_cols == 0).sum()),
            condition=float(values[0] / values[-1]) if values[-1] > CANCELLATION**2 * values[0] else np.inf,
            permuted_diagonal=bool(len(of_rows) == len(of_cols) > 1 and (of_rows == 1).all() and (of_cols == 1).all()),
        )

    def _thin(self) -> tuple[Array, Array, int]:
        """Return W, H and e with ``W @ H * 2**e`` the reconstruction, and entries of about one in W and H."""
        if self.core is None:
            return _balanced(self.row_factor, self.col_factor)
        W, row_exponent = _mantissa(self.row_factor)
        H, col_exponent = _mantissa(self.col_factor)
        S, core_exponent = _mantissa(self.core)
        if S.shape[0] < S.shape[1]:
            H, more = _mantissa(S @ H)
        else:
            W, more = _mantissa(W @ S)
        return W, H, row_exponent + col_exponent + core_exponent + more

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one ``.npz`` file, under exactly this name and only once it is complete."""
        write_arrays(_checked_path(path), _flatten(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Factorization":
        """Read a file written by `save`. Nothing in it is executed.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is truncated, malformed, from a newer version or not one of ours, or if its contents would take
            more than 1 GiB and 200 times its size, or more than the memory of this machine.
        """
        path = _checked_path(path)
        try:
            return _unflatten(_read_checked(path))
        except FileNotFoundError:
            raise
        except Exception as error:
            # A hostile file can make the readers of its layers raise anything.
            reason = one_line(error) or type(error).__name__
            msg = f"path={str(path)!r} is not a readable factorization ({reason}); write one with Factorization.save."
            raise ValueError(one_line(msg, 2000)) from error


def _read_checked(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file, if they are known and would fit into memory."""
    if path.exists() and not path.is_file():
        msg = "it is not a regular file"
        raise ValueError(msg)
    headers = array_headers(path, _STORED)
    sizes = {name: header.n_bytes_used for name, header in headers.items()}
    sizes["header"] = JSON_GROWTH * sizes.get("header", 0)
    if problem := memory_problem(sum(sizes.values()), path.stat().st_size, "it"):
        raise ValueError(problem)
    return read_arrays(path, headers)


def squared_row_errors(M: LocalMatrix, W: Array, H: Array, products: Array) -> Array:
    """``||x_i - w_i H||^2`` for each row of M, given ``M H'``; where that cancels, from the difference itself."""
    norms = M.T.squared_norms()
    squared = norms - 2.0 * np.einsum("ij,ij->i", products, W) + _squared_row_norms(W, H)
    near = np.flatnonzero((squared < CANCELLATION * norms) & (norms > 0))
    rest = LocalMatrix((M.values.tocsr() if M.is_sparse else M.values)[near])
    for rows, block in rest.row_blocks():
        squared[near[rows]] = np.linalg.norm(block - W[near[rows]] @ H, axis=1) ** 2
    return np.asarray(np.maximum(squared, 0.0))


def _squared_row_norms(W: Array, H: Array) -> Array:
    return np.asarray(np.einsum("ij,jk,ik->i", W, H @ H.T, W, optimize=True))


def _checked_part(name: str, part: Any) -> NDArray[Any]:
    """Return a part of a factorization as an array of its kind: floats, whole numbers or text."""
    if scipy.sparse.issparse(part) and not is_sound(part):
        msg = f"{name} is a broken {part.format} matrix: its parts do not fit its shape {part.shape}; rebuild it."
        raise ValueError(msg)
    try:
        array = np.asarray(part.toarray() if scipy.sparse.issparse(part) else part)
    except Exception:  # noqa: BLE001 - what was passed may raise anything when it is looked at
        array = np.zeros(0, dtype=object)
    if name.endswith("_names"):
        if array.ndim == 1 and (array.dtype.kind == "U" or all(isinstance(entry, str) for entry in array.tolist())):
            return array
        msg = f"{name} must be a list of text, got {shown(part)}; convert the names with str first."
        raise ValueError(msg)
    if name.endswith("_labels"):
        if array.ndim == 1 and array.dtype.kind in "iu":
            return array
        msg = f"{name} must be a list of whole numbers, got {shown(part)}."
        raise ValueError(msg)
    masked = isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part)
    if array.ndim != 2 or array.dtype.kind not in "fiub" or masked or not np.isfinite(array).all():
        msg = f"{name} must be a matrix of finite real numbers, got type {array.dtype} and shape {array.shape}."
        raise ValueError(msg)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _product(parts: list[NDArray[Any]]) -> NDArray[Any]:
    left, *inner, right = parts
    return np.asarray(left @ (inner[0] @ right if inner else right))


def _checked_path(path: Any) -> Path:
    return check_path(path, "path", "the name of a file")


def _mantissa(part: NDArray[Any]) -> tuple[Array, int]:
    """Return the matrix divided by a power of two that brings its largest entry to about one, and that power."""
    exponent = int(np.frexp(_largest(part))[1])
    return np.ldexp(np.asarray(part, dtype=np.float64), -exponent), exponent


def _largest(part: NDArray[Any], axis: int | None = None) -> Any:
    """Return the largest size of an entry, without a copy of all of them."""
    return np.maximum(part.max(axis=axis, initial=0.0), -part.min(axis=axis, initial=0.0))


def _balanced(row_factor: NDArray[Any], col_factor: NDArray[Any]) -> tuple[Array, Array, int]:
    """Return W, H and e with ``W @ H * 2**e`` the product, the scale of each component in H alone.

    Components may carry their scale on either side: weights of selected rows stand beside selected columns.
    """
    W, H = row_factor.astype(np.float64, copy=False), col_factor.astype(np.float64, copy=False)
    of_rows, of_cols = np.frexp(_largest(W, axis=0))[1], np.frexp(_largest(H, axis=1))[1]
    exponents = (of_rows + of_cols)[W.any(axis=0) & H.any(axis=1)]
    top = int(exponents.max()) if len(exponents) else 0
    shifts = np.minimum(of_rows + of_cols - top, 0)
    return np.ldexp(W, -of_rows), np.ldexp(H, (shifts - of_cols)[:, None]), top


def _blockwise_squared_error(M: LocalMatrix, W: Array, H: Array) -> float:
    squared = 0.0
    for rows, block in M.row_blocks():
        difference = block - W[rows] @ H
        squared += float(np.vdot(difference, difference))
    return squared


def _flatten(factorization: Factorization) -> dict[str, NDArray[Any]]:
    """Return the record as named arrays of plain types."""
    arrays = {name: part for name in _ARRAYS if (part := getattr(factorization, name)) is not None}
    for name in ("row_names", "col_names"):
        if name in arrays:
            arrays[name] = arrays[name].astype(np.str_)
            if not is_unicode(arrays[name]):
                msg = f"{name} hold text that is not valid Unicode, such as half of a surrogate pair; rename them."
                raise ValueError(msg)
    header: dict[str, Any] = {"format": FORMAT, "version": FORMAT_VERSION, "meta": dict(factorization.meta)}
    if (selection := factorization.selection) is not None:
        header["selection"] = {"gap": selection.gap, "n_iter": selection.n_iter, "history": selection.history}
        for name in ("row_indices", "col_indices"):
            if (part := getattr(selection, name)) is not None:
                arrays[name] = part
    if (scaling := factorization.scaling) is not None:
        header["scaling"] = scaling.name
        arrays |= {"scaling_rows": scaling.rows, "scaling_cols": scaling.cols}
    try:
        text = json.dumps(header)
        json.dumps(header, ensure_ascii=False).encode()  # raises where text is not valid Unicode
        kept = json.loads(text)["meta"] == header["meta"]
    except (TypeError, ValueError, RecursionError) as error:
        reason = one_line(error, 150)
        msg = f"meta and history must hold only what JSON can hold ({reason}); convert the rest to text or numbers."
        raise ValueError(msg) from error
    if not kept:
        msg = "meta must hold only what JSON returns unchanged: text as keys, lists instead of tuples."
        raise ValueError(msg)
    arrays["header"] = np.asarray(text)
    return arrays


def as_tuples(entries: list[Any]) -> tuple[Any, ...]:
    """Return lists, and lists within them, as the tuples that they were before JSON."""
    return tuple(as_tuples(entry) if isinstance(entry, list) else entry for entry in entries)


def _unflatten(arrays: dict[str, NDArray[Any]]) -> Factorization:
    """Return the record that `_flatten` took apart; anything missing or out of place raises."""
    header = json.loads(str(arrays.pop("header")))
    json.dumps(header, ensure_ascii=False).encode()  # raises where text is not valid Unicode
    if header["format"] != FORMAT:
        msg = f"format {header['format']!r} instead of {FORMAT!r}"
        raise ValueError(msg)
    if header["version"] is True or header["version"] != FORMAT_VERSION:
        msg = f"format version {header['version']!r}, while this cosep reads {FORMAT_VERSION}"
        raise ValueError(msg)
    parts: dict[str, Any] = {name: arrays.pop(name) for name in _ARRAYS if name in arrays}
    for name, part in parts.items():
        if name.endswith(("factor", "core", "weights")) and part.dtype not in (np.float32, np.float64):
            msg = f"{name} has type {part.dtype}"
            raise ValueError(msg)
    if "selection" in header:
        stored = header["selection"]
        if not isinstance(stored["history"], list):
            msg = "history is no list"
            raise ValueError(msg)
        history = as_tuples(stored["history"])
        indices = arrays.pop("row_indices", None), arrays.pop("col_indices", None)
        parts["selection"] = Selection(*indices, stored["gap"], stored["n_iter"], history)
    if "scaling" in header:
        parts["scaling"] = Scaling(header["scaling"], arrays.pop("scaling_rows"), arrays.pop("scaling_cols"))
    if arrays:
        msg = f"unknown arrays {sorted(arrays)}"
        raise ValueError(msg)
    return Factorization(meta=header["meta"], **{"core": None, **parts})
