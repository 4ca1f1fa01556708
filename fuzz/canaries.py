"""Traps for readers: files outside of an input that no answer may know, and an object that must not be unpickled."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from fuzz.seeds import N_COLS, N_ROWS

# A number and a word that only files beside the input hold; no answer may know them.
SECRET_NUMBER, SECRET_WORD = 7777.25, "zzsecretword"
SECRET_ARRAY, SECRET_TEXT, SECRET_CELLS = "secret.npy", "secret.txt", "secret.h5"
EXECUTED = "executed"


class Payload:
    """An object that writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, int]]:
        return os.open, (str(self.path), os.O_CREAT | os.O_WRONLY)


def put_secrets(folder: Path) -> None:
    """Write files that no input holds, for links to point at."""
    secret = np.full((N_ROWS, N_COLS), SECRET_NUMBER)
    np.save(folder / SECRET_ARRAY, secret)
    (folder / SECRET_TEXT).write_text(f"{SECRET_WORD} {SECRET_WORD}\n" * N_ROWS, encoding="utf-8")
    with h5py.File(folder / SECRET_CELLS, "w") as file:
        file["X"] = secret
