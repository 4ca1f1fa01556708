"""Findings of a factorization and its matrix."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.findings.classes import classes_of
from cosep.findings.record import Anchor, Classes, Entry, Findings, Nouns, Topic
from cosep.findings.sentences import (
    LargestLine,
    certificate_sentences,
    fidelity_sentence,
    found_sentences,
    largest_line,
    norm_sentence,
    unit_sentence,
    warning_sentences,
)
from cosep.findings.tables import MIN_EXPLAINED, clusters_of, row_table
from cosep.findings.topics import Topics, closest_rows, held_parts, topics_of
from cosep.findings.versions import versions
from cosep.findings.wording import readable
from cosep.io.named_matrix import numbered
from cosep.matrix.checks import check_nonzero
from cosep.matrix.local import LocalMatrix
from cosep.metrics.bounds import fidelity_bound
from cosep.records.factorization import Factorization
from cosep.records.fidelity import Fidelity
from cosep.records.filled_data import data_of, fidelities_of, matrix_of
from cosep.records.model import factorization_of
from cosep.utils.types import Array, Indices, Table

# Columns, entries and close rows that are kept of a topic: at least as many as any output shows.
MOST_COLUMNS, MOST_VALUES, MOST_CLOSEST = 20, 8, 8
# Rows that no topic speaks for, kept as examples.
MOST_EXAMPLES = 8
# Bytes of a title and of a noun.
LONGEST_TITLE, LONGEST_NOUN = 200, 40
# Refitted shares of one fit agree to this, in float32 too.
SAME_SHARE_TOL = 1e-5


def describe(X: Any, model: Any, *, labels: Any = None) -> Findings:
    """Return what a person wants to know about a fit: topics, tables of rows and columns, sentences, warnings.

    The command ``cosep fit`` prints and writes these findings; `write_report` shows them on a page.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
        The matrix that the model was fitted to.
    model : fitted CoSeparableNMF or Factorization
        What was fitted, or what `mix` returned. Its names are used, or those of X. Of a factorization, sentences in
        ``meta["warnings"]`` come first among the warnings; ``meta["title"]`` names the data, and ``meta["nouns"]`` is
        what a row and a column are called, such as ``["document", "word"]``.
    labels : array-like of length m, optional
        The class of each row, to compare the clusters with.

    Returns
    -------
    Findings
        ``rows`` and ``cols`` are tables that ``pandas.DataFrame`` takes as they are.

    Raises
    ------
    ValueError
        If the model has no core with weights on both sides, or X is not the matrix that it stands for, or there is not
        one label for each row.

    See Also
    --------
    explain : what would be lost without each selected row or column, and which one comes next.

    Examples
    --------
    >>> from cosep import CoSeparableNMF, describe, make_coseparable
    >>> X, _ = make_coseparable(60, 40, 4, 3, random_state=0)
    >>> found = describe(X, CoSeparableNMF(n_rows=4, n_cols=3).fit(X))
    >>> list(found.rows)
    ['name', 'cluster', 'representative', 'membership', 'selected', 'explained', 'assigned', 'explains']
    >>> int(found.rows["selected"].sum()), [len(topic.anchors) > 0 for topic in found.topics]
    (4, [True, True, True, True])
    >>> print(found.sentences[0])
    4 of 60 rows were selected, one for each topic, and 3 of 40 columns that mark the topics.
    """
    factorization = factorization_of(model, X)
    topics = topics_of(factorization)
    data = data_of(X, factorization)
    M = matrix_of(data, factorization)
    check_nonzero(M)
    fidelity, plain, bound = fidelities_of(factorization) or _measured(factorization, M)
    record = with_names(factorization)
    clusters, rows = clusters_of(record, topics), row_table(record, topics, M, data)
    assigned = np.where(rows["assigned"], clusters, -1)
    parts = held_parts(topics.row_factor, clusters, topics.row_strengths, M, topics.col_scale, topics.exponent)
    names = np.asarray(record.row_names)
    closest = [closest_rows(assigned, parts, k, int(i), MOST_CLOSEST) for k, i in enumerate(topics.rows)]
    weights = M.mantissa.scaled(topics.row_scale, topics.col_scale).T.squared_norms()
    without = heaviest(np.flatnonzero(~rows["assigned"]), weights, MOST_EXAMPLES)
    size = len(topics.rows)
    return findings_of(
        record,
        topics,
        Measured(
            M.shape,
            M.count_nonzero(),
            fidelity,
            plain,
            bound,
            topics.rows,
            M.in_units(M.take(rows=topics.rows)),
            np.bincount(assigned[assigned >= 0], minlength=size),
            np.bincount(clusters[clusters >= 0], minlength=size),
            rows["explains"][topics.rows],
            [[Entry(int(i), str(names[i]), float(parts[i])) for i in some] for some in closest],
            int((~rows["assigned"]).sum()),
            [Entry(int(i), str(names[i]), explained_or_zero(rows["explained"][i])) for i in without],
            rows,
            row_table(record.T, topics_of(record.T), M.T, data.T),
            _largest_lines(M, topics),
            None if labels is None else classes_of(labels, rows, topics.rows),
        ),
    )


def _measured(factorization: Factorization, M: LocalMatrix) -> tuple[Fidelity, Fidelity, Fidelity]:
    """Return the fidelities in the norm of the model and in the plain one, and their bounds."""
    fidelity = factorization.fidelity(M)
    return fidelity, factorization.plain_fidelity(M), _bound(factorization, fidelity, M)


def heaviest(positions: Indices, weights: Array, most: int) -> Indices:
    """Return the positions with the largest weights, the largest first."""
    return positions[np.argsort(-weights[positions], kind="stable")[:most]]


def explained_or_zero(share: float) -> float:
    """Return what is explained of a row; 0 for an all-zero row, of which there is nothing to explain."""
    return float(share) if share > 0 else 0.0


def _largest_lines(M: LocalMatrix, topics: Topics) -> tuple[LargestLine, ...]:
    """Return the column, and the row, with the largest share of the squares."""
    plain, A = M.mantissa, M.mantissa.scaled(topics.row_scale, topics.col_scale)
    return (
        largest_line("column", plain.squared_norms(), A.squared_norms()),
        largest_line("row", plain.T.squared_norms(), A.T.squared_norms()),
    )


def _bound(factorization: Factorization, fidelity: Fidelity, M: LocalMatrix) -> Fidelity:
    """Return the bound that the fit stored, or compute it if that belongs to another norm or another matrix.

    Then the share that the refitted factors explain is another one than at the end of the fit.
    """
    numbers = [factorization.meta.get(name) for name in ("bound", "objective")]
    if all(isinstance(part, (list, tuple)) and all(isinstance(one, float) for one in part) for part in numbers):
        stored, objective = (list(map(float, part)) for part in numbers if part is not None)
        known = len(stored) == len(Fidelity._fields) and objective
        if known and abs(1.0 - 2.0 * objective[-1] - fidelity.refitted) < SAME_SHARE_TOL:
            return Fidelity(*stored)
    A = M if factorization.scaling is None else factorization.scaling.apply(M)
    return fidelity_bound(A.mantissa, *np.asarray(factorization.core).shape)


class Measured(NamedTuple):
    """What was measured on all rows, in memory or in blocks.

    Attributes
    ----------
    shape, n_nonzeros, fidelity, plain_fidelity, bound
        As in `Findings`.
    representatives : ndarray of int
        Positions of the selected rows in X.
    chosen : ndarray of shape (r1, n)
        The selected rows.
    sizes, cluster_sizes : ndarray of int
        The number of rows that each topic speaks for, and of those in its cluster.
    explains : ndarray
        What each topic explains.
    closest : list of list of Entry
        The rows that hold most of each selected row.
    n_unassigned, unassigned
        As in `Findings`.
    rows, cols : dict of ndarray
        As in `Findings`.
    largest : tuple of LargestLine
        The column with the largest share of the squares, and the row if it is known.
    classes : Classes, optional
        As in `Findings`.
    """

    shape: tuple[int, int]
    n_nonzeros: int
    fidelity: Fidelity
    plain_fidelity: Fidelity
    bound: Fidelity
    representatives: Indices
    chosen: Array
    sizes: Indices
    cluster_sizes: Indices
    explains: Array
    closest: list[list[Entry]]
    n_unassigned: int
    unassigned: list[Entry]
    rows: Table
    cols: Table
    largest: tuple[LargestLine, ...]
    classes: Classes | None = None


def findings_of(record: Factorization, topics: Topics, measured: Measured) -> Findings:
    """Put together the findings of a factorization with names, given what was measured on all rows."""
    row_names, col_names = np.asarray(record.row_names), np.asarray(record.col_names)
    together, homes = topics.components, clusters_of(record, topics)[topics.rows]
    described = tuple(
        Topic(
            index=int(measured.representatives[k]),
            name=str(row_names[i]),
            anchors=_anchors(topics, k, col_names),
            columns=_largest(together[k], col_names, MOST_COLUMNS, topics.col_scale),
            values=_largest(measured.chosen[k], col_names, MOST_VALUES),
            closest=tuple(measured.closest[k]),
            size=int(measured.sizes[k]),
            share=float(measured.sizes[k] / measured.shape[0]),
            cluster_size=int(measured.cluster_sizes[k]),
            explains=float(measured.explains[k]),
            home=int(homes[k]),
        )
        for k, i in enumerate(topics.rows)
    )
    found = Findings(
        shape=measured.shape,
        n_nonzeros=measured.n_nonzeros,
        fidelity=measured.fidelity,
        plain_fidelity=measured.plain_fidelity,
        bound=measured.bound,
        scaling=None if record.scaling is None else record.scaling.name,
        topics=described,
        selected_cols=tuple(Entry(int(j), str(col_names[j]), float(measured.cols["explains"][j])) for j in topics.cols),
        core=topics.core,
        col_order=topics.col_order,
        rows=measured.rows,
        cols=measured.cols,
        n_unassigned=measured.n_unassigned,
        unassigned=tuple(measured.unassigned),
        min_explained=MIN_EXPLAINED,
        classes=measured.classes,
        title=_title(record),
        nouns=nouns_of(record),
        sentences=(),
        certificate=certificate_sentences(record),
        warnings=(),
        versions=versions(),
    )
    names = {"row": row_names, "column": col_names}
    units = [
        unit_sentence(one, str(names[one.kind][one.position]), found.scaling, found.nouns) for one in measured.largest
    ]
    return replace(
        found,
        sentences=found_sentences(found),
        certificate=(norm_sentence(found), fidelity_sentence(found), *found.certificate),
        warnings=warning_sentences(record, found.shares, found.nouns, units),
    )


def _title(record: Factorization) -> str:
    """Return the title that the factorization stores; "" if it has none."""
    title = record.meta.get("title")
    return readable(title, LONGEST_TITLE) if isinstance(title, str) else ""


def nouns_of(record: Factorization) -> Nouns:
    """Return what the factorization stores that its rows and columns are called; "row" and "column" if nothing."""
    known = record.meta.get("nouns")
    if not isinstance(known, (list, tuple)) or len(known) != len(Nouns()):
        return Nouns()
    words = [readable(noun, LONGEST_NOUN) if isinstance(noun, str) else "" for noun in known]
    return Nouns(*(word or other for word, other in zip(words, Nouns(), strict=True)))


def with_names(factorization: Factorization) -> Factorization:
    """Return the factorization with names: "row 0", ... and "column 0", ... where it has none."""
    m, n = factorization.shape
    rows, cols = factorization.row_names, factorization.col_names
    return replace(
        factorization,
        row_names=numbered("row", m) if rows is None else rows,
        col_names=numbered("column", n) if cols is None else cols,
    )


def _anchors(topics: Topics, k: int, names: NDArray[Any]) -> tuple[Anchor, ...]:
    """Return the selected columns of a topic, strongest first."""
    return tuple(
        Anchor(int(topics.cols[l]), str(names[topics.cols[l]]), float(topics.core[k, l]), bool(topics.homes[l] == k))
        for l in topics.anchors(k)
    )


def _largest(values: Array, names: NDArray[Any], most: int, scale: Array | float = 1.0) -> tuple[Entry, ...]:
    """Return the columns with the largest positive values times ``scale``, largest first."""
    order = np.argsort(-values * scale, kind="stable")[:most]
    return tuple(Entry(int(j), str(names[j]), float(values[j])) for j in order if values[j] > 0)
