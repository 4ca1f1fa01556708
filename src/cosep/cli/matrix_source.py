"""A matrix in memory as the input of ``cosep fit``."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from cosep.assess.explanation import explain
from cosep.assess.rank import RankChoice, choose_rank
from cosep.assess.stability import Stability, stability
from cosep.cli.fit import FitOptions, default_count
from cosep.cli.tables import check_zero_bytes, save_table, share_columns
from cosep.estimators import CoSeparableNMF
from cosep.findings.comparison import single_cluster_accuracy
from cosep.findings.describe import describe
from cosep.findings.record import Findings
from cosep.io import NamedMatrix
from cosep.metrics import clustering_accuracy
from cosep.records.factorization import Factorization
from cosep.report.page import write_page
from cosep.select import BOTH_SELECTORS
from cosep.select.method import Method
from cosep.select.scaled import scaled
from cosep.utils.types import Callback


class MatrixSource:
    """A matrix in memory.

    Parameters
    ----------
    reader : callable
        Returns the matrix with its names; called once.
    """

    def __init__(self, reader: Callable[[], NamedMatrix]) -> None:
        self.reader = reader
        self.choice: RankChoice | None = None

    def session(self) -> AbstractContextManager[None]:
        """Return a context that does nothing."""
        return nullcontext()

    def read(self) -> tuple[int, int]:
        """Read the matrix; return its shape."""
        self.data = self.reader()
        check_zero_bytes(self.data.row_names, self.data.col_names)
        m, n = self.data.values.shape
        return int(m), int(n)

    def fit(self, options: FitOptions, meta: dict[str, Any], callback: Callback | None) -> Factorization:
        """Choose the rank if asked to, and fit."""
        data, (m, n) = self.data, self.data.values.shape
        n_rows, n_cols = default_count(options.n_rows, m), default_count(options.n_cols, n)
        if options.choose_rank:
            self.choice = choose_rank(data.values, options.ranks, method=selector(options), callback=callback)
            n_rows = self.choice.n_rows if options.n_rows is None else n_rows
            n_cols = self.choice.n_cols if options.n_cols is None else n_cols
        model = CoSeparableNMF(n_rows, n_cols, method=options.method, scaling=options.scaling, callback=callback)
        record = model.fit(data.values).factorization_
        text = {} if data.text_options is None else {"text": dict(data.text_options)}
        names: dict[str, Any] = {"row_names": data.row_names, "col_names": data.col_names}
        return replace(record, **names, meta={**record.meta, **meta, **text})

    def describe(self, record: Factorization, folder: Path, callback: Callback) -> Findings:  # noqa: ARG002 - no pass to report
        """Return the findings, and write the table of rows."""
        found = describe(record, self.data.values)
        save_table(folder / "rows.csv", share_columns(found.rows))
        return found

    def more(self, found: Findings, record: Factorization) -> dict[str, Any]:  # noqa: ARG002 - labels alone matter
        """Return the accuracy of the clusters, if there are labels."""
        labels = self.data.labels
        if labels is None:
            return {}
        accuracy = clustering_accuracy(labels, record.row_labels)
        return {"accuracy": accuracy, "accuracy_of_one_cluster": single_cluster_accuracy(labels)}

    def write_report(
        self, path: Path, found: Findings, record: Factorization, options: FitOptions, callback: Callback | None
    ) -> None:
        """Write the page, with reasons for the selection and its stability."""
        X = self.data.values
        write_page(
            path,
            found,
            record,
            X,
            explanation=explain(record, X, callback=callback),
            stability=draws(X, record, options, callback),
            rank=self.choice,
            texts=self.data.texts,
            command=str(record.meta["command"]),
        )

    def finish(self) -> None:
        """Do nothing."""


def draws(X: Any, record: Factorization, options: FitOptions, callback: Callback | None) -> Stability | None:
    """Select again from parts of the data, as often as asked for."""
    if options.n_draws == 0 or record.selection is None:
        return None
    return stability(X, record.selection, method=selector(options), n_draws=options.n_draws, callback=callback)


def selector(options: FitOptions) -> Method:
    """Return a method that selects rows and columns as the estimator does."""
    return scaled(BOTH_SELECTORS[options.method], options.scaling)
