"""Blocks of rows as the input of ``cosep fit``."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cosep.assess.explanation import explain
from cosep.assess.rank import RankChoice
from cosep.cli.earlier import EarlierAnswer
from cosep.cli.fit import FitOptions, default_count
from cosep.cli.options import BlockOptions
from cosep.cli.tables import check_zero_bytes
from cosep.estimators import CoSeparableNMF
from cosep.findings.assessments import exchange_sentences, sides_of
from cosep.findings.block_groups import col_names_of, row_names_at
from cosep.findings.blocks import RowFactors, describe_blocks, sample_note, sample_of, sample_record
from cosep.findings.describe import describe
from cosep.findings.record import Findings
from cosep.fit.checkpoint import Checkpoint
from cosep.io import read_blocks
from cosep.io.block_writing import CHUNK, new_array
from cosep.io.weights import read_weights
from cosep.matrix.row_blocks import RowBlocks
from cosep.records.factorization import Factorization
from cosep.report.page import write_page
from cosep.utils.extras import check_installed, optional
from cosep.utils.types import Callback


class BlockSource:
    """A matrix in blocks of rows, which need not fit in memory.

    Parameters
    ----------
    path : Path
        A Zarr store, or a folder of files.
    layer : str, optional
        Which layer of the store.
    options : BlockOptions
        How the blocks are processed.
    earlier : EarlierAnswer, optional
        The answer whose rows and columns stay.
    """

    def __init__(
        self, path: Path, layer: str | None, options: BlockOptions, earlier: EarlierAnswer | None = None
    ) -> None:
        self.path, self.layer, self.options, self.earlier = path, layer, options, earlier
        self.pools: dict[str, Any] = {}
        self.choice: RankChoice | None = None
        self.nouns: tuple[str, str] | None = None
        self.checkpoint = None if options.checkpoint is None else Checkpoint(options.checkpoint)

    def session(self) -> AbstractContextManager[None]:
        """Connect to the cluster, if one is named."""
        check_installed("zarr", "writing the factors of all rows", "dask")
        if self.options.scheduler is None:
            return nullcontext()
        check_installed("distributed", "a scheduler", "dask")
        from cosep.matrix.dask import on_cluster  # noqa: PLC0415 - Dask is an extra

        return on_cluster(self.options.scheduler)

    def read(self) -> tuple[int, int]:
        """Open the blocks; return the shape. All names are read once, so that damaged ones are found before the fit."""
        self.blocks = read_blocks(self.path, layer=self.layer)
        self.nouns = self.blocks.nouns
        check_zero_bytes(col_names_of(self.blocks))
        if self.blocks.row_names is not None:
            for slot in self.blocks.slots:
                check_zero_bytes(self.blocks.row_names(np.arange(slot.start, slot.stop)))
        if self.earlier is not None:
            self.pools = self.earlier.pools_in_blocks(self.blocks)
        return self.blocks.shape

    def fit(self, options: FitOptions, meta: dict[str, Any], callback: Callback | None) -> Factorization:
        """Select rows and columns, fit the factors of the columns, and return the record of the sampled rows."""
        m, n = self.blocks.shape
        weights = (
            None if options.weights is None else read_weights(options.weights, row_names_at(self.blocks, np.arange(m)))
        )
        self.model = CoSeparableNMF(
            default_count(options.n_rows, m),
            default_count(options.n_cols, n),
            method=options.method,
            scaling=options.scaling,
            sample_size=self.options.sample,
            callback=callback,
            checkpoint=self.checkpoint,
            **self.pools,
        ).fit(self.blocks, sample_weight=weights)
        return sample_record(self.model.result_, self.blocks, meta)

    def describe(self, record: Factorization, folder: Path, callback: Callback) -> Findings:
        """Return the findings of all rows, and write their factors to ``rows.zarr``."""
        store = RowStore(folder / "rows.zarr", self.blocks, self.model.n_rows_)
        return describe_blocks(self.model.result_, self.blocks, record, store.write, callback)

    def more(self, found: Findings, record: Factorization) -> dict[str, Any]:  # noqa: ARG002 - the model tells more
        """Return what was selected, and what it took."""
        return {
            "selected_rows": [{"index": one.index, "name": one.name} for one in found.topics],
            "selected_cols": [{"index": one.index, "name": one.name} for one in found.selected_cols],
            "n_sampled": len(self.model.sample_indices_),
            "n_passes": self.model.n_passes_,
            "n_blocks": len(self.blocks.lengths),
        }

    def write_report(
        self,
        path: Path,
        found: Findings,
        record: Factorization,
        options: FitOptions,  # noqa: ARG002 - there are no draws
        callback: Callback | None,
    ) -> tuple[str, ...]:
        """Write the page of the sampled rows; return what exchanges among them would improve."""
        sample = sample_of(self.model.result_)
        X, n_sampled = sample.rows, len(sample.indices)
        if n_sampled < found.shape[0]:
            record = replace(record, meta={**record.meta, "note": sample_note(found, n_sampled)})
        reasons, of_sample = explain(X, record, callback=callback), describe(X, record)
        write_page(path, of_sample, record, X, explanation=reasons, command=str(record.meta["command"]))
        return exchange_sentences(reasons, sides_of(of_sample, record.row_names, record.col_names))

    def finish(self) -> None:
        """Remove the checkpoint: last, because the pass over all rows and the writing can be stopped too."""
        if self.checkpoint is not None:
            self.checkpoint.forget()


class RowStore:
    """A Zarr group with the factors of all rows, written a few rows at a time."""

    def __init__(self, path: Path, blocks: RowBlocks, r1: int) -> None:
        optional("zarr", "writing the factors of all rows", "dask").create_group(str(path))
        m, dtype, rows = blocks.shape[0], blocks.dtype, max(1, CHUNK // r1)
        self.arrays = RowFactors(
            row_factor=new_array(path / "row_factor", (m, r1), (rows, r1), dtype),
            row_weights=new_array(path / "row_weights", (m, r1), (rows, r1), dtype),
            row_labels=new_array(path / "row_labels", (m,), (rows,), np.dtype(np.int64)),
        )

    def write(self, start: int, stop: int, factors: RowFactors) -> None:
        """Write the factors of the rows from start to stop."""
        for array, values in zip(self.arrays, factors, strict=True):
            array[start:stop] = values
