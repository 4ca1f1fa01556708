"""The earlier answer that ``cosep fit --grow`` makes larger."""

from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.cli.model_folder import load_model, positions_in, table_options, text_options
from cosep.estimators.growing import has_same_entries
from cosep.findings.block_groups import col_names_of, row_names_at
from cosep.findings.topics import topics_of
from cosep.io import NamedMatrix
from cosep.matrix.checks import check_choice
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import RowBlocks
from cosep.matrix.validation import as_matrix
from cosep.select import BOTH_SELECTORS
from cosep.select.pool import Pool
from cosep.utils.messages import shown
from cosep.utils.types import Indices


class EarlierAnswer:
    """The rows and columns that an earlier ``cosep fit`` selected, which stay.

    Parameters
    ----------
    path : Path
        Its folder, or the ``model.npz`` in it.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.record = path, load_model(path, "grow")
        topics = topics_of(self.record)
        self.rows, self.cols, self.core = topics.rows, topics.cols, topics.core

    @property
    def text(self) -> dict[str, Any]:
        """How to count the words of texts: as they were counted then."""
        return text_options(self.record)

    @property
    def table(self) -> tuple[list[str], dict[str, Any]]:
        """Its columns, and how their table was read."""
        return table_options(self.record)

    @property
    def counts(self) -> tuple[int, int]:
        """How many rows and columns it has."""
        return len(self.rows), len(self.cols)

    def setting(self, name: str, default: str | None) -> Any:
        """Return the method, or the name of the norm, that it was made with."""
        return self.record.meta.get(name, default)

    def sizes(self, n_rows: int | None, n_cols: int | None, method: str) -> tuple[int, int]:
        """Return how many rows and columns to select; raise ValueError for fewer, or a method that cannot keep some."""
        if "row_pool" not in signature(BOTH_SELECTORS[check_choice(method, "method", BOTH_SELECTORS)]).parameters:
            msg = f"method={method!r} cannot keep the rows and columns of --grow; use another, such as faithful."
            raise ValueError(msg)
        for name, asked, now in zip(("n_rows", "n_cols"), (n_rows, n_cols), self.counts, strict=True):
            if asked is not None and asked < now:
                msg = (
                    f"{name}={asked} must be at least {now}, the number in grow={shown(str(self.path))}; ask for more."
                )
                raise ValueError(msg)
        return self.counts[0] if n_rows is None else n_rows, self.counts[1] if n_cols is None else n_cols

    def columns_of(self, data: NamedMatrix) -> NamedMatrix:
        """Return the columns of the model, by name and in its order; others are left out."""
        names = np.asarray(self.record.col_names)
        columns = positions_in(data.col_names, names, "columns")
        return data if columns is None else replace(data, values=data.values[:, columns], col_names=names)

    def pools_in(self, data: NamedMatrix) -> dict[str, Pool]:
        """Return the pools that keep its rows and columns of a matrix in memory."""
        return self._pools(as_matrix(data.values), np.asarray(data.row_names))

    def pools_in_blocks(self, blocks: RowBlocks) -> dict[str, Pool]:
        """Return the same for blocks of rows, whose columns must be those of the model in order."""
        if not np.array_equal(col_names_of(blocks), np.asarray(self.record.col_names)):
            msg = (
                f"grow={shown(str(self.path))} has other columns than INPUT, or another order of them; blocks of rows "
                "must have the same columns."
            )
            raise ValueError(msg)
        return self._pools(blocks, row_names_at(blocks, np.arange(blocks.shape[0])))

    def _pools(self, matrix: LocalMatrix | RowBlocks, row_names: NDArray[Any]) -> dict[str, Pool]:
        rows = self._positions(row_names)
        if not has_same_entries(matrix, rows, self.cols, self.core):
            msg = (
                f"grow={shown(str(self.path))} is a model of another table: INPUT has other entries where its selected "
                "rows and columns meet; name an answer of the same data."
            )
            raise ValueError(msg)
        return {"row_pool": Pool(include=rows), "col_pool": Pool(include=self.cols)}

    def _positions(self, row_names: NDArray[Any]) -> Indices:
        """Return where its selected rows are, by name."""
        names = np.asarray(self.record.row_names)
        if np.array_equal(row_names, names):
            return self.rows
        wanted = names[self.rows]
        found = positions_in(row_names, wanted, "selected rows")
        return np.arange(len(wanted)) if found is None else found
