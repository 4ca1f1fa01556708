"""Gaps: what a fit to a matrix with missing entries keeps for later."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.utils.types import Array


@dataclass(frozen=True, eq=False)
class Gaps:
    """The missing entries of the data of a fit, and how they were filled.

    Attributes
    ----------
    n_missing : int
        How many entries were missing.
    weight : float
        What a gap counts as in the fit, relative to an observed entry, with the value that the profile suggests.
    profile : ndarray of shape (n,)
        The share of each column in a row of which nothing is known but its level.
    levels : (float, float)
        What is added to the sum of the observed entries of a row, and to that of the profile there, for its level.
    core : ndarray of bool, of the shape of the core
        Which entries of the core were missing.
    """

    n_missing: int
    weight: float
    profile: Array
    levels: tuple[float, float]
    core: NDArray[np.bool_]

    def to_json(self) -> dict[str, Any]:
        """Return the record in types that JSON can store."""
        return {
            "n_missing": self.n_missing,
            "weight": self.weight,
            "profile": self.profile.tolist(),
            "levels": list(self.levels),
            "core": np.flatnonzero(self.core).tolist(),
        }


def gaps_from_json(stored: Mapping[str, Any] | None, core_shape: tuple[int, int], n: int) -> Gaps | None:
    """Return the record that `Gaps.to_json` was called on, None for None; raise ValueError if it does not fit."""
    if stored is None:
        return None
    profile, weight = np.array(stored["profile"], dtype=np.float64), stored["weight"]
    at, n_missing = np.array(stored["core"], dtype=np.intp), stored["n_missing"]
    core = np.zeros(core_shape, dtype=bool)
    sound = profile.shape == (n,) and bool((profile >= 0).all()) and bool(np.isfinite(profile).all())
    levels = np.array(stored["levels"], dtype=np.float64)
    sound = sound and levels.shape == (2,) and bool((levels >= 0).all()) and bool(np.isfinite(levels).all())
    sound = sound and isinstance(weight, Real) and 0 <= float(weight) <= 1 and isinstance(n_missing, int)
    if not sound or at.ndim != 1 or (len(at) and not 0 <= at.min() <= at.max() < core.size):
        msg = "its missing entries do not fit its factors"
        raise ValueError(msg)
    core.ravel()[at] = True
    return Gaps(n_missing, float(weight), profile, (float(levels[0]), float(levels[1])), core)
