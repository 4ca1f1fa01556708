"""The ORL faces as a matrix, mixes of its columns and correlations between them."""

from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep import Selection, mix
from experiments.data import load_faces

Block = NDArray[np.float64]


class Faces(NamedTuple):
    """Pixels x images, the subject of every image, counted from 0, and height and width of an image."""

    pixels: Block
    subjects: NDArray[np.int_]
    shape: tuple[int, int]


@lru_cache
def gallery(name: str) -> Faces:
    """Return the faces, subject by subject, or a few that are made up, to see whether everything runs."""
    if name == "planted":
        random = np.random.default_rng(0)
        people, light = random.gamma(2.0, size=(6, 1, 48)), random.uniform(0.0, 1.0, (6, 5, 48))
        images = (people * light).reshape(30, 48)
        return Faces(np.ascontiguousarray(images.T / images.max()), np.repeat(np.arange(6), 5), (8, 6))
    held = load_faces()
    return Faces(held.pixels, held.labels, held.shape)


def checksum(X: Block) -> str:
    """Return twelve digits that identify the data."""
    return sha256(X.tobytes()).hexdigest()[:12]


def rebuilt(X: Block, cols: NDArray[np.int_]) -> Block:
    """Return all images as nonnegative mixes of the chosen ones."""
    return np.asarray(X[:, cols] @ mix(X, Selection(None, cols)).col_factor)


def correlated(X: Block) -> Block:
    """Return the correlations between columns."""
    return np.asarray(np.corrcoef(X.T))
