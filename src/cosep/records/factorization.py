"""Factorization: the factors of a matrix, with reconstruction, errors, saving and loading."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.checks import check_indices
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Scaling
from cosep.matrix.observed import Observed
from cosep.matrix.validation import as_matrix
from cosep.records.archive import write_arrays
from cosep.records.fidelity import CoreDiagnosis, Fidelity
from cosep.records.model_file import ARRAYS, OTHER_SIDE, pack, read_checked, unpack
from cosep.records.panel_moments import PanelMoments
from cosep.records.parts import checked_part
from cosep.records.product import CANCELLATION, balanced, mantissa, product_of, relative_error, relative_row_errors
from cosep.records.selection import Selection
from cosep.records.shares import shares_table, side_grids
from cosep.utils.display import Readable, View, grid_of
from cosep.utils.messages import one_line, shown
from cosep.utils.paths import check_path
from cosep.utils.types import Array, Indices


@dataclass(frozen=True, eq=False, repr=False)
class Factorization(Readable):
    """``X ~ row_factor @ core @ col_factor``; a core of None is the identity.

    Parameters
    ----------
    row_factor : ndarray of shape (m, r1)
    core : ndarray of shape (r1, r2) or None
    col_factor : ndarray of shape (r2, n)
    selection : Selection, optional
        The rows and columns of the data that the core, or one of the factors, consists of.
    row_weights, col_weights : ndarray, optional
        Every row as a mix of the selected rows, every column as a mix of the selected columns.
    row_labels, col_labels : ndarray of int, optional
        The cluster of each row and column; -1 for an all-zero one.
    row_names, col_names : ndarray of str, optional
    scaling : Scaling, optional
        The norm that the factors were fitted in, and that errors and fidelities are measured in. Default: None, the
        plain Frobenius norm. The factors are always those of X itself, in its units.
    panel : PanelMoments, optional
        Moments of the columns, from which rows are completed from the selected columns. The transpose has none.
    meta : mapping
        Further information that can be stored as JSON.

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
    panel: PanelMoments | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ARRAYS:
            if getattr(self, name) is not None or name in {"row_factor", "col_factor"}:
                object.__setattr__(self, name, checked_part(name, getattr(self, name)))
        factors = {"row_factor": self.row_factor, "core": self.core, "col_factor": self.col_factor}
        shapes = {name: part.shape for name, part in factors.items() if part is not None}
        if any(a[1] != b[0] for a, b in pairwise(shapes.values())):
            msg = f"The factors must be matrices whose product exists, got shapes {shapes}."
            raise ValueError(msg)
        m, n = self.shape
        for side, size in (("row", m), ("col", n)):
            self._check_side(side, size)
        for name, kind in (("selection", Selection), ("scaling", Scaling), ("panel", PanelMoments)):
            if not isinstance(getattr(self, name), kind | None):
                msg = f"{name}={shown(getattr(self, name))} must be a {kind.__name__} or None."
                raise ValueError(msg)
        if not isinstance(self.meta, Mapping):
            msg = f"meta={shown(self.meta)} must be a dictionary."
            raise ValueError(msg)
        if self.panel is not None:
            cols = None if self.selection is None else self.selection.col_indices
            self.panel.check_size(self.shape[1], 0 if cols is None else len(cols))

    def _view(self) -> View:
        m, n = self.shape
        names, labels = (self.row_names, self.col_names), (self.row_labels, self.col_labels)
        grids = () if self.selection is None else side_grids(self.selection, names, labels)
        stored = self.meta.get("model")
        if isinstance(stored, dict):
            grids = (*grids, grid_of("", shares_table(stored["fidelity"], stored["bound"])))
        rank = " x ".join(map(str, dict.fromkeys((self.row_factor.shape[1], self.col_factor.shape[0]))))
        norm = "plain" if self.scaling is None else self.scaling.name
        return View(f"Factorization of {m:,} rows and {n:,} columns, rank {rank}", (f"norm: {norm}",), grids)

    def _check_side(self, side: str, size: int) -> None:
        """Raise ValueError for labels, names, weights, indices or scales that do not fit the size of their side."""
        for part in ("weights", "labels", "names"):
            array = getattr(self, f"{side}_{part}")
            if array is not None and array.shape[-1 if (side, part) == ("col", "weights") else 0] != size:
                msg = f"{side}_{part} has shape {array.shape}, which does not fit the matrix of shape {self.shape}."
                raise ValueError(msg)
        labels, n_components = getattr(self, f"{side}_labels"), self._n_components(side)
        if labels is not None and len(labels) and not -1 <= labels.min() <= labels.max() < n_components:
            msg = f"{side}_labels must be between -1 and {n_components - 1}, the number of its components minus one."
            raise ValueError(msg)
        if isinstance(self.selection, Selection):
            indices = getattr(self.selection, f"{side}_indices")
            if indices is not None:
                check_indices(indices, f"selection.{side}_indices", size, f"the number of {side}s")
        if isinstance(self.scaling, Scaling) and len(getattr(self.scaling, f"{side}s")) != size:
            msg = f"scaling has {len(getattr(self.scaling, f'{side}s'))} {side}s, but the factors have {size}."
            raise ValueError(msg)

    def _n_components(self, side: str) -> int:
        return int(self.row_factor.shape[1] if side == "row" else self.col_factor.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the reconstructed matrix."""
        return self.row_factor.shape[0], self.col_factor.shape[1]

    @property
    def T(self) -> "Factorization":
        """The same factorization, for the transpose of the matrix."""
        swapped = {name: getattr(self, OTHER_SIDE.get(name, name)) for name in ARRAYS}
        parts = {name: part.T if part is not None and part.ndim == 2 else part for name, part in swapped.items()}
        selection = None if self.selection is None else self.selection.T
        scaling = None if self.scaling is None else self.scaling.T
        return Factorization(selection=selection, scaling=scaling, meta=self.meta, **parts)

    def reconstruct(self, rows: Any = None) -> NDArray[Any]:
        """Return ``row_factor @ core @ col_factor``, all of it or the given rows (an index array or a slice).

        The result is float64 if the range of float32 is too small; entries beyond that of float64 are infinite.

        Parameters
        ----------
        rows : array-like of int or slice, optional
            The rows to return. Default: all.
        """
        try:
            left = self.row_factor if rows is None else self.row_factor[rows]
        except Exception as error:
            most, reason = len(self.row_factor), one_line(error, 150)
            msg = f"rows={shown(rows)} must be a slice or positions below {most} ({reason})."
            raise ValueError(msg) from error
        parts = [part for part in (left, self.core, self.col_factor) if part is not None]
        with np.errstate(over="ignore", invalid="ignore"):
            product = product_of(parts)
            if np.isfinite(product).all():
                return product
            W, H, exponent = self._thin()
            return np.asarray(np.ldexp((W if rows is None else W[rows]) @ H, exponent))

    def relative_error(self, X: Any) -> float:
        """``||X - reconstruction||_F / ||X||_F`` in the norm of ``scaling``, without forming the whole reconstruction.

        ``||X||^2 - 2 <X, WH> + ||WH||^2`` costs O(nnz r); if it cancels to a small difference, the residual is summed
        over blocks of rows instead. X may have negative entries if the factors have.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n)
            The matrix that was factored.
        """
        return relative_error(*self._thin_beside(X, self.scaling))

    def row_errors(self, X: Any) -> Array:
        """``||x_i - reconstruction_i|| / ||x_i||`` for each row of X in the norm of ``scaling``; nan for a zero row.

        As accurate for small errors and as fast as `relative_error`. For columns use ``self.T.row_errors(X.T)``.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n)
            The matrix that was factored.

        Examples
        --------
        >>> import numpy as np
        >>> from cosep import Factorization
        >>> Factorization(np.ones((3, 1)), None, np.ones((1, 2))).row_errors(np.array([[1, 1], [0, 2], [0, 0]]))
        array([0.        , 0.70710678,        nan])
        """
        scaling = self.scaling
        if isinstance(X, Observed):
            return self._observed_row_errors(X)
        # Within a row, its own factor does not matter, and may be zero.
        of_row = None if scaling is None else Scaling(scaling.name, np.ones(len(scaling.rows)), scaling.cols)
        return relative_row_errors(*self._thin_beside(X, of_row))

    def _observed_row_errors(self, X: Observed) -> Array:
        """Return the errors of rows with gaps, over their observed entries."""
        W, H, exponent = self._thin()
        E = np.ones(X.shape[1]) if self.scaling is None else self.scaling.unit()[1]
        W = X.zeroed.in_units(W, -1, shift=exponent)
        norms = X.squared_row_errors(np.zeros_like(W), H, E)
        errors = np.full(len(norms), np.nan)
        known = norms > 0
        errors[known] = np.sqrt(X.squared_row_errors(W, H, E)[known] / norms[known])
        return errors

    def _thin_beside(self, X: Any, scaling: Scaling | None) -> tuple[LocalMatrix, Array, Array, int]:
        """Return X checked and scaled, and W, H and e with ``W @ H * 2**e`` the reconstruction, scaled too."""
        parts = (self.row_factor, self.core, self.col_factor)
        M = self._checked(X, signed=any(part is not None and bool((part < 0).any()) for part in parts))
        return (M if scaling is None else scaling.apply(M)), *self._thin(scaling)

    def _checked(self, X: Any, *, signed: bool = False) -> LocalMatrix:
        """Return X as a matrix; raise ValueError if its shape is not that of the factors."""
        M = as_matrix(X, signed=signed)
        if M.shape != self.shape:
            msg = f"X has shape {M.shape}, but the factors are those of a matrix of shape {self.shape}."
            raise ValueError(msg)
        return M

    def fidelity(self, X: Any) -> Fidelity:
        """Return the share of X that the selected rows, columns and core explain with their weights, in O(nnz r).

        Shares are measured in the norm of ``scaling``; see `plain_fidelity` for the plain norm.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n)
            The matrix that the rows and columns were selected from.
        """
        errors = self.relative_errors(X)
        rows, cols, core = (None if error is None else 1.0 - error * error for error in errors[:3])
        return Fidelity(rows, cols, core, 1.0 - errors[3] * errors[3])

    def plain_fidelity(self, X: Any) -> Fidelity:
        """Return the same shares in the plain Frobenius norm, with the sample weights of ``scaling`` if it has any.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n)
            The matrix that was factored.
        """
        return replace(self, scaling=None if self.scaling is None else self.scaling.plain).fidelity(X)

    def relative_errors(self, X: Any) -> tuple[float | None, float | None, float | None, float]:
        """Return the relative errors that belong to the fidelities of rows, columns, core and refitted factors.

        They are accurate where fidelities are too close to one.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n)
            The matrix that was factored.
        """
        M = self._checked(X)
        U, V = self.row_weights, self.col_weights
        if self.selection is None or (U is None and V is None):
            msg = "fidelity needs a selection and its weights; make the factorization with cosep.mix."
            raise ValueError(msg)
        data, scaling = M.mantissa, self.scaling
        chosen_rows, chosen_cols = self.selection.row_indices, self.selection.col_indices
        scaled = data if scaling is None else scaling.apply(data)
        D, E = (1.0, 1.0) if scaling is None else (scaling.rows[:, None], scaling.cols)

        def error(W: Any, core: Any, H: Any) -> float:
            return Factorization(D * W, core, H * E).relative_error(scaled)

        rows = cols = core = None
        if U is not None:
            rows = error(U, None, data.take(rows=chosen_rows))
        if V is not None:
            cols = error(data.take(cols=chosen_cols), None, V)
        if U is not None and V is not None:
            core = error(U, data.take(chosen_rows, chosen_cols), V)
        return rows, cols, core, relative_error(scaled.with_exponent(M, 0), *self._thin(scaling))

    def diagnose_core(self) -> CoreDiagnosis:
        """Return how many nonzeros the core has, its condition, and whether it is a permuted diagonal matrix."""
        if self.core is None:
            msg = "There is no core to diagnose: the selection has one side only, or none."
            raise ValueError(msg)
        core = mantissa(self.core)[0]
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

    def _thin(self, scaling: Scaling | None = None) -> tuple[Array, Array, int]:
        """Return W, H and e with ``W @ H * 2**e`` the scaled reconstruction, and entries of about one in W and H."""
        # Scaled first: factors of columns in very different units may be beyond the range of one power of two.
        left = self.row_factor if scaling is None else self.row_factor * scaling.rows[:, None]
        right = self.col_factor if scaling is None else self.col_factor * scaling.cols
        if self.core is None:
            return balanced(left, right)
        W, row_exponent = mantissa(left)
        H, col_exponent = mantissa(right)
        S, core_exponent = mantissa(self.core)
        W, H, more = balanced(*((W, S @ H) if S.shape[0] < S.shape[1] else (W @ S, H)))
        return W, H, row_exponent + col_exponent + core_exponent + more

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one ``.npz`` file with exactly this name; it appears only when it is complete.

        Parameters
        ----------
        path : path-like
            The file to write. An existing one is replaced.
        """
        write_arrays(_checked_path(path), pack(vars(self)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Factorization":
        """Read a file written by `save`. Nothing in it is executed.

        Parameters
        ----------
        path : path-like
            The file to read.

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
            return cls(**unpack(read_checked(path)))
        except FileNotFoundError:
            raise
        except Exception as error:
            # A hostile file can make the readers of its layers raise anything.
            reason = one_line(error) or type(error).__name__
            msg = f"path={str(path)!r} is not a readable factorization ({reason}); write one with Factorization.save."
            raise ValueError(one_line(msg, 2000)) from error


def _checked_path(path: Any) -> Path:
    return check_path(path, "path", "the name of a file")
