"""The tables of rows and columns: cluster, representative, membership, and what is explained.

Notation
--------
D, E : factors of rows and columns in the norm of the model; A = D X E
U : weights of the rows, X ~ U X(rows,:)
"""

import numpy as np

from cosep.findings.topics import Topics
from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.solve.labels import factor_labels
from cosep.utils.types import Array, Indices, Table


def row_table(factorization: Factorization, topics: Topics, M: LocalMatrix) -> Table:
    """Return the table of all rows; for the columns pass the transposes.

    A selected row explains ``<A, (D u) (x E)> / ||A||^2`` by its weights u in all rows. It is measured as
    ``<2 A - D U (selected rows) E, (D u) (x E)> / ||A||^2``: the same at the best weights, and over the selected rows
    these add up to the fidelity of the rows for any weights.
    """
    A = M.mantissa.scaled(topics.row_scale, topics.col_scale)
    chosen = M.take(rows=topics.rows) * topics.col_scale
    U = np.asarray(factorization.row_weights, dtype=np.float64) * topics.row_scale[:, None]
    explains = np.einsum("ik,ik->k", U, 2.0 * A.dot(chosen.T) - U @ (chosen @ chosen.T)) / A.squared_norm()
    return table_of(factorization, topics, clusters_of(factorization, topics), explains, factorization.row_errors(M))


def clusters_of(factorization: Factorization, topics: Topics) -> Indices:
    """Return the cluster of each row: those of the factorization, or the component with the largest share."""
    if factorization.row_labels is None:
        return factor_labels(topics.row_factor, topics.row_strengths)
    return np.asarray(factorization.row_labels)


def table_of(factorization: Factorization, topics: Topics, labels: Indices, explains: Array, errors: Array) -> Table:
    """Return the table of rows whose numbers are known.

    Parameters
    ----------
    factorization : Factorization
        With names.
    topics : Topics
        Its selected rows.
    labels : ndarray of int
        The cluster of each row.
    explains : ndarray
        What each selected row explains.
    errors : ndarray
        The relative error of each row, nan for an all-zero row.
    """
    size = len(errors)
    names = np.asarray(factorization.row_names)
    explained_by = np.full(size, np.nan)
    explained_by[topics.rows] = explains
    parts = topics.row_factor * topics.row_strengths
    sums, own = parts.sum(axis=1), parts[np.arange(size), labels]
    return {
        "name": names,
        "cluster": labels,
        "representative": np.where(labels < 0, "", names[topics.rows][labels]),
        "membership": np.where(labels < 0, np.nan, own / np.where(sums > 0, sums, 1.0)),
        "selected": np.isin(np.arange(size), topics.rows),
        "explained": 1.0 - errors**2,
        "explains": explained_by,
    }
