"""A matrix enters, nonnegative factors to start an alternation from leave.

Notation
--------
M : data, m x n
U, s, V : leading singular triplets, M ~ U diag(s) V'
"""

import numpy as np

from cosep.matrix.local import Array, LocalMatrix

# Directions beyond those asked for, and passes over the data: what the leading ones need to be told from the rest.
SPARE, PASSES = 10, 6


def leading_triplets(M: LocalMatrix, r: int) -> tuple[Array, Array, Array]:
    """Return U (m x r), s (r) and V (n x r) of the best rank-r approximation, r at most m and n, by subspace iteration.

    Halko, Martinsson and Tropp, doi:10.1137/090771806, algorithm 4.4. The sketch is drawn from a fixed seed: the same
    matrix gives the same triplets.
    """
    width = min(r + SPARE, *M.shape)
    Q = np.random.default_rng(0).standard_normal((M.shape[1], width))
    for _ in range(PASSES):
        Q = np.linalg.qr(M.cross(np.linalg.qr(M.dot(Q))[0]))[0]
    Q = np.linalg.qr(M.dot(Q))[0]
    V, s, Ut = np.linalg.svd(M.cross(Q), full_matrices=False)
    return (Q @ Ut.T)[:, :r], s[:r], V[:, :r]


def svd_start(M: LocalMatrix, r: int) -> tuple[Array, Array]:
    """Return W (m x r) and H (r x n), the nonnegative parts of the leading singular vectors, zeros beyond them.

    Of ``s_k u_k v_k'`` the positive or the negative parts of both vectors are kept, whichever hold more; one that
    holds nothing is zero. Boutsidis and Gallopoulos (NNDSVD), doi:10.1016/j.patcog.2007.09.010.
    """
    U, s, V = leading_triplets(M, min(r, *M.shape))
    sides = [(np.maximum(sign * U, 0.0), np.maximum(sign * V, 0.0)) for sign in (1.0, -1.0)]
    sizes = [np.linalg.norm(u, axis=0) * np.linalg.norm(v, axis=0) for u, v in sides]
    positive = sizes[0] >= sizes[1]
    W, H = (np.where(positive, plus, minus) for plus, minus in zip(*sides, strict=True))
    size = np.where(positive, *sizes)
    # Both parts get the same norm, sqrt(s_k ||u_k|| ||v_k||).
    unit = [part / np.maximum(np.linalg.norm(part, axis=0), np.finfo(np.float64).tiny) for part in (W, H)]
    W, H = (np.pad(part * np.sqrt(s * size), ((0, 0), (0, r - len(s)))) for part in unit)
    return W, H.T
