"""Random co-separable matrices with known rows and columns.

Notation
--------
S, W, H : uniform random blocks of ``[S, SH; WS, WSH]``
N : Gaussian noise with ``||N||_F = noise * ||noiseless matrix||_F``
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from cosep.matrix.checks import check_choice, check_count, check_number, check_positive, check_random, check_switch
from cosep.matrix.scaling import sinkhorn_norm
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.utils.messages import shown
from cosep.utils.types import Array

# Larger matrices take more than 32 GB.
MAX_ENTRIES = 2**32
# Mean deviation of the sums of rows and columns from equal ones. The results in this repository are of such matrices.
BALANCE_TOL = 1e-4


@dataclass(frozen=True, eq=False, repr=False)
class Planted(Selection):
    """The true selection, and which of its rows and columns can be identified by any method.

    A planted row is identifiable if it is an extreme ray of the cone of rows of the noiseless matrix, that is, if it is
    not a nonnegative combination of the other rows.

    Attributes
    ----------
    row_indices, col_indices : ndarray of int
        The planted rows and columns.
    row_identifiable, col_identifiable : ndarray of bool or None
        Whether ``row_indices[k]`` (``col_indices[k]``) is identifiable.
    gap, n_iter, history
        As in every `Selection`; nothing was solved, so that they are empty.
    """

    row_identifiable: NDArray[np.bool_] | None = None
    col_identifiable: NDArray[np.bool_] | None = None


def make_coseparable(
    m: int = 100,
    n: int = 100,
    r1: int = 10,
    r2: int = 3,
    noise: float = 0.0,
    *,
    protocol: str = "scale-first",
    permute: bool = True,
    random_state: Any = None,
) -> tuple[Array, Planted]:
    """Draw a co-(r1, r2)-separable matrix with noise, as in section 5.1 of Pan and Ng (2023).

    ``X = Pr max(0, Dr [S, SH; WS, WSH] Dc + N) Pc``, S, W and H uniform in [0, 1], Dr and Dc such that all columns sum
    to m and all rows to n, Pr and Pc random permutations.

    Parameters
    ----------
    m, n : int, default 100
        Shape of the matrix.
    r1 : int, default 10
        Number of planted rows.
    r2 : int, default 3
        Number of planted columns.
    noise : float, default 0.0
        Frobenius norm of the noise, relative to that of the noiseless matrix.
    protocol : {"scale-first", "noise-first"}, default "scale-first"
        Scale and then add noise, as the paper says, or add noise and then scale, as its released code does, which
        amplifies the noise on exactly the planted rows.
    permute : bool, default True
        Whether to permute rows and columns. False keeps the planted ones first, as the released code does; ties then
        favour the truth.
    random_state : int, RandomState instance or None
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (m, n)
    truth : Planted
        A `Selection` that also says which rows and columns are identifiable.

    Examples
    --------
    >>> from cosep.datasets import make_coseparable
    >>> X, truth = make_coseparable(50, 40, 6, 6, random_state=0)
    >>> X.shape, len(truth.row_indices), bool(truth.col_identifiable.all())
    ((50, 40), 6, True)
    """
    m, n = check_positive(m, "m"), check_positive(n, "n")
    if m * n > MAX_ENTRIES:
        msg = f"m={shown(m)} and n={shown(n)} make a matrix of more than {MAX_ENTRIES} entries; ask for a smaller one."
        raise ValueError(msg)
    r1, r2 = check_count(r1, "r1", m, "m"), check_count(r2, "r2", n, "n")
    noise = check_number(noise, "noise", 0.0, 1e100)
    permute = check_switch(permute, "permute")
    check_choice(protocol, "protocol", ("scale-first", "noise-first"))
    random = check_random(random_state)
    S = random.uniform(size=(r1, r2))
    P1 = np.vstack([np.eye(r1), random.uniform(size=(m - r1, r1))])
    P2 = np.hstack([np.eye(r2), random.uniform(size=(r2, n - r2))])
    X = P1 @ S @ P2
    N = random.standard_normal((m, n))
    if protocol == "scale-first":
        X = _balanced(X)
        X = _noisy(X, N, noise)
    else:
        X = _noisy(X, N, noise)
        X = _balanced(X)
    row_order = random.permutation(m) if permute else np.arange(m)
    col_order = random.permutation(n) if permute else np.arange(n)
    truth = Planted(
        np.argsort(row_order)[:r1],
        np.argsort(col_order)[:r2],
        row_identifiable=_extreme(S.T),
        col_identifiable=_extreme(S),
    )
    return np.ascontiguousarray(X[row_order][:, col_order]), truth


def _balanced(X: Array) -> Array:
    M = as_matrix(X).mantissa
    norm = sinkhorn_norm(M, tol=BALANCE_TOL)
    return M.scaled(norm.row_factors(M), norm.cols).take()


def _noisy(X: Array, N: Array, noise: float) -> Array:
    return np.maximum(X + N * (noise * np.linalg.norm(X) / np.linalg.norm(N)), 0.0)


def _extreme(S: Array) -> NDArray[np.bool_]:
    """Return which columns of S are not nonnegative combinations of the others."""
    rays = S / np.linalg.norm(S, axis=0)
    if rays.shape[1] == 1:
        return np.ones(1, dtype=bool)
    distances = [nnls(np.delete(rays, j, axis=1), rays[:, j])[1] for j in range(rays.shape[1])]
    return np.array(distances) > 1e-9
