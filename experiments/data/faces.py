"""The ORL face images as a matrix of pixels, one image per column."""

import gzip
import io
import numbers
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.utils.messages import shown
from cosep.utils.types import Indices
from experiments.data.home import Folder, MissingDataError, verified

Block = NDArray[np.float64]

ARCHIVE = "faces/orl_faces.tar.gz"
CHECKSUM = "e07ac1b40d12c7f862ccca77624363927a6db18040c5f577d60447b32822e26b"
WHAT = (
    "the ORL Database of Faces of the Olivetti Research Laboratory, 400 PGM images of 112 x 92 gray values, "
    "orl_faces/s1/1.pgm to orl_faces/s40/10.pgm"
)
SUBJECTS, IMAGES = 40, 10
STORED = (112, 92)
IMAGE_NAME = re.compile(r"orl_faces/s([1-9]\d?)/([1-9]\d?)\.pgm")
HEADER = b"P5\n92 112\n255\n"
# The archive unpacks to 4.4 MB; a much larger one is not the expected file.
MOST_BYTES = 2**23


@dataclass(frozen=True, eq=False)
class Faces:
    """Ten photographs each of forty people.

    Parameters
    ----------
    pixels : ndarray of float64, of shape (height * width, 400)
        Gray values from 0 to 1; one image per column, its rows of pixels one after the other.
    labels : ndarray of int, of shape (400,)
        The subject of each image, from 0 to 39.
    shape : tuple of int
        Height and width of an image.
    checksum : str
        Sixteen hexadecimal digits that identify the file the images were read from.
    """

    pixels: Block
    labels: Indices
    shape: tuple[int, int]
    checksum: str

    @property
    def images(self) -> Block:
        """The same values as images, of shape (400, height, width)."""
        return self.pixels.T.reshape(-1, *self.shape)


def load_faces(*, shape: tuple[int, int] | None = (23, 19), home: Folder | None = None) -> Faces:
    """Read the ORL faces from a folder of published data, shrunk as in the paper: a matrix of 437 pixels x 400 images.

    The images come subject by subject, s1 to s40, and 1 to 10 of each; they are shrunk by bicubic interpolation that
    averages over all pixels, and rounded to 256 gray values. Nothing is downloaded or unpacked to disk. The archive is
    read only if its checksum matches.

    Parameters
    ----------
    shape : pair of int or None, default (23, 19)
        Height and width of the images, at most (112, 92), the size in the archive. None keeps that size.
    home : path, optional
        Folder with ``faces/``. Default: the folder named by the environment variable COSEP_DATA.

    Returns
    -------
    Faces

    Raises
    ------
    MissingDataError
        If the archive is missing or has another checksum.

    References
    ----------
    F. Samaria and A. Harter, Parameterisation of a stochastic model for human face identification, IEEE Workshop on
    Applications of Computer Vision, 1994, https://doi.org/10.1109/ACV.1994.341300.

    Examples
    --------
    >>> from experiments.data import load_faces
    >>> faces = load_faces()  # doctest: +SKIP
    >>> faces.pixels.shape, faces.images.shape  # doctest: +SKIP
    ((437, 400), (400, 23, 19))
    """
    height, width = _checked(shape)
    stored = _stack(verified(home, ARCHIVE, CHECKSUM, WHAT))
    small = _bicubic(STORED[0], height) @ stored @ _bicubic(STORED[1], width).T
    pixels = np.ascontiguousarray(np.clip(np.rint(small), 0, 255).reshape(len(stored), -1).T) / 255
    return Faces(pixels, np.repeat(np.arange(SUBJECTS), IMAGES), (height, width), CHECKSUM[:16])


def _checked(shape: Any) -> tuple[int, int]:
    """Return height and width, as int."""
    sides = tuple(shape) if isinstance(shape, (tuple, list)) else STORED if shape is None else ()
    whole = all(isinstance(side, numbers.Integral) and not isinstance(side, bool) for side in sides)
    if len(sides) != 2 or not whole or not all(1 <= side <= most for side, most in zip(sides, STORED, strict=True)):
        msg = f"shape={shown(shape)} must be height and width, two whole numbers up to {STORED}, or None for these."
        raise ValueError(msg)
    return int(sides[0]), int(sides[1])


def _stack(archive: Path) -> Block:
    """Return all images in the order of subjects and numbers."""
    try:
        found = dict(_members(archive))
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise MissingDataError(_not_it(f"it cannot be read ({error})")) from error
    wanted = [(subject, number) for subject in range(1, SUBJECTS + 1) for number in range(1, IMAGES + 1)]
    if sorted(found) != wanted:
        raise MissingDataError(_not_it(f"it has {len(found)} images"))
    return np.stack([found[key] for key in wanted])


def _members(archive: Path) -> Iterator[tuple[tuple[int, int], Block]]:
    """Yield subject, number and pixels of every image; other members are skipped; nothing is written to disk."""
    with gzip.open(archive) as packed:
        unpacked = packed.read(MOST_BYTES + 1)
    if len(unpacked) > MOST_BYTES:
        raise MissingDataError(_not_it(f"it unpacks to more than {MOST_BYTES} bytes"))
    with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as members:
        for member in members:
            name = IMAGE_NAME.fullmatch(member.name)
            if name is None:
                continue
            n_bytes = len(HEADER) + STORED[0] * STORED[1]
            file = members.extractfile(member) if member.isreg() and member.size == n_bytes else None
            content = b"" if file is None else file.read()
            if len(content) != n_bytes or not content.startswith(HEADER):
                raise MissingDataError(
                    _not_it(f"{member.name} is not an image of {STORED[0]} x {STORED[1]} gray values")
                )
            pixels = np.frombuffer(content, np.uint8, offset=len(HEADER)).reshape(STORED)
            yield (int(name[1]), int(name[2])), pixels.astype(np.float64)


def _not_it(reason: str) -> str:
    return f"{ARCHIVE} is not {WHAT}: {reason}; replace it by the one with sha256 {CHECKSUM}."


def _bicubic(n: int, k: int) -> Block:
    """Return the k x n matrix that shrinks n pixels to k by Keys' cubic kernel, widened so that nothing aliases."""
    x = np.abs((np.arange(n) + 0.5) * k / n - (np.arange(k)[:, None] + 0.5))
    near, far = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    weights = np.where(x <= 1, near, np.where(x <= 2, far, 0.0))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
