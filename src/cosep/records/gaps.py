"""Gaps: what a fit to a matrix with missing entries keeps for later."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    left_out_error : float
        Before the selection, some observed entries were left out, to choose the weight: the share of their squares that
        the others did not explain, in the norm of the model. The smaller, the better the rank of the model.
    core : ndarray of bool, of the shape of the core
        Which entries of the core were missing.
    """

    n_missing: int
    weight: float
    profile: Array
    levels: tuple[float, float]
    left_out_error: float
    core: NDArray[np.bool_]

    def to_json(self) -> dict[str, Any]:
        """Return the record in types that JSON can store."""
        return {
            "n_missing": self.n_missing,
            "weight": self.weight,
            "profile": self.profile.tolist(),
            "levels": list(self.levels),
            "left_out_error": self.left_out_error,
            "core": np.flatnonzero(self.core).tolist(),
        }


def gaps_from_json(stored: Mapping[str, Any] | None, core_shape: tuple[int, int], n: int) -> Gaps | None:
    """Return the record that `Gaps.to_json` was called on, None for None; raise ValueError if it does not fit."""
    if stored is None:
        return None
    profile, levels = (np.array(stored[name], dtype=np.float64) for name in ("profile", "levels"))
    weight, error, n_missing = (stored[name] for name in ("weight", "left_out_error", "n_missing"))
    at, core = np.array(stored["core"], dtype=np.intp), np.zeros(core_shape, dtype=bool)
    numbers = np.concatenate([profile.ravel(), levels.ravel(), [weight, error, 1.0 - weight]])
    sound = profile.shape == (n,) and levels.shape == (2,) and isinstance(n_missing, int)
    sound = sound and bool(np.isfinite(numbers).all()) and bool((numbers >= 0).all())
    if not sound or at.ndim != 1 or (len(at) and not 0 <= at.min() <= at.max() < core.size):
        msg = "its missing entries do not fit its factors"
        raise ValueError(msg)
    core.ravel()[at] = True
    return Gaps(n_missing, float(weight), profile, (float(levels[0]), float(levels[1])), float(error), core)
