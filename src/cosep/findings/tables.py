"""The tables of rows and columns: cluster, representative, membership, and what is explained.

Notation
--------
U : weights of the rows, X ~ U X(rows,:)
"""

import numpy as np

from cosep.findings.topics import Topics
from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.solve.labels import LargestShares, largest_shares
from cosep.utils.types import Array, Table


def row_table(factorization: Factorization, topics: Topics, M: LocalMatrix) -> Table:
    """Return the table of all rows; for the columns pass the transposes.

    A selected row explains ``<X, u x> / ||X||^2`` by its weights u in all rows; over the selected rows these add up to
    ``1 - (1 - fidelity)^2``.
    """
    chosen = M.take(rows=topics.rows)
    explains = np.einsum("ik,ik->k", topics.row_weights, M.dot(chosen.T)) / M.squared_norm()
    held = largest_shares(topics.row_weights, np.linalg.norm(chosen, axis=1))
    return table_of(factorization, topics, held, explains, factorization.row_errors(M))


def table_of(
    factorization: Factorization, topics: Topics, held: LargestShares, explains: Array, errors: Array
) -> Table:
    """Return the table of rows whose numbers are known.

    Parameters
    ----------
    factorization : Factorization
        With names; its labels are used if it has any.
    topics : Topics
        Its selected rows.
    held : LargestShares
        The selected row that each row holds most of.
    explains : ndarray
        What each selected row explains.
    errors : ndarray
        The relative error of each row, nan for an all-zero row.
    """
    size = len(errors)
    names = np.asarray(factorization.row_names)
    explained_by = np.full(size, np.nan)
    explained_by[topics.rows] = explains
    clusters = {} if factorization.row_labels is None else {"cluster": factorization.row_labels}
    return {
        "name": names,
        **clusters,
        "representative": np.where(held.labels < 0, "", names[topics.rows][held.labels]),
        "membership": held.shares,
        "selected": np.isin(np.arange(size), topics.rows),
        "explained": 1.0 - errors,
        "explains": explained_by,
    }
