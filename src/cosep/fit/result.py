"""The result of a fit, the same record for a matrix in memory and in blocks of rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.fit.explainer import RowExplainer
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Norm, Scaling
from cosep.records.factorization import Factorization
from cosep.records.fidelity import CoreDiagnosis, Fidelity
from cosep.records.gaps import Gaps
from cosep.records.panel_moments import PanelMoments
from cosep.records.selection import Selection
from cosep.records.shares import shares_table, side_grids
from cosep.utils.display import Readable, View, grid_of
from cosep.utils.types import Indices


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SampleResult(Readable):
    """The sampled rows of a matrix in blocks, and their part of the result.

    Attributes
    ----------
    indices : ndarray of int
        Positions of the sampled rows in the whole matrix, in ascending order.
    rows : LocalMatrix
        These rows, with all columns.
    factorization : Factorization
        The factors of these rows; its selection holds positions in the sample.
    """

    indices: Indices
    rows: LocalMatrix
    factorization: Factorization


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FitResult(Readable):
    """What a fit found, ``X ~ row_factor @ core @ col_factor``.

    For blocks that Dask evaluates, ``row_factor``, ``row_weights`` and ``row_labels`` are lazy Dask arrays.

    Attributes
    ----------
    selection : Selection
        The selected rows and columns, by their positions in X.
    core : ndarray of shape (n_rows, n_cols)
        ``X[rows][:, cols]``.
    row_factor, col_factor : array of shape (m, n_rows) and (n_cols, n)
        The refitted factors.
    components : ndarray of shape (n_rows, n)
        ``core @ col_factor``.
    row_weights, col_weights : array of shape (m, n_rows) and (n_cols, n)
        Every row as a mix of the selected rows, every column as a mix of the selected columns.
    row_labels, col_labels : array of int, of shape (m,) and (n,)
        Clusters: the component with the largest share; -1 for an all-zero row or column.
    partner_clusters : ndarray of int, of shape (n_rows,)
        For each cluster of rows, the cluster of columns that goes with it most.
    fidelity : Fidelity
        How much of X the selected rows, columns and core explain by their weights, and the refitted factors, in the
        norm of the model.
    plain_fidelity : Fidelity
        The same factors and weights, measured in the plain Frobenius norm.
    bound : Fidelity
        What no selection and no factors of the same size could exceed, in the norm of the model.
    error : float
        ``||X - row_factor @ core @ col_factor||`` in the norm of the model.
    norm_of_data : float
        ``||X||`` in the norm of the model.
    objective : list of float
        Half the squared relative error, at the start and after each alternation that lowered it.
    norm : Norm
        The norm, with the rule for rows that were not fitted.
    panel : PanelMoments or None
        Means, spreads and correlations of the columns, which the decoders are computed from. None for a model that an
        earlier version saved.
    scaling : Scaling or None
        In memory: the norm of the fitted rows, for `factorization`. None for the plain norm.
    dtype : dtype
        Type of the data, and of the factors.
    row_names, col_names : ndarray of str or None
        Names for `factorization`.
    sample : SampleResult or None
        In blocks: the sampled rows. None for a matrix in memory.
    explainer : RowExplainer or None
        In blocks: what `factors_of_rows` needs to find the factors, weights and clusters of a block of rows.
    n_passes : int or None
        In blocks: how often the data was read.
    gaps : Gaps or None
        The missing entries, and how they were filled. None if every entry was observed.
    params : mapping
        The parameters of the model, as far as JSON can store them.
    meta : mapping
        Further entries of ``meta`` of `factorization`.
    """

    selection: Selection
    core: NDArray[Any]
    row_factor: Any
    col_factor: NDArray[Any]
    components: NDArray[Any]
    row_weights: Any
    col_weights: NDArray[Any]
    row_labels: Any
    col_labels: Indices
    partner_clusters: Indices
    fidelity: Fidelity
    plain_fidelity: Fidelity
    bound: Fidelity
    error: float
    norm_of_data: float
    objective: list[float]
    dtype: np.dtype[Any]
    norm: Norm
    panel: PanelMoments | None = None
    scaling: Scaling | None = None
    row_names: NDArray[Any] | None = None
    col_names: NDArray[Any] | None = None
    sample: SampleResult | None = None
    explainer: RowExplainer | None = None
    n_passes: int | None = None
    gaps: Gaps | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)

    def _view(self) -> View:
        m, n = len(self.row_factor), self.col_factor.shape[1]
        return View(
            f"FitResult of {m:,} rows and {n:,} columns",
            (f"norm: {self.norm.name or 'plain'}",),
            (
                *side_grids(self.selection, (self.row_names, self.col_names), (self.row_labels, self.col_labels)),
                grid_of("", shares_table(self.fidelity, self.bound)),
            ),
        )

    @cached_property
    def factorization(self) -> Factorization:
        """The factors of all rows as one record; raises ValueError for a matrix in blocks."""
        if self.sample is not None:
            msg = "The factors of all rows of a matrix in blocks are not one record; use sample.factorization."
            raise ValueError(msg)
        return Factorization(
            row_factor=self.row_factor,
            core=self.core,
            col_factor=self.col_factor,
            selection=self.selection,
            row_weights=self.row_weights,
            col_weights=self.col_weights,
            row_labels=self.row_labels,
            col_labels=self.col_labels,
            row_names=self.row_names,
            col_names=self.col_names,
            scaling=self.scaling,
            panel=self.panel,
            meta={
                **self.meta,
                "objective": self.objective,
                "bound": [float(share or 0.0) for share in self.bound],
                "model": self._stored(),
            },
        )

    @cached_property
    def sample_factorization(self) -> Factorization:
        """The factors of the sampled rows of a matrix in blocks; raises ValueError for a matrix in memory."""
        if self.sample is None:
            msg = "A matrix in memory has no sampled rows; use factorization."
            raise ValueError(msg)
        record = self.sample.factorization
        return replace(record, meta={**record.meta, "model": self._stored()})

    def _stored(self) -> dict[str, Any]:
        """Return what `cosep.fit.stored_model` needs besides the factors, in types that JSON can store."""
        rule = self.norm.rule
        return {
            "params": dict(self.params),
            "method": self.params.get("method"),
            "weighted": self.norm.weights is not None,
            "fidelity": [float(share or 0.0) for share in self.fidelity],
            "plain_fidelity": [float(share or 0.0) for share in self.plain_fidelity],
            "bound": [float(share or 0.0) for share in self.bound],
            "error": self.error,
            "norm_of_data": self.norm_of_data,
            "dtype": self.dtype.name,
            "row_rule": [rule.power, rule.offset, None if rule.direction is None else rule.direction.tolist()],
            "row_rule_exponent": rule.exponent,
            **({} if self.gaps is None else {"gaps": self.gaps.to_json()}),
        }

    @property
    def core_diagnosis(self) -> CoreDiagnosis:
        """Nonzeros, zero rows and columns, and condition of the core."""
        return (self.factorization if self.sample is None else self.sample.factorization).diagnose_core()
