"""Random numbers that belong to rows: the same in whatever block a row is."""

import numpy as np
from numpy.typing import NDArray

from cosep.utils.types import Array, Indices


def uniforms(positions: Indices, seed: int) -> Array:
    """Return a pseudo-random number in (0, 1) for each position, always the same for the same seed.

    The mixing function of splitmix64: G. L. Steele, D. Lea and C. H. Flood, OOPSLA 2014, doi:10.1145/2660193.2660195.
    """
    z = positions.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + _mixed(np.array([seed + 1], dtype=np.uint64))
    return np.asarray(((_mixed(z) >> np.uint64(11)) + 0.5) * 2.0**-53)


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)
