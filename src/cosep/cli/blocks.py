"""A matrix in blocks of rows enters; a folder with its model, tables, summary and report leaves, and all long factors.

After the fit one more pass explains every row. Its answers are written to ``rows.zarr`` some blocks at a time, so that
what belongs to all rows is never in memory at once.

Notation
--------
X : one block of rows, or all of them; C : the chosen columns
P1, U : refitted factor and faithful weights of the rows; H : what P1 is multiplied by; V : weights of the columns
"""

import time
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from cosep.assess.explanation import explain
from cosep.cli.fit import Manner, Wishes, check, circumstances, say, table, usual, write_model
from cosep.cli.folder import FILES, complete_folder
from cosep.cli.summary import OTHERS, json_text, told
from cosep.cli.tables import formula_warning, refuse_zero_bytes, save_table
from cosep.cli.turns import col_names_of, in_turn, names_at
from cosep.cli.watching import nobody, watching
from cosep.estimators import CoSeparableNMF
from cosep.findings.topics import TIED, topics_of
from cosep.findings.wording import count, percent
from cosep.fit.checkpoint import Checkpoint
from cosep.fit.explainer import RowExplainer, factors_of_rows
from cosep.fit.result import SampleResult
from cosep.io import read_blocks
from cosep.io.block_writing import CHUNK, new_array
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import RowBlocks
from cosep.records.factorization import Factorization
from cosep.report import write_report
from cosep.solve.labels import factor_labels
from cosep.utils.extras import optional
from cosep.utils.types import Array, Callback, Indices


@dataclass(frozen=True)
class Way:
    """How blocks are gone through: which layer, where to keep what is done, rows to sample, address of a cluster."""

    layer: str | None = None
    checkpoint: Path | None = None
    sample: int | None = None
    scheduler: str | None = None


def run(path: Path, out: Path, wishes: Wishes, way: Way, manner: Manner, command: str) -> None:
    """Fit blocks of rows, write, and say what was found; progress goes to a terminal only."""
    start = time.perf_counter()
    optional("zarr", "writing the factors of all rows", "dask")
    with watching(Console(stderr=True), quiet=manner.quiet or manner.as_json) as callback, cluster(way.scheduler):
        tell = callback or nobody
        tell("read", 0, 1, np.nan)
        blocks = read_blocks(path, layer=way.layer)
        check(wishes, blocks.shape)
        check_names(blocks)
        checkpoint = None if way.checkpoint is None else Checkpoint(way.checkpoint)
        with complete_folder(out) as folder, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            model = fitted(blocks, wishes, way, checkpoint, callback)
            record = named(model, blocks, wishes, command)
            found = explained(folder / "rows.zarr", blocks, model, tell)
            tell("write", 0, 1, np.nan)
            write_model(folder, record)
            save_table(folder / "columns.csv", columns(record, found))
            others = [names_at(blocks, row[row >= 0]).tolist() for row in found.closest]
            summary = told(record, blocks.shape, found.sizes.tolist(), others) | figures(model, record, blocks)
            summary |= circumstances(wishes, command)
            summary["warnings"] = list(dict.fromkeys(str(one.message) for one in caught))
            summary["warnings"] += formula_warning(np.asarray(record.row_names), np.asarray(record.col_names))
            if wishes.report:
                X = cast("SampleResult", model.result_.sample).rows.raw
                meta = {**record.meta, "warnings": summary["warnings"]}
                if len(model.sample_indices_) < blocks.shape[0]:
                    meta["note"] = note(summary)
                reasons = explain(record, X, callback=callback)
                write_report(
                    folder / "report.html", replace(record, meta=meta), X, explanation=reasons, command=command
                )
            summary["seconds"] = round(time.perf_counter() - start, 3)
            (folder / "summary.json").write_text(f"{json_text(summary)}\n", encoding="utf-8")
    if checkpoint is not None:
        checkpoint.forget()  # last: the pass over all rows, and what is written, can be stopped too
    summary["files"] = [str(out / name) for name in FILES if (out / name).exists()]
    say(summary, None, manner)


def cluster(address: str | None) -> AbstractContextManager[None]:
    """Return what lets a cluster compute, if one is named."""
    if address is None:
        return nullcontext()
    optional("distributed", "a scheduler", "dask")
    from cosep.matrix.dask import on_cluster  # noqa: PLC0415 - Dask is an extra

    return on_cluster(address)


def check_names(blocks: RowBlocks) -> None:
    """Read the names of all rows once, so that one that cannot be read is told before the fit and not after it."""
    refuse_zero_bytes(col_names_of(blocks))
    if blocks.row_names is not None:
        for slot in blocks.slots:
            refuse_zero_bytes(blocks.row_names(np.arange(slot.start, slot.stop)))


def fitted(
    blocks: RowBlocks, wishes: Wishes, way: Way, checkpoint: Checkpoint | None, callback: Callback | None
) -> CoSeparableNMF:
    """Select rows and columns, and fit the factors of the short side."""
    return CoSeparableNMF(
        usual(wishes.n_rows, blocks.shape[0]),
        usual(wishes.n_cols, blocks.shape[1]),
        method=wishes.method,
        scaling=wishes.scaling,
        sample_size=way.sample,
        callback=callback,
        checkpoint=checkpoint,
    ).fit(blocks)


def named(model: CoSeparableNMF, blocks: RowBlocks, wishes: Wishes, command: str) -> Factorization:
    """Return the record of the sampled rows, with names and with how it was made."""
    record: Factorization = model.sample_factorization_
    return replace(
        record,
        row_names=names_at(blocks, model.sample_indices_),
        col_names=col_names_of(blocks),
        meta={
            **record.meta,
            "method": wishes.method,
            "scaling": wishes.scaling,
            "command": command,
            "sampled from": blocks.shape[0],
        },
    )


def figures(model: CoSeparableNMF, record: Factorization, blocks: RowBlocks) -> dict[str, Any]:
    """Return what was selected, how much it explains of all rows, and what that took."""
    rows, cols = np.asarray(model.row_indices_), np.asarray(model.col_indices_)
    sides = ((rows, names_at(blocks, rows)), (cols, np.asarray(record.col_names)[cols]))
    selected_rows, selected_cols = (
        [{"index": int(i), "name": str(name)} for i, name in zip(*side, strict=True)] for side in sides
    )
    return {
        "selected_rows": selected_rows,
        "selected_cols": selected_cols,
        **{f"{part}_fidelity": getattr(model, f"{part}_fidelity_") for part in ("row", "col", "core")},
        "explained": 1.0 - model.result_.relative_error,
        "n_sampled": len(model.sample_indices_),
        "n_passes": model.n_passes_,
        "n_blocks": len(blocks.lengths),
    }


def note(summary: dict[str, Any]) -> str:
    """Return the sentence that tells readers of the page which rows they look at."""
    m, shares = summary["shape"][0], [percent(summary[f"{part}_fidelity"]) for part in ("row", "col", "core")]
    return (
        f"This page shows {count(summary['n_sampled'], 'row')} sampled from {m:,}, large ones more likely than small "
        f"ones, and counts and measures these alone. All {m:,} were searched; of all, the selected rows explain "
        f"{shares[0]}, the selected columns {shares[1]}, the core {shares[2]}, refitted weights "
        f"{percent(summary['explained'])}."
    )


# Fields of `Told` that have a line for each row, and those that are sums over rows.
LONG, SUMMED = ("P1", "U", "labels"), ("sizes", "gram", "products", "crosses", "squares")


class Asked(NamedTuple):
    """What a block needs to know: all that explains a row, the chosen rows by position, and their norms."""

    fitted: RowExplainer
    rows: Indices
    norms: Array
    dtype: np.dtype[Any]


class Told(NamedTuple):
    """What is found of some rows: P1, U and clusters of each; how many each topic speaks for, and those closest to it.

    Of the columns: ``P1'P1``, ``X'P1``, ``X'C`` and their squared norms.
    """

    P1: NDArray[Any]
    U: NDArray[Any]
    labels: Indices
    sizes: Indices
    closest: Indices
    parts: Array
    gram: Array
    products: Array
    crosses: Array
    squares: Array

    def merge(self, others: Sequence[Self]) -> "Told":
        """Add following rows."""
        return merged([self, *others])


def merged(found: Sequence[Any]) -> Told:
    """Put what is long below each other, add up what is short, and keep the closest of all."""
    parts = {name: [getattr(one, name) for one in found] for name in Told._fields}
    closest, near = np.concatenate(parts["closest"], axis=1), np.concatenate(parts["parts"], axis=1)
    order = np.argsort(-near, axis=1, kind="stable")[:, :OTHERS]
    long = {name: np.concatenate(parts[name]) for name in LONG}
    sums = {name: np.sum(parts[name], axis=0) for name in SUMMED}
    nearest = {"closest": np.take_along_axis(closest, order, 1), "parts": np.take_along_axis(near, order, 1)}
    return Told(**long, **sums, **nearest)


def tell_of(asked: Asked, block: LocalMatrix, start: int) -> Told:
    """Explain the rows of one block."""
    P1, U, labels = factors_of_rows(asked.fitted, block, start)
    topics, lengths = factor_labels(U, asked.norms), np.sqrt(block.T.squared_norms())
    held = (U * asked.norms)[np.arange(len(topics)), topics] / np.where(lengths > 0, lengths, 1.0)
    positions = np.arange(start, start + len(topics))
    closest = np.full((len(asked.rows), OTHERS), -1)
    parts = np.full(closest.shape, -np.inf)
    for k, row in enumerate(asked.rows):
        ours = np.flatnonzero((topics == k) & (positions != row))
        near = held[ours].round(TIED)
        best = np.argsort(-near, kind="stable")[:OTHERS]
        closest[k, : len(best)], parts[k, : len(best)] = positions[ours[best]], near[best]
    return Told(
        P1.astype(asked.dtype),
        U.astype(asked.dtype),
        labels,
        np.bincount(topics[topics >= 0], minlength=len(asked.rows)),
        closest,
        parts,
        P1.T @ P1,
        block.cross(P1),
        block.cross(block.take(cols=asked.fitted.col_indices)),
        block.squared_norms(),
    )


def explained(path: Path, blocks: RowBlocks, model: CoSeparableNMF, tell: Callback) -> Told:
    """Explain all rows, write the answers to a store, and return what they add up to."""
    fit, m = cast("RowExplainer", model.result_.explainer), blocks.shape[0]
    asked = Asked(fit, np.asarray(model.row_indices_), np.linalg.norm(fit.selected_rows, axis=1), blocks.dtype)
    r1 = len(asked.rows)
    optional("zarr", "writing the factors of all rows", "dask").create_group(str(path))
    shapes = {"row_factor": (r1,), "row_weights": (r1,), "row_labels": ()}
    kinds = (blocks.dtype, blocks.dtype, np.dtype(np.int64))
    stores = [
        new_array(path / name, (m, *shape), (max(1, CHUNK // r1), *shape), dtype)
        for (name, shape), dtype in zip(shapes.items(), kinds, strict=True)
    ]
    shorts: list[Told] = []
    for start, stop, found in in_turn(blocks, tell_of, asked, 2 * r1 + 1, tell):
        for store, values in zip(stores, (getattr(found, name) for name in LONG), strict=True):
            store[start:stop] = values
        short = found._replace(**{name: getattr(found, name)[:0] for name in LONG})
        shorts = [merged([*shorts, short])]
    return shorts[0]


def columns(record: Factorization, found: Told) -> dict[str, Any]:
    """Return the table of all columns, measured on all rows."""
    H = np.asarray(record.core, dtype=np.float64) @ np.asarray(record.col_factor, dtype=np.float64)
    V, cols = np.asarray(record.col_weights, dtype=np.float64), topics_of(record).cols
    left = found.squares - 2.0 * np.einsum("jk,kj->j", found.products, H) + np.einsum("kj,kj->j", H, found.gram @ H)
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.sqrt(np.maximum(left, 0.0) / found.squares)
    explains = np.einsum("jl,lj->l", found.crosses, V) / found.squares.sum()
    return table(record.T, np.sqrt(found.squares[cols]), explains, errors)
