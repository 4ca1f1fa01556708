"""Residuals enter, the score of every column of a matrix, or an upper bound that settles it, leaves.

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

# Atoms and columns of one tile: small enough for the processor's cache.
TILE = (128, 512)


class Scores:
    """Upper bounds of all scores at the residuals they were last asked for.

    Where ``c_t >= 0``, a score is at most ``c_t' sum_l om_l max(0, R_l)``, and it grows by at most
    ``c_t' sum_l om_l max(0, R_l - R'_l)`` from residuals R' to R. Only where the smaller of the two leaves a doubt is
    the score worked out: in single precision, with a bound on its rounding, and in double where doubt remains.

    A square root of a Gram matrix has negative entries; there all is in doubt at first. The residuals of a sparse
    matrix are dense, and taken block by block instead.
    """

    def __init__(self, C: LocalMatrix, om: Array) -> None:
        self.C, self.om = C, om
        self.bounded = not C.is_sparse and float(C.values.min()) >= 0.0
        self.known: tuple[Array, Array] | None = None

    def at(self, residuals: Iterable[tuple[slice, Array]], bar: Array) -> Array:
        """Return the scores at blocks of residuals, exact wherever they may exceed the bar."""
        if self.C.is_sparse:
            s = np.zeros(self.C.shape[1])
            for some, R in residuals:
                s += np.maximum(self.C.cross(R * self.om[some]), 0.0).sum(axis=1)
            return s
        weighted = np.hstack([R for _, R in residuals]) * self.om
        s = np.full(self.C.shape[1], np.inf)
        if self.bounded:
            s = self._dot(np.maximum(weighted, 0.0).sum(axis=1))
            if self.known is not None:
                before, last = self.known
                s = np.minimum(s, before + self._dot(np.maximum(weighted - last, 0.0).sum(axis=1)))
        # Products and sums in single precision are off by at most this share of the sums of absolute values.
        share = (len(weighted) + TILE[1] + 8) * float(np.finfo(np.float32).eps)
        for precision, error in ((np.float32, share), (np.float64, 0.0)):
            doubtful = np.flatnonzero(s > bar)
            s[doubtful] = np.minimum(s[doubtful], self._by_tiles(weighted, doubtful, precision, error))
        self.known = s, weighted
        return s

    def _dot(self, direction: Array) -> Array:
        return np.asarray(direction @ self.C.values)

    def _by_tiles(self, weighted: Array, atoms: Indices, precision: DTypeLike, error: float) -> Array:
        """Return the scores of some atoms, half of ``sum_l c_t'R_l + |c_t'R_l|``, raised by a share of their terms."""
        # Within the range of single precision; what is lost below it weighs less than its rounding.
        peak = float(np.abs(weighted).max()) or 1.0
        R = (weighted / peak).astype(precision)
        ones, absolute = np.ones(TILE[1], precision), np.zeros(len(atoms))
        for t in range(0, len(atoms), TILE[0]):
            some = slice(t, t + TILE[0])
            C = np.ascontiguousarray(self.C.values[:, atoms[some]].T, dtype=precision)
            for l in range(0, R.shape[1], TILE[1]):
                products = C @ R[:, l : l + TILE[1]]
                absolute[some] += np.abs(products, out=products) @ ones[: products.shape[1]]
        sums, sizes = self._dot(weighted.sum(axis=1))[atoms], np.abs(weighted).sum(axis=1)
        raised = error * (sizes @ np.abs(self.C.values[:, atoms])) if error else 0.0
        return np.asarray(0.5 * (sums + peak * absolute) + raised)
