"""A matrix in memory as the input of ``cosep fit``."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.assess.explanation import explained_in
from cosep.assess.normed_data import NormedData
from cosep.assess.path import SelectionPath, path_in
from cosep.assess.rank import RankChoice, choose_rank
from cosep.assess.stability import Stability, stability
from cosep.cli.earlier import EarlierAnswer
from cosep.cli.fit import FitOptions, default_count
from cosep.cli.summary import path_of
from cosep.cli.tables import check_zero_bytes, save_table, share_columns
from cosep.estimators import CoSeparableNMF
from cosep.findings.assessments import exchange_sentences, sides_of
from cosep.findings.describe import describe
from cosep.findings.record import Findings
from cosep.io import NamedMatrix, TextOptions
from cosep.io.weights import read_weights
from cosep.records.factorization import Factorization
from cosep.records.filled_data import data_of, matrix_of, missing_in_core, n_missing_of
from cosep.report.page import write_page
from cosep.utils.messages import shown
from cosep.utils.types import Callback
from cosep.utils.warn import warn

# The path of m x n data with r1 selected rows and r2 columns is in the report if m r1^2 + n r2^2 is at most this.
MAX_PATH_COST = 1 << 25
# A text with fewer different words hardly tells its topic.
FEW_WORDS = 3
# What a column of weights is usually called.
WEIGHT_NAMES = ("weight", "weights", "sample_weight", "sample weight")


class MatrixSource:
    """A matrix in memory.

    Parameters
    ----------
    reader : callable
        Returns the matrix with its names; called once.
    earlier : EarlierAnswer, optional
        The answer whose rows and columns stay.
    table : mapping, optional
        How the table is read, to be stored with the model for new rows.
    """

    def __init__(
        self,
        reader: Callable[[], NamedMatrix],
        earlier: EarlierAnswer | None = None,
        table: Mapping[str, str] | None = None,
    ) -> None:
        self.reader, self.earlier = reader, earlier
        self.table: dict[str, Any] = {"table": dict(table)} if table else {}
        self.pools: dict[str, Any] = {}
        self.choice: RankChoice | None = None
        self.nouns: tuple[str, str] | None = None
        self.norm: dict[str, Any] = {}
        self.path: SelectionPath | None = None

    def session(self) -> AbstractContextManager[None]:
        """Return a context that does nothing."""
        return nullcontext()

    def read(self) -> tuple[int, int]:
        """Read the matrix; return its shape."""
        data = self.reader()
        if self.earlier is not None:
            data = self.earlier.columns_of(data)
            self.pools = self.earlier.pools_in(data)
        self.data, self.nouns = data, data.nouns
        check_zero_bytes(self.data.row_names, self.data.col_names)
        m, n = self.data.values.shape
        return int(m), int(n)

    def fit(self, options: FitOptions, meta: dict[str, Any], callback: Callback | None) -> Factorization:
        """Choose the rank if asked to, and fit."""
        data, (m, n) = self.data, self.data.values.shape
        weights = None if options.weights is None else read_weights(options.weights, data.row_names)
        if weights is None and data.texts is None:
            warn_of_weights(data.col_names)
        if data.texts is not None:
            warn_of_short_texts(data)
        self.norm = {"scaling": options.scaling, "sample_weight": weights}
        n_rows, n_cols = default_count(options.n_rows, m), default_count(options.n_cols, n)
        if options.choose_rank and options.missing is not None:
            msg = "--choose-rank does not apply to --missing: try several --rows and --cols on entries that you hide."
            raise ValueError(msg)
        if options.choose_rank:
            how = {"method": options.method, "n_jobs": options.n_jobs, **self.norm}
            self.choice = choose_rank(data.values, options.ranks, **how, callback=callback)
            n_rows = self.choice.n_rows if options.n_rows is None else n_rows
            n_cols = self.choice.n_cols if options.n_cols is None else n_cols
        known: dict[str, Any] = {"method": options.method, "scaling": options.scaling, "missing": options.missing}
        model = CoSeparableNMF(n_rows, n_cols, **known, callback=callback, **self.pools)
        record = model.fit(data.values, sample_weight=self.norm["sample_weight"]).factorization_
        self.filled = data.values if options.missing is None else matrix_of(data.values, record)
        text = {} if data.text_options is None else {"text": dict(data.text_options)}
        names: dict[str, Any] = {"row_names": data.row_names, "col_names": data.col_names}
        return replace(record, **names, meta={**record.meta, **meta, **text, **self.table})

    def describe(self, record: Factorization, folder: Path, callback: Callback) -> Findings:  # noqa: ARG002 - no pass to report
        """Return the findings, and write the table of rows."""
        found = describe(self.data.values, record, labels=self.data.labels)
        save_table(folder / "rows.csv", share_columns(found.rows))
        return found

    def more(self, found: Findings, record: Factorization) -> dict[str, Any]:  # noqa: ARG002 - the path alone matters
        """Return the path, if there is a report, and the missing entries, if there are any."""
        path = {} if self.path is None else {"path": path_of(self.path, record)}
        return path | missing_entries(record)

    def write_report(
        self, path: Path, found: Findings, record: Factorization, options: FitOptions, callback: Callback | None
    ) -> tuple[str, ...]:
        """Write the page, with reasons for the selection and its stability; return what exchanges would improve."""
        given = NormedData(data_of(self.data.values, record), record)
        if is_path_cheap(record):
            self.path = path_in(given, callback)
        reasons = explained_in(given, callback)
        del given
        write_page(
            path,
            found,
            record,
            self.filled,
            explanation=reasons,
            stability=self._draws(record, options, callback),
            rank=self.choice,
            selection_path=self.path,
            texts=self.data.texts,
            command=str(record.meta["command"]),
        )
        return exchange_sentences(reasons, sides_of(found, record.row_names, record.col_names))

    def finish(self) -> None:
        """Do nothing."""

    def _draws(self, record: Factorization, options: FitOptions, callback: Callback | None) -> Stability | None:
        """Select again from parts of the data, as often as asked for."""
        if options.n_draws == 0 or record.selection is None:
            return None
        known = {"method": options.method, "n_draws": options.n_draws, "n_jobs": options.n_jobs, **self.norm}
        model = record if options.missing is None else record.selection
        return stability(self.filled, model, **known, callback=callback)


def missing_entries(record: Factorization) -> dict[str, Any]:
    """Return how many entries were missing, and the names of those in the core, for the JSON summary; {} for none."""
    count, selection = n_missing_of(record), record.selection
    if not count or selection is None:
        return {}
    rows, cols = (
        np.asarray(record.row_names)[selection.row_indices],
        np.asarray(record.col_names)[selection.col_indices],
    )
    return {"missing": {"count": count, "in_core": [[str(rows[k]), str(cols[l])] for k, l in missing_in_core(record)]}}


def warn_of_weights(col_names: NDArray[Any]) -> None:
    """Warn if a column of the data is named as weights of the rows would be."""
    for name in col_names.tolist():
        if name.strip().lower() in WEIGHT_NAMES:
            warn(
                f"Column {shown(name)} was read as data. If it says how much each row counts, leave it out by "
                f"--drop {name.strip()}, and pass it as --weights FILE, a .csv of the names of rows and their weights.",
                UserWarning,
            )


def warn_of_short_texts(data: NamedMatrix) -> None:
    """Warn if most texts have too few of the words that are counted; say which option takes them away, if one does."""
    share = float(np.mean((data.values > 0).sum(axis=1) < FEW_WORDS))
    if share <= 0.5:
        return
    chosen, usual = TextOptions.from_mapping(data.text_options or {}), TextOptions()
    advice = {
        "raise --top-words": chosen.top_words is not None,
        "lower --min-df": chosen.min_df != usual.min_df,
        "raise --max-df": chosen.max_df != usual.max_df,
        "leave out fewer --stop-words": chosen.stop_words not in {None, usual.stop_words},
    }
    ways = [way for way, applies in advice.items() if applies]
    ways.append("join texts that belong together, such as all of one page or of one author")
    warn(
        f"{share:.0%} of the texts have fewer than {FEW_WORDS} of the words that are counted, too few to tell topics "
        f"apart: {', or '.join(ways)}.",
        UserWarning,
    )


def is_path_cheap(record: Factorization) -> bool:
    """Return whether the path of a selection takes a few seconds at most."""
    m, n = record.shape
    r1, r2 = np.asarray(record.core).shape
    return bool(m * r1**2 + n * r2**2 <= MAX_PATH_COST)
