"""Canaries: files outside of the input that must not be read, and an object that must not be unpickled."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from fuzz.corpus import N_COLS, N_ROWS

# A number and a word that occur only in files outside of the input, so they must not occur in any answer.
CANARY_NUMBER, CANARY_WORD = 7777.25, "zzcanaryword"
CANARY_ARRAY, CANARY_TEXT, CANARY_HDF5 = "canary.npy", "canary.txt", "canary.h5"
EXECUTED = "executed"


class Payload:
    """An object that creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, int]]:
        return os.open, (str(self.path), os.O_CREAT | os.O_WRONLY)


def write_canaries(folder: Path) -> None:
    """Write files outside of all inputs, as targets of links."""
    canary = np.full((N_ROWS, N_COLS), CANARY_NUMBER)
    np.save(folder / CANARY_ARRAY, canary)
    (folder / CANARY_TEXT).write_text(f"{CANARY_WORD} {CANARY_WORD}\n" * N_ROWS, encoding="utf-8")
    with h5py.File(folder / CANARY_HDF5, "w") as file:
        file["X"] = canary
