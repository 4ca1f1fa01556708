"""The saved model of an answer that ``cosep fit`` wrote."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.cli.folder import FILES, recover
from cosep.findings.describe import with_names
from cosep.findings.topics import topics_of
from cosep.io import TextOptions
from cosep.io.named_matrix import numbered
from cosep.records.factorization import Factorization
from cosep.utils.messages import shown
from cosep.utils.types import Indices


def answer_files(model: Path) -> list[Path]:
    """Return the files of the answer that a model belongs to."""
    if model.is_dir():
        return [model / name for name in FILES]
    return [model.with_name(name) for name in FILES] if model.name == FILES[0] else [model]


def load_model(path: Path, option: str = "model") -> Factorization:
    """Return a model that ``cosep fit`` or ``CoSeparableNMF.save`` wrote, given its file or the folder of the command.

    ``option`` is what messages call it. Rows and columns without names are numbered.
    """
    file = path / FILES[0] if path.is_dir() else path
    try:
        recover(file.parent)
    except OSError as error:
        reason = f"a run that was killed left it unfinished, and it cannot be finished ({error.strerror})"
        msg = f"{option}={shown(str(path))}: {reason}; make its folder writable."
        raise ValueError(msg) from error
    if not file.is_file():
        msg = f"{option}={str(path)!r} is not a model: name a folder that cosep fit wrote, or a file of a model."
        raise ValueError(msg)
    try:
        record = Factorization.load(file)
        topics_of(record)
        TextOptions.from_mapping(record.meta.get("text", {}))
    except ValueError as error:
        msg = f"{option}={str(path)!r} is not a model of cosep fit ({error}); name a folder that it wrote."
        raise ValueError(msg) from error
    return with_names(record)


def text_options(record: Factorization) -> dict[str, Any]:
    """Return how to count the words of new texts: as for those that the model was fitted to."""
    settings = dict(record.meta.get("text", {"stop_words": None}))
    words = tuple(map(str, np.asarray(record.col_names)))
    return {**settings, "vocabulary": words} if len(set(words)) == len(words) else settings


def table_options(record: Factorization) -> tuple[list[str], dict[str, Any]]:
    """Return the columns of a model, none if they have no names, and how the table that it was fitted to was read."""
    stored = record.meta.get("table", {})
    known = {name: one for name, one in stored.items() if isinstance(one, str)} if isinstance(stored, dict) else {}
    names = np.asarray(record.col_names)
    return [] if _are_numbers(names) else list(map(str, names)), known


def positions_in(found: NDArray[Any], wanted: NDArray[Any], what: str) -> Indices | None:
    """Return where wanted names are among those found, None if both are the same, or if only the positions are known.

    Numbered names, "column 0", ..., belong to a model of a matrix without names. ``what`` is what they are in the
    model: its columns, selected columns or selected rows.
    """
    kind = what.rsplit(maxsplit=1)[-1]
    by_position = what == "columns" and len(found) == len(wanted) and _are_numbers(wanted)
    if by_position or np.array_equal(found, wanted):
        return None
    n_found, n_wanted = Counter(map(str, found)), Counter(map(str, wanted))
    repeated = [name for name in n_wanted if n_wanted[name] > 1 or n_found[name] > 1]
    if repeated:
        msg = f"input has {kind} in another order than the model, and several are called {repeated[0]!r}; rename them."
        raise ValueError(msg)
    places = {str(name): place for place, name in enumerate(found)}
    missing = [str(name) for name in wanted if str(name) not in places]
    if missing:
        some = ", ".join(map(repr, missing[:3])) + (", ..." if len(missing) > 3 else "")
        msg = f"input lacks {len(missing)} of {len(wanted)} {what} of the model ({some}); name its {kind} as there."
        raise ValueError(msg)
    return np.array([places[str(name)] for name in wanted], dtype=np.intp)


def _are_numbers(names: NDArray[Any]) -> bool:
    """Return whether columns are only numbered, as those of a matrix without names are."""
    return np.array_equal(names, numbered("column", len(names)))
