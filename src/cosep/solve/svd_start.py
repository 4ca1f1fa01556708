"""Nonnegative factors from leading singular vectors, as a start of alternations.

Notation
--------
M : data, m x n
U, s, V : leading singular triplets, M ~ U diag(s) V'
"""

import numpy as np

from cosep.matrix.leading import leading_triplets
from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array

Triplets = tuple[Array, Array, Array]


def svd_start(M: LocalMatrix, r: int, triplets: Triplets | None = None) -> tuple[Array, Array]:
    """Return W (m x r) and H (r x n), the nonnegative parts of the leading singular vectors, zeros beyond them.

    ``triplets`` are U, s and V, if they are known. The positive or the negative parts of both vectors of
    ``s_k u_k v_k'`` are kept, whichever are larger.
    Boutsidis and Gallopoulos (NNDSVD), doi:10.1016/j.patcog.2007.09.010.
    """
    U, s, V = leading_triplets(M, min(r, *M.shape)) if triplets is None else triplets
    # Beyond the rank there is only rounding, which makes no start.
    s = np.where(s > max(M.shape) * np.finfo(np.float64).eps * s.max(initial=0.0), s, 0.0)
    sides = [(np.maximum(sign * U, 0.0), np.maximum(sign * V, 0.0)) for sign in (1.0, -1.0)]
    sizes = [np.linalg.norm(u, axis=0) * np.linalg.norm(v, axis=0) for u, v in sides]
    positive = sizes[0] >= sizes[1]
    W, H = (np.where(positive, plus, minus) for plus, minus in zip(*sides, strict=True))
    size = np.where(positive, *sizes)
    # Both parts get the same norm, sqrt(s_k ||u_k|| ||v_k||).
    unit = [part / np.maximum(np.linalg.norm(part, axis=0), np.finfo(np.float64).tiny) for part in (W, H)]
    W, H = (np.pad(part * np.sqrt(s * size), ((0, 0), (0, r - len(s)))) for part in unit)
    return W, H.T
