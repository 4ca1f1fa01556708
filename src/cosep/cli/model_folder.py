"""The saved model of an answer that ``cosep fit`` wrote."""

from pathlib import Path
from typing import Any

import numpy as np

from cosep.cli.folder import FILES, recover
from cosep.findings.topics import topics_of
from cosep.io import TextOptions
from cosep.records.factorization import Factorization
from cosep.utils.messages import shown


def answer_files(model: Path) -> list[Path]:
    """Return the files of the answer that a model belongs to."""
    if model.is_dir():
        return [model / name for name in FILES]
    return [model.with_name(name) for name in FILES] if model.name == FILES[0] else [model]


def load_model(path: Path) -> Factorization:
    """Return a model that ``cosep fit`` wrote, given its file or its folder."""
    file = path / FILES[0] if path.is_dir() else path
    try:
        recover(file.parent)
    except OSError as error:
        reason = f"a run that was killed left it unfinished, and it cannot be finished ({error.strerror})"
        msg = f"model={shown(str(path))}: {reason}; make its folder writable."
        raise ValueError(msg) from error
    if not file.is_file():
        msg = f"model={str(path)!r} is not a model: name a folder that cosep fit wrote, or the model.npz in it."
        raise ValueError(msg)
    try:
        record = Factorization.load(file)
        topics_of(record)
        TextOptions.from_mapping(record.meta.get("text", {}))
    except ValueError as error:
        msg = f"model={str(path)!r} is not a model of cosep fit ({error}); name a folder that it wrote."
        raise ValueError(msg) from error
    if record.row_names is None or record.col_names is None:
        msg = f"model={str(path)!r} has no names of rows and columns; write it with cosep fit."
        raise ValueError(msg)
    return record


def text_options(record: Factorization) -> dict[str, Any]:
    """Return how to count the words of new texts: as for those that the model was fitted to."""
    settings = dict(record.meta.get("text", {"stop_words": None}))
    words = tuple(map(str, np.asarray(record.col_names)))
    return {**settings, "vocabulary": words} if len(set(words)) == len(words) else settings
