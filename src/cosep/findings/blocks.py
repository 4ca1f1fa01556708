"""Findings of a fit to blocks of rows, from one more pass over them.

What belongs to all rows is never in memory at once: it is handed on a group of blocks at a time.

Notation
--------
X : one block of rows, or all of them; D, E : factors of rows and columns in the norm of the model
P1, U : refitted factor and faithful weights of the rows; H : what P1 is multiplied by
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cosep.findings.block_groups import col_names_of, in_groups, row_names_at
from cosep.findings.describe import MOST_CLOSEST, MOST_EXAMPLES, Measured, explained_or_zero, findings_of, heaviest
from cosep.findings.record import Entry, Findings
from cosep.findings.sentences import largest_line, share_of_bound
from cosep.findings.tables import is_assigned, parts_of_fit, table_of
from cosep.findings.topics import closest_rows, held_parts, topics_of
from cosep.findings.wording import percent
from cosep.fit.explainer import RowExplainer, factors_of_rows
from cosep.fit.result import FitResult, SampleResult
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import RowBlocks
from cosep.records.factorization import Factorization
from cosep.utils.messages import counted
from cosep.utils.ties import SHARE_DIGITS
from cosep.utils.types import Array, Callback, Indices, Table

# Writes the factors of the rows from start to stop.
RowWriter = Callable[[int, int, "RowFactors"], None]


class RowFactors(NamedTuple):
    """What belongs to single rows.

    Attributes
    ----------
    row_factor, row_weights : ndarray of shape (rows, r1)
        The refitted factor and the faithful weights, in the type of the data.
    row_labels : ndarray of int
        The clusters.
    """

    row_factor: NDArray[Any]
    row_weights: NDArray[Any]
    row_labels: Indices


class BlockTask(NamedTuple):
    """What a block needs to be explained.

    Attributes
    ----------
    explainer : RowExplainer
        All that explains a row.
    rows : ndarray of int
        The selected rows, by their positions in all rows.
    dtype : dtype
        The type of the factors.
    """

    explainer: RowExplainer
    rows: Indices
    dtype: np.dtype[Any]


class ClosestRows(NamedTuple):
    """The rows that hold most of each selected row, the first ones first.

    Attributes
    ----------
    indices : ndarray of int, of shape (r1, most)
        Their positions in all rows; -1 where there are fewer.
    parts : ndarray of shape (r1, most)
        The part of their length that the selected row makes up; -inf where there are fewer.
    """

    indices: Indices
    parts: Array

    def merge(self, others: Sequence["ClosestRows"]) -> "ClosestRows":
        """Keep the closest of these and the following rows."""
        indices, parts = (np.concatenate(same, axis=1) for same in zip(self, *others, strict=True))
        order = np.argsort(-parts, axis=1, kind="stable")[:, :MOST_CLOSEST]
        return ClosestRows(np.take_along_axis(indices, order, 1), np.take_along_axis(parts, order, 1))


class Unassigned(NamedTuple):
    """The rows that weigh most among those that no topic speaks for, the heaviest first.

    Attributes
    ----------
    indices : ndarray of int
        Their positions in all rows.
    weights, explained : ndarray
        Their squares in the norm of the model, and the share of them that is explained.
    """

    indices: Indices
    weights: Array
    explained: Array

    def merge(self, others: Sequence["Unassigned"]) -> "Unassigned":
        """Keep the heaviest of these and the following rows."""
        indices, weights, explained = (np.concatenate(same) for same in zip(self, *others, strict=True))
        order = heaviest(np.arange(len(weights)), weights, MOST_EXAMPLES)
        return Unassigned(indices[order], weights[order], explained[order])


class BlockSums(NamedTuple):
    """Sums over rows.

    Attributes
    ----------
    sizes, cluster_sizes : ndarray of int
        The number of rows that each topic speaks for, and of those in its cluster.
    n_unassigned, n_nonzeros : ndarray of int, of shape ()
        The number of rows that no topic speaks for, and of nonzero entries.
    gram, products, squares : ndarray
        ``Q1'Q1``, ``Y'Q1``, and the squared norms of the columns of ``Y = D X``, with ``Q1 = D P1``.
    plain : ndarray
        The squared norms of the columns of X.
    """

    sizes: Indices
    cluster_sizes: Indices
    n_unassigned: Indices
    n_nonzeros: Indices
    gram: Array
    products: Array
    squares: Array
    plain: Array

    def merge(self, others: Sequence["BlockSums"]) -> "BlockSums":
        """Add following rows."""
        return BlockSums(*(np.sum(same, axis=0) for same in zip(self, *others, strict=True)))


class ExplainedBlock(NamedTuple):
    """What is found of some rows: their factors, the closest ones to each selected row, and sums over them."""

    factors: RowFactors
    closest: ClosestRows
    unassigned: Unassigned
    sums: BlockSums

    def merge(self, others: Sequence[Self]) -> "ExplainedBlock":
        """Add following rows."""
        factors = zip(self.factors, *(other.factors for other in others), strict=True)
        return ExplainedBlock(
            RowFactors(*map(np.concatenate, factors)),
            self.closest.merge([other.closest for other in others]),
            self.unassigned.merge([other.unassigned for other in others]),
            self.sums.merge([other.sums for other in others]),
        )


def explain_block(task: BlockTask, block: LocalMatrix, start: int) -> ExplainedBlock:
    """Explain the rows of one block."""
    fit, where = task.explainer, slice(start, start + block.shape[0])
    P1, U, labels = factors_of_rows(fit, block, start)
    parts = held_parts(P1, labels, fit.strengths, block, fit.norm.cols)
    explained, squares = _explained_rows(fit, block, P1)
    is_ours = is_assigned(labels, explained)
    assigned = np.where(is_ours, labels, -1)
    closest = ClosestRows(np.full((len(task.rows), MOST_CLOSEST), -1), np.full((len(task.rows), MOST_CLOSEST), -np.inf))
    for k, row in enumerate(task.rows):
        best = closest_rows(assigned, parts, k, int(row) - start, MOST_CLOSEST)
        closest.indices[k, : len(best)] = start + best
        closest.parts[k, : len(best)] = parts[best].round(SHARE_DIGITS)
    D = fit.norm.row_factors(block, where) * np.sqrt(fit.norm.weights_of(block, where))
    Q1, Y = P1 * D[:, None], block.scaled(D, np.ones(block.shape[1]))
    squares = squares * D**2
    without = heaviest(np.flatnonzero(~is_ours), squares, MOST_EXAMPLES)
    sums = BlockSums(
        np.bincount(assigned[assigned >= 0], minlength=len(task.rows)),
        np.bincount(labels[labels >= 0], minlength=len(task.rows)),
        np.asarray((~is_ours).sum()),
        np.asarray(block.count_nonzero()),
        Q1.T @ Q1,
        Y.cross(Q1),
        Y.squared_norms(),
        block.squared_norms(),
    )
    unassigned = Unassigned(start + without, squares[without], explained[without])
    return ExplainedBlock(RowFactors(P1.astype(task.dtype), U.astype(task.dtype), labels), closest, unassigned, sums)


def _explained_rows(fit: RowExplainer, block: LocalMatrix, P1: Array) -> tuple[Array, Array]:
    """Return the share of the squares of each row that is explained, nan for an all-zero row, and these squares."""
    E = fit.norm.cols
    A, H = block.scaled(np.ones(block.shape[0]), E), fit.components * E
    squares = A.T.squared_norms()
    with np.errstate(invalid="ignore", divide="ignore"):
        explained = np.einsum("ik,ik->i", P1, 2.0 * A.dot(H.T) - P1 @ (H @ H.T)) / squares
    return np.where(squares > 0, explained, np.nan), squares


def describe_blocks(
    result: FitResult,
    blocks: RowBlocks,
    record: Factorization,
    write_rows: RowWriter,
    callback: Callback,
) -> Findings:
    """Return the findings of a fit to blocks of rows, measured on all rows in one more pass.

    Parameters
    ----------
    result : FitResult
        That of ``blocks``.
    blocks : RowBlocks
    record : Factorization
        What `sample_record` returns.
    write_rows : callable
        Called as ``write_rows(start, stop, factors)`` with the `RowFactors` of consecutive rows.
    callback : callable
        Called as ``callback("rows", blocks done, blocks, nan)``.
    """
    topics = topics_of(record)
    explainer = result.explainer
    assert explainer is not None  # noqa: S101 - fits to blocks have one
    rows = np.asarray(result.selection.row_indices)
    task = BlockTask(explainer, rows, blocks.dtype)
    found: ExplainedBlock | None = None
    for start, stop, answer in in_groups(blocks, explain_block, task, 2 * len(rows) + 1, callback):
        write_rows(start, stop, answer.factors)
        short = answer._replace(factors=RowFactors(*(part[:0] for part in answer.factors)))
        found = short if found is None else found.merge([short])
    assert found is not None  # noqa: S101 - blocks have at least one row
    measured = Measured(
        blocks.shape,
        int(found.sums.n_nonzeros),
        result.fidelity,
        result.plain_fidelity,
        result.bound,
        rows,
        explainer.selected_rows,
        found.sums.sizes,
        found.sums.cluster_sizes,
        _topic_parts(record, found.sums, result.norm.cols),
        _closest_entries(found.closest, blocks),
        int(found.sums.n_unassigned),
        _unassigned_entries(found.unassigned, blocks),
        {},
        _column_table(record, found.sums, result.norm.cols),
        (largest_line("column", found.sums.plain, found.sums.squares * result.norm.cols**2),),
    )
    return findings_of(record, topics, measured)


def sample_record(result: FitResult, blocks: RowBlocks, meta: Mapping[str, Any]) -> Factorization:
    """Return the factorization of the sampled rows, with names, and with ``meta`` beside what it has."""
    sample, record = sample_of(result), result.sample_factorization
    return replace(
        record,
        row_names=row_names_at(blocks, sample.indices),
        col_names=col_names_of(blocks),
        meta={**record.meta, **meta, "sampled from": blocks.shape[0]},
    )


def sample_of(result: FitResult) -> SampleResult:
    """Return the sampled rows, which `sample_record` stands for."""
    assert result.sample is not None  # noqa: S101 - fits to blocks have one
    return result.sample


def sample_note(found: Findings, n_sampled: int) -> str:
    """Return the sentence that tells readers of a page about the sample which rows they see."""
    m, nouns = found.shape[0], found.nouns
    shares = {part: percent(share) for part, share in found.shares.items()}
    return (
        f"This page shows {counted(n_sampled, nouns.row)} sampled from {m:,}, large ones more likely than small ones; "
        f"its counts and measures are those of the sample. All {m:,} {nouns.rows} were searched. Of all {nouns.rows}, "
        f"the topics explain {shares['refitted']}, {share_of_bound(found, 'refitted')} of what is possible, the "
        f"selected {nouns.rows} alone {shares['rows']}, the selected {nouns.cols} alone {shares['cols']}, and the core "
        f"{shares['core']}."
    )


def _closest_entries(closest: ClosestRows, blocks: RowBlocks) -> list[list[Entry]]:
    """Return the closest rows of each topic with their names."""
    entries = []
    for indices, parts in zip(closest.indices, closest.parts, strict=True):
        known = indices >= 0
        names = row_names_at(blocks, indices[known])
        entries.append(
            [
                Entry(int(i), str(name), float(part))
                for i, name, part in zip(indices[known], names, parts[known], strict=True)
            ]
        )
    return entries


def _unassigned_entries(unassigned: Unassigned, blocks: RowBlocks) -> list[Entry]:
    """Return examples of rows that no topic speaks for, with their names."""
    names = row_names_at(blocks, unassigned.indices)
    return [
        Entry(int(i), str(name), explained_or_zero(share))
        for i, name, share in zip(unassigned.indices, names, unassigned.explained, strict=True)
    ]


def _topic_parts(record: Factorization, sums: BlockSums, E: Array) -> Array:
    """Return what each topic explains of all rows."""
    H = np.asarray(record.core, dtype=np.float64) @ np.asarray(record.col_factor, dtype=np.float64)
    products = np.einsum("jk,kj->k", sums.products, H * E**2)
    return parts_of_fit(products, sums.gram, (H * E) @ (H * E).T, float(sums.squares @ E**2))


def _column_table(record: Factorization, sums: BlockSums, E: Array) -> Table:
    """Return the table of all columns, measured on all rows."""
    core = np.asarray(record.core, dtype=np.float64)
    H = core @ np.asarray(record.col_factor, dtype=np.float64)
    strengths = np.einsum("kl,km,ml->l", core, sums.gram, core)
    topics = replace(topics_of(record.T), row_strengths=np.sqrt(strengths))
    left = sums.squares - 2.0 * np.einsum("jk,kj->j", sums.products, H) + np.einsum("kj,kj->j", H, sums.gram @ H)
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.sqrt(np.maximum(left, 0.0) / sums.squares)
    P2 = np.asarray(record.col_factor, dtype=np.float64) * E
    products = np.einsum("lj,jl->l", P2 * E, sums.products @ core)
    explains = parts_of_fit(products, core.T @ sums.gram @ core, P2 @ P2.T, float(sums.squares @ E**2))
    return table_of(record.T, topics, np.asarray(record.col_labels), explains, errors)
