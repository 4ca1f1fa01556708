"""Leading squared singular values of a matrix in blocks, from the passes that a fit makes anyway.

Notation
--------
A : the data, scaled by the norm of the model; G = A'A
K : orthonormal basis of a block Krylov space of G; Z : its last directions, whose products are not known yet
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from cosep.utils.types import Array

# Directions beyond the number of singular values asked for.
EXTRA_DIRECTIONS = 8
# Directions that are shorter than this share of the longest product are rounding.
MIN_LENGTH = 1e-10


class GramSpace(NamedTuple):
    """A space that approximates the leading eigenvectors of G, one pass over the data after the other.

    Attributes
    ----------
    basis : ndarray of shape (n, k)
        K without Z.
    products : ndarray of shape (n, k)
        ``G K`` without ``G Z``.
    directions : ndarray of shape (n, b)
        Z, to be multiplied by G in the next pass.
    """

    basis: Array
    products: Array
    directions: Array

    def after(self, products: Array) -> "GramSpace":
        """Return the space after a pass that found ``G Z``."""
        basis = np.column_stack([self.basis, self.directions])
        known = np.column_stack([self.products, products])
        ahead, largest = products, float(np.linalg.norm(known, axis=0).max(initial=0.0))
        for _ in range(2):
            ahead = ahead - basis @ (basis.T @ ahead)
        vectors, lengths, _ = scipy.linalg.svd(ahead, full_matrices=False)
        return GramSpace(basis, known, vectors[:, lengths > MIN_LENGTH * largest])

    def squares(self, k: int) -> Array:
        """Return the k largest eigenvalues of G, largest first, each with the norm of its residual added."""
        H = self.basis.T @ self.products
        values, vectors = scipy.linalg.eigh((H + H.T) / 2.0)
        values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
        residuals = self.products @ vectors - self.basis @ (vectors * values)
        return np.asarray(np.maximum(values, 0.0) + np.linalg.norm(residuals, axis=0))


def start_space(vectors: Array) -> GramSpace:
    """Return a space that starts from orthonormal vectors."""
    nothing = np.zeros((len(vectors), 0))
    return GramSpace(nothing, nothing, vectors)
