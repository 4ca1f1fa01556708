"""What a fitted CoSeparableNMF answers: topics of rows, a table of topics, a page, and its file."""

import math
import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cosep.estimators.base import Factorizer
from cosep.findings.topics import topics_of
from cosep.fit.block_mixtures import block_labels
from cosep.fit.result import FitResult, SampleResult
from cosep.fit.stored_model import stored_result
from cosep.io.named_matrix import numbered
from cosep.matrix.norm import GIVEN
from cosep.matrix.row_blocks import Column
from cosep.matrix.to_row_blocks import own_blocks
from cosep.records.factorization import Factorization
from cosep.records.shares import shares_table
from cosep.report import write_report
from cosep.utils.display import ColumnTable, View, grid_of
from cosep.utils.lookup import names_at
from cosep.utils.messages import one_line
from cosep.utils.paths import check_path
from cosep.utils.types import Indices, Table

# The file of the model in a folder that ``cosep fit`` wrote.
MODEL_FILE = "model.npz"
# Columns of a topic that its table names.
MOST_NAMED = 8


class Answers(Factorizer):
    """Base class of `CoSeparableNMF` with what a fitted model answers."""

    result_: FitResult

    def predict(self, X: Any) -> Indices:
        """Return the topic of each row: the component with the largest share in it.

        For the rows of the fit these are ``row_labels_``.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features), or a Dask array or `row_blocks` of such rows

        Returns
        -------
        ndarray of int, of shape (m_new,)
            -1 for an all-zero row. A lazy Dask array if Dask evaluates X.

        Examples
        --------
        >>> from cosep import CoSeparableNMF, make_coseparable
        >>> X, _ = make_coseparable(60, 40, 4, 4, random_state=0)
        >>> model = CoSeparableNMF(n_rows=4, n_cols=4).fit(X)
        >>> bool((model.predict(X) == model.row_labels_).all())
        True
        """
        check_is_fitted(self)
        if not self._is_in_blocks(X):
            return block_labels(self._row_model(), self._matrix(X, reset=False), 0)[0]
        blocks = self._blocks(own_blocks(X), reset=False)
        found: Indices
        (found,) = blocks.map_rows(block_labels, self._row_model(), [Column(None, np.dtype(np.intp))])
        return found

    def topics(self) -> Table:
        """Return a table of the topics, one for each selected row; ``pandas.DataFrame(model.topics())`` shows it.

        Returns
        -------
        dict of ndarray
            ``representative``, the name of the selected row; ``anchors``, the selected columns that belong to it;
            ``columns``, those that it contributes most to in the norm of the model; ``cluster_size``, the
            number of rows in its cluster, which a page splits into those that are explained and those that are
            unassigned. Names are "row 17" and "column 17" where there are none.

        See Also
        --------
        cosep.describe : Everything that can be said about a fit, given its data.

        Examples
        --------
        >>> import pandas as pd
        >>> from cosep import CoSeparableNMF
        >>> X = pd.DataFrame([[9, 1, 0], [4, 0, 0], [0, 2, 8]], index=["Ada", "Bob", "Cem"], columns=["a", "b", "c"])
        >>> CoSeparableNMF(n_rows=2, n_cols=2).fit(X).topics()
          representative  anchors  columns  cluster_size
          Ada             a        a, b                2
          Cem             c        c, b                1
        """
        check_is_fitted(self)
        record = self._record
        topics = topics_of(record)
        names = record.col_names
        labels = np.asarray(self.row_labels_)
        leading = topics.components * topics.col_scale
        orders = [[j for j in np.argsort(-line, kind="stable")[:MOST_NAMED] if line[j] > 0] for line in leading]
        anchors = [topics.cols[topics.anchors(k)] for k in range(len(topics.rows))]
        return ColumnTable(
            representative=names_at(topics.rows, record.row_names, "row"),
            anchors=_joined(anchors, names),
            columns=_joined([np.array(order, dtype=np.intp) for order in orders], names),
            cluster_size=np.bincount(labels[labels >= 0], minlength=len(topics.rows)),
        )

    def report(self, X: Any, path: str | os.PathLike[str], **parts: Any) -> None:
        """Write one self-contained HTML page about the model.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n_features)
            The data of the fit; after a fit to blocks of rows, the sampled rows ``X[model.sample_indices_]``.
        path : path-like
            The name of the file.
        **parts
            Further parts of the page, as in `cosep.report.write_report`: ``explanation``, ``stability``, ``rank``,
            ``selection_path``, ``texts``, ``labels``, ``title``, ``nouns`` and ``command``.

        See Also
        --------
        cosep.report.write_report : The function that this calls.
        """
        check_is_fitted(self)
        write_report(X, self._record, path, **parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one ``.npz`` file, which `load`, ``cosep transform`` and `Factorization.load` read.

        After a fit to blocks of rows it has the factors of the sampled rows. Pools, callbacks, and methods that are not
        known by name are not stored.

        Parameters
        ----------
        path : path-like
            The name of the file, which appears only when it is complete.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from cosep import CoSeparableNMF, make_coseparable
        >>> X, _ = make_coseparable(60, 40, 4, 4, random_state=0)
        >>> model = CoSeparableNMF(n_rows=4, n_cols=4).fit(X)
        >>> with TemporaryDirectory() as folder:
        ...     model.save(Path(folder) / "model.npz")
        ...     again = CoSeparableNMF.load(folder)
        >>> bool((again.transform(X) == model.transform(X)).all())
        True
        """
        check_is_fitted(self)
        self._record.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the fitted model of a file written by `save`, or by ``cosep fit``. Nothing in it is executed.

        Parameters
        ----------
        path : path-like
            The file, or the folder that ``cosep fit`` wrote.

        Returns
        -------
        CoSeparableNMF

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is damaged, or not that of a model.
        """
        file = check_path(path, "path", "the name of a file or folder")
        file = file / MODEL_FILE if file.is_dir() else file
        record = Factorization.load(file)
        try:
            result = stored_result(record)
            model = cls(**_parameters(result, cls))
        except (ValueError, TypeError) as error:
            msg = f"path={str(file)!r} is not the file of a CoSeparableNMF: {one_line(error)}."
            raise ValueError(one_line(msg, 2000).replace("..", ".")) from error
        model._restore(result)
        return model

    def _restore(self, result: FitResult) -> None:
        """Set the attributes of a model that was saved."""
        n, names = result.col_factor.shape[1], result.col_names
        self.n_features_in_ = n
        if names is not None and not np.array_equal(names, numbered("column", n)):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self._store_result(result)

    def _store_result(self, result: FitResult) -> None:
        """Set the attributes of a fit."""
        raise NotImplementedError

    def _names_of_selected_rows(self) -> NDArray[Any] | None:
        """Return the names of the selected rows, None if there are none."""
        if not hasattr(self, "result_"):
            return None
        names, chosen = self._record.row_names, self._record.selection
        return None if names is None or chosen is None else np.asarray(names[np.asarray(chosen.row_indices)])

    def _names_of_columns(self) -> NDArray[Any] | None:
        """Return the names of all columns, None if there are none."""
        return self.result_.col_names if hasattr(self, "result_") else None

    @property
    def _record(self) -> Factorization:
        """The record of the fitted rows, or of the sampled ones after a fit to blocks."""
        return self.result_.factorization if self.result_.sample is None else self.result_.sample_factorization

    @property
    def factorization_(self) -> Factorization:
        """All factors, weights and labels as one record, after a fit to a matrix in memory."""
        check_is_fitted(self)
        if self.result_.sample is not None:
            msg = (
                "factorization_ is not set after a fit to blocks of rows, whose factors need not fit in memory; use "
                "sample_factorization_, the record of the sampled rows, or row_factor_, col_factor_ and core_."
            )
            raise AttributeError(msg)
        return self.result_.factorization

    @property
    def sample_factorization_(self) -> Factorization:
        """The record of the sampled rows, after a fit to blocks of rows."""
        self._sample("sample_factorization_")
        return self.result_.sample_factorization

    @property
    def sample_indices_(self) -> Indices:
        """Positions of the sampled rows, after a fit to blocks of rows."""
        return self._sample("sample_indices_").indices

    @property
    def n_passes_(self) -> int | None:
        """How often the data was read, after a fit to blocks of rows."""
        self._sample("n_passes_")
        return self.result_.n_passes

    def _sample(self, attribute: str) -> SampleResult:
        """Return the sampled rows; raise AttributeError if there are none."""
        check_is_fitted(self)
        if self.result_.sample is None:
            msg = f"{attribute} is set by a fit to blocks of rows only; after a fit in memory use factorization_."
            raise AttributeError(msg)
        return self.result_.sample

    def _view(self) -> View:
        """Return the topics, and what is explained, for a notebook."""
        shares = grid_of("", shares_table(self.result_.fidelity, self.result_.bound))
        # Lazy labels are not computed to show a model.
        known = isinstance(self.row_labels_, np.ndarray)
        return View("Fitted model", (), (*([grid_of("Topics", self.topics())] if known else []), shares))


def _joined(positions: list[Indices], names: Any) -> Any:
    """Return lists of columns as texts."""
    return np.array([", ".join(names_at(some, names, "column")) for some in positions], dtype=np.str_)


def storable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a model that JSON can store; a function as method by its name."""
    kept = {
        name: value for name, value in params.items() if value is None or isinstance(value, (bool, int, float, str))
    }
    method = params["method"]
    if not isinstance(method, str):
        kept["method"] = f"{getattr(method, '__name__', type(method).__name__)} (a function)"
    return {name: value for name, value in kept.items() if not isinstance(value, float) or math.isfinite(value)}


def _parameters(result: FitResult, model: type) -> dict[str, Any]:
    """Return the stored parameters that a model has; given factors of the norm come from the record."""
    known = {name: value for name, value in result.params.items() if name in model().get_params(deep=False)}
    if result.norm.name == GIVEN and result.scaling is not None:
        known["scaling"] = (result.scaling.rows, result.scaling.cols)
    return known
