"""Shares of the representatives in rows.

Notation
--------
S, V : the core, and the weights of the selected columns; S V stands for the selected rows
U : rows as mixes of these
"""

from typing import Any

import numpy as np

from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.solve.nonnegative import coefficients
from cosep.utils.types import Array


def memberships(factorization: Factorization, X: Any) -> tuple[Array, Array]:
    """Explain rows by the representatives: ``min ||X - U S V||_F`` over ``U >= 0``.

    Parameters
    ----------
    factorization : Factorization
        With a core and weights, such as that of `mix` or ``CoSeparableNMF.factorization_``.
    X : array-like or sparse of shape (m_new, n)
        Fitted or new rows; for columns, pass the transposes of both.

    Returns
    -------
    shares : ndarray of shape (m_new, n_rows)
        The part of each representative in what is explained of a row, ``U[i, k] * ||S[k] V||`` divided by their sum;
        zeros for a row that is not explained at all.
    errors : ndarray of shape (m_new,)
        ``||x - u S V|| / ||x||``; nan for an all-zero row.

    Examples
    --------
    >>> from cosep import CoSeparableNMF, make_coseparable
    >>> from cosep.fit.membership import memberships
    >>> X, _ = make_coseparable(30, 20, 4, 4, random_state=0)
    >>> model = CoSeparableNMF(4, 4).fit(X[:25])
    >>> shares, errors = memberships(model.factorization_, X[25:])
    >>> shares.shape
    (5, 4)
    """
    S, V = factorization.core, factorization.col_weights
    if S is None or V is None:
        msg = "memberships needs a core and the weights of its columns; make the factorization with CoSeparableNMF."
        raise ValueError(msg)
    M = as_matrix(X)
    if M.shape[1] != V.shape[1]:
        msg = f"X has {M.shape[1]} columns, but the factorization stands for {V.shape[1]}; pass exactly those."
        raise ValueError(msg)
    largest = max(float(S.max(initial=0.0)), np.finfo(np.float64).tiny)
    H = (S.astype(np.float64) / largest) @ V.astype(np.float64)
    H /= max(float(H.max(initial=0.0)), np.finfo(np.float64).tiny)
    U = coefficients(M, H)
    parts = U * np.linalg.norm(H, axis=1)
    sums = parts.sum(axis=1, keepdims=True)
    errors = Factorization(U, None, H).row_errors(M.mantissa)
    return parts / np.where(sums > 0, sums, 1.0), errors
