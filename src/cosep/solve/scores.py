"""Scores of the columns of a matrix: how much the convex model would gain by using each of them.

Notation
--------
C : matrix with the atoms as columns
R : residuals, one column for each data column; om : weights of these
s : scores ``s_t = sum_l om_l max(0, c_t'R_l)``
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import DTypeLike

from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array, Indices

# Bounds are computed if there are more than so many columns for each row.
MOST_ROWS_SHARE = 4
# Bounds are raised by this share, far above the rounding of the moments.
ROUNDING = 1e-7
# Atoms and columns of one tile, which fits into the processor's cache.
TILE = (128, 512)


class Scores:
    """Scores, or upper bounds of them, that are updated from one set of residuals to the next.

    A score is ``(sum_l c_t'W_l + sum_l |c_t'W_l|) / 2`` with ``W_l = om_l R_l``, and by the inequality of Cauchy and
    Schwarz, with any positive q,

        ``(sum_l |c_t'W_l|)^2 <= sum_l q_l  c_t'(sum_l W_l W_l' / q_l) c_t``.

    With ``q_l = ||W_l||`` the right side is at most about 1.5 times the left for most atoms, and costs O(n m^2) for all
    of them together. From residuals R' to R a score grows by at most the score for R - R', which has the same bound. If
    the smaller bound exceeds the bar, the score is computed: first in single precision with a bound on its rounding,
    then, if that exceeds the bar too, in double precision.

    For a sparse matrix all scores are computed, one block of residuals at a time, since the residuals are dense.
    """

    def __init__(self, C: LocalMatrix, om: Array) -> None:
        self.C, self.om = C, om
        self.bounded = MOST_ROWS_SHARE * C.shape[0] < C.shape[1]
        self.known: tuple[Array, Array] | None = None

    def at(self, residuals: Iterable[tuple[slice, Array]], bar: Array) -> Array:
        """Return the scores for blocks of residuals; those below the bar may be upper bounds."""
        if self.C.is_sparse:
            s = np.zeros(self.C.shape[1])
            for some, R in residuals:
                s += np.maximum(self.C.cross(R * self.om[some]), 0.0).sum(axis=1)
            return s
        weighted = np.hstack([R for _, R in residuals]) * self.om
        s = np.full(self.C.shape[1], np.inf)
        if self.bounded:
            s = self._bounds(weighted)
            if self.known is not None:
                before, last = self.known
                last -= weighted
                s = np.minimum(s, before + self._bounds(np.negative(last, out=last)))
        # Relative error of products and sums in single precision, as a share of the sums of absolute values.
        share = (len(weighted) + TILE[1] + 8) * float(np.finfo(np.float32).eps)
        for precision, error in ((np.float32, share), (np.float64, 0.0)):
            doubtful = np.flatnonzero(s > bar)
            s[doubtful] = np.minimum(s[doubtful], self._by_tiles(weighted, doubtful, precision, error))
        self.known = s, weighted
        return s

    def _bounds(self, weighted: Array) -> Array:
        """Return upper bounds of the scores of all atoms."""
        lengths = np.linalg.norm(weighted, axis=0)
        moments = (weighted / np.where(lengths > 0, lengths, 1.0)) @ weighted.T
        values, vectors = np.linalg.eigh(moments)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))
        squares = float(lengths.sum()) * np.square(self.C.cross(roots)).sum(axis=1)
        return np.asarray(0.5 * (self.C.cross(weighted.sum(axis=1)) + (1.0 + ROUNDING) * np.sqrt(squares)))

    def _by_tiles(self, weighted: Array, atoms: Indices, precision: DTypeLike, error: float) -> Array:
        """Return ``sum_l (c_t'R_l + |c_t'R_l|) / 2`` for some atoms t, raised by the relative rounding error."""
        # Scaled to the range of single precision; what underflows is less than its rounding.
        peak = float(np.abs(weighted).max()) or 1.0
        R = (weighted / peak).astype(precision)
        ones, absolute = np.ones(TILE[1], precision), np.zeros(len(atoms))
        for t in range(0, len(atoms), TILE[0]):
            some = slice(t, t + TILE[0])
            C = np.ascontiguousarray(self.C.take(cols=atoms[some]).T, dtype=precision)
            for l in range(0, R.shape[1], TILE[1]):
                products = C @ R[:, l : l + TILE[1]]
                absolute[some] += np.abs(products, out=products) @ ones[: products.shape[1]]
        sums, sizes = self.C.cross(weighted.sum(axis=1))[atoms], np.abs(weighted).sum(axis=1)
        raised = error * (sizes @ np.abs(self.C.take(cols=atoms))) if error else 0.0
        return np.asarray(0.5 * (sums + peak * absolute) + raised)
