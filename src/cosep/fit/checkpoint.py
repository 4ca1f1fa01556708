"""A folder that keeps the results of passes over blocks, so that a stopped fit can continue."""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from cosep.records.archive import array_headers, read_arrays, write_arrays
from cosep.utils.atomic import unfinished
from cosep.utils.messages import one_line, shown
from cosep.utils.paths import check_path, is_not_a_folder

# The name under which a file holds the hash of what its result was made from.
KEY = "made_from"
# Other fits, which remove the folder when they end, can make a write fail; this often is enough for many fits.
MAX_ATTEMPTS = 100


class Checkpoint:
    """A folder that keeps the results of passes.

    Several fits may use the same folder at the same time. If one of them removes a file that another one needs, that
    one writes it again.

    Parameters
    ----------
    folder : path
        A new or an existing folder.
    temporary : bool
        Whether the fit removes the results when it is complete. If not, the caller removes them by `forget`.
    """

    def __init__(self, folder: Any, *, temporary: bool = False) -> None:
        self.folder = check_path(folder, "checkpoint", "the path of a folder, or None")
        self.temporary = temporary
        self.used: list[Path] = []
        if is_not_a_folder(self.folder):
            msg = f"checkpoint={shown(str(folder))} is a file; name a new or an existing folder."
            raise ValueError(msg)

    def __fspath__(self) -> str:
        return str(self.folder)

    def prepare(self) -> None:
        """Make the folder; raise ValueError, before anything is computed, if it cannot be written to."""
        self._in_folder(lambda: tempfile.TemporaryFile(dir=self.folder).close())

    def load(self, name: str, key: str) -> dict[str, Any] | None:
        """Return the arrays that were kept under this name and key, or None."""
        path = self._path(name, key)
        self.used.append(path)
        try:
            arrays = read_arrays(path, array_headers(path))
            return arrays if arrays.pop(KEY).item() == key else None
        except Exception:  # noqa: BLE001 - a damaged file can raise anything, and is written again
            return None

    def keep(self, name: str, key: str, arrays: dict[str, Any]) -> None:
        """Write arrays under a name and a key."""
        self._in_folder(lambda: write_arrays(self._path(name, key), {KEY: np.array(key), **arrays}))

    def forget(self) -> None:
        """Remove the results that were used, and the folder if nothing else is in it."""
        for path in self.used:
            for file in (path, *unfinished(path)):
                with suppress(OSError):  # the fit is complete, and its result matters more
                    file.unlink(missing_ok=True)
        with suppress(OSError):  # not empty, or in use by the system
            self.folder.rmdir()

    def _path(self, name: str, key: str) -> Path:
        return self.folder / f"{name}-{key[:32]}.npz"

    def _in_folder(self, write: Callable[[], None]) -> None:
        """Write into the folder, and try again if another fit removes the folder meanwhile."""
        for attempt in range(MAX_ATTEMPTS):
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                write()
            except OSError as error:
                if isinstance(error, (FileNotFoundError, FileExistsError)) and attempt + 1 < MAX_ATTEMPTS:
                    continue
                msg = (
                    f"checkpoint={shown(str(self.folder))} cannot be written to ({error.strerror or one_line(error)}); "
                    "name another folder, or make room."
                )
                raise ValueError(msg) from error
            return
