"""The docstring corpus enters; the whole tour leaves: the rank curve, the fit, its tables and the report."""

import secrets
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir

from cosep.cli.fit import Manner, Wishes, run
from cosep.datasets import load_docstrings
from cosep.io import NamedMatrix

# Enough to show how the error falls, in seconds.
RANKS = (4, 8, 12, 16)


def tour(out: Path | None, wishes: Wishes, manner: Manner, command: str) -> None:
    """Fit the corpus and write everything that ``cosep fit`` writes; to a new temporary folder if none is named."""
    folder = Path(gettempdir()) / f"cosep-demo-{secrets.token_hex(4)}" if out is None else out
    run(corpus, folder, wishes, replace(manner, row="function", column="word"), command)


def corpus() -> NamedMatrix:
    """Return functions x words, with the subpackages as labels."""
    held = load_docstrings()
    return NamedMatrix(held.counts, held.documents, held.words, texts=held.texts, labels=held.labels)
