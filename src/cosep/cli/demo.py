"""The docstring corpus enters; the whole tour leaves: the rank curve, the fit, its tables and the report."""

from pathlib import Path
from tempfile import mkdtemp

from cosep.cli.fit import Manner, Wishes, run
from cosep.datasets import load_docstrings
from cosep.io import NamedMatrix

# Enough to show how the error falls, in seconds.
RANKS = (4, 8, 12, 16)


def tour(out: Path | None, wishes: Wishes, *, as_json: bool, quiet: bool) -> None:
    """Fit the corpus and write everything that ``cosep fit`` writes; to a new temporary folder if none is named."""
    folder = Path(mkdtemp(prefix="cosep-demo-")) if out is None else out
    run(corpus, folder, wishes, Manner(as_json=as_json, quiet=quiet, row="function", column="word"), "cosep demo")


def corpus() -> NamedMatrix:
    """Return functions x words, with the subpackages as labels."""
    held = load_docstrings()
    return NamedMatrix(held.counts, held.documents, held.words, texts=held.texts, labels=held.labels)
