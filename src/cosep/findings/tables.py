"""The tables of rows and columns: cluster, representative, membership, and what is explained.

Notation
--------
D, E : factors of rows and columns in the norm of the model; A = D X E
P1, H : fitted factor of the rows and what it is multiplied by, X ~ P1 H
"""

import numpy as np
from numpy.typing import NDArray

from cosep.findings.topics import Topics
from cosep.matrix.local import LocalMatrix
from cosep.matrix.observed import Observed
from cosep.records.factorization import Factorization
from cosep.solve.labels import factor_labels
from cosep.utils.types import Array, Indices, Table

# A topic speaks for a row if at least this share of the row's squares is explained: a cosine of 0.22.
MIN_EXPLAINED = 0.05


def row_table(factorization: Factorization, topics: Topics, M: LocalMatrix, data: LocalMatrix | Observed) -> Table:
    """Return the table of all rows; for the columns pass the transposes.

    ``data`` is M, or M with the gaps that are filled in M: what is explained of a row is a share of what was observed.
    """
    A = M.mantissa.scaled(topics.row_scale, topics.col_scale)
    H, P1 = scaled_components(topics, M), topics.row_factor * topics.row_scale[:, None]
    explains = parts_of_fit(np.einsum("ik,ik->k", P1, A.dot(H.T)), P1.T @ P1, H @ H.T, A.squared_norm())
    return table_of(factorization, topics, clusters_of(factorization, topics), explains, factorization.row_errors(data))


def scaled_components(topics: Topics, M: LocalMatrix) -> Array:
    """Return ``H E`` in the units of the mantissa of M."""
    core = np.ldexp(topics.core, -topics.exponent)
    return M.in_units(core @ (topics.col_factor * topics.col_scale), -1, shift=topics.exponent)


def parts_of_fit(products: Array, row_gram: Array, col_gram: Array, total: float) -> Array:
    """Return the part of the fidelity that each component explains.

    With ``A^ = sum of C_k``, ``C_k = (D p_k) (h_k E)``, the fidelity ``(2 <A, A^> - <A^, A^>) / ||A||^2`` is the sum of
    ``<2 A - A^, C_k> / ||A||^2``. At the best factors ``A - A^`` is orthogonal to every ``C_k``, and the part is
    ``<A, C_k> / ||A||^2``.

    Parameters
    ----------
    products : ndarray
        ``<A, C_k>``.
    row_gram, col_gram : ndarray
        The inner products of the factors of the components; ``<C_k, C_l>`` is their product.
    total : float
        ``||A||^2``.
    """
    return np.asarray((2.0 * products - (row_gram * col_gram).sum(axis=1)) / total)


def is_assigned(labels: Indices, explained: Array) -> NDArray[np.bool_]:
    """Return which rows a topic speaks for: enough of them is explained."""
    return np.asarray((labels >= 0) & (explained >= MIN_EXPLAINED))


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
        What the component of each selected row explains.
    errors : ndarray
        The relative error of each row, nan for an all-zero row.
    """
    size = len(errors)
    names = np.asarray(factorization.row_names)
    explained_by = np.full(size, np.nan)
    explained_by[topics.rows] = explains
    parts = topics.row_factor * topics.row_strengths
    sums, own = parts.sum(axis=1), parts[np.arange(size), labels]
    explained = 1.0 - errors**2
    return {
        "name": names,
        "cluster": labels,
        "representative": np.where(labels < 0, "", names[topics.rows][labels]),
        "membership": np.where(labels < 0, np.nan, own / np.where(sums > 0, sums, 1.0)),
        "selected": np.isin(np.arange(size), topics.rows),
        "explained": explained,
        "assigned": is_assigned(labels, explained),
        "explains": explained_by,
    }
