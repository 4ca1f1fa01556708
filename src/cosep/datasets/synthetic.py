"""Sizes and a noise level enter; a co-separable matrix and the truth about it leave.

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
from cosep.matrix.scaling import scale
from cosep.records.selection import Selection
from cosep.utils.messages import shown
from cosep.utils.types import Array

# Larger matrices take more than 32 GB.
MOST_ENTRIES = 2**32


@dataclass(frozen=True, eq=False)
class Planted(Selection):
    """The true selection, and which of its rows and columns any method could identify.

    A planted row is identifiable if it is an extreme ray of the cone of rows of the noiseless matrix, that is if the
    other rows do not mix to it. ``row_identifiable[k]`` speaks of ``row_indices[k]``.
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
    m, n : int
        Shape of the matrix.
    r1, r2 : int
        Shape of its core.
    noise : float
        Frobenius norm of the noise, relative to the noiseless matrix.
    protocol : {"scale-first", "noise-first"}
        The paper scales and then adds noise. Its released code adds noise and then scales, which amplifies the noise
        on exactly the planted rows.
    permute : bool
        False leaves the planted rows and columns in front, as the released code does; ties then favour the truth.
    random_state : int, RandomState instance or None

    Returns
    -------
    X : ndarray of shape (m, n)
    truth : Planted
        A `Selection` that also tells which rows and columns are identifiable.

    Examples
    --------
    >>> from cosep.datasets import make_coseparable
    >>> X, truth = make_coseparable(50, 40, 6, 6, random_state=0)
    >>> X.shape, len(truth.row_indices), bool(truth.col_identifiable.all())
    ((50, 40), 6, True)
    """
    m, n = check_positive(m, "m"), check_positive(n, "n")
    if m * n > MOST_ENTRIES:
        msg = f"m={shown(m)} and n={shown(n)} make a matrix of more than {MOST_ENTRIES} entries; ask for a smaller one."
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
    return scale(X, "sinkhorn")[0].take()


def _noisy(X: Array, N: Array, noise: float) -> Array:
    return np.maximum(X + N * (noise * np.linalg.norm(X) / np.linalg.norm(N)), 0.0)


def _extreme(S: Array) -> NDArray[np.bool_]:
    """Tell which columns of S no nonnegative mix of the others equals."""
    rays = S / np.linalg.norm(S, axis=0)
    if rays.shape[1] == 1:
        return np.ones(1, dtype=bool)
    distances = [nnls(np.delete(rays, j, axis=1), rays[:, j])[1] for j in range(rays.shape[1])]
    return np.array(distances) > 1e-9
