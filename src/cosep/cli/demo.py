"""The command ``cosep demo``: everything that ``cosep fit`` does, on docstrings that are installed anyway."""

import secrets
from pathlib import Path
from tempfile import gettempdir

from cosep.cli.fit import FitOptions, OutputOptions, run
from cosep.cli.matrix_source import MatrixSource
from cosep.datasets import load_docstrings
from cosep.io import NamedMatrix

# Enough to show how the error falls, in a few seconds.
RANKS = (4, 8, 12, 16)
TITLE = "Docstrings of SciPy and scikit-learn"


def run_demo(out: Path | None, options: FitOptions, output: OutputOptions, command: str) -> None:
    """Fit the docstrings and write everything that ``cosep fit`` writes; to a new temporary folder by default."""
    folder = Path(gettempdir()) / f"cosep-demo-{secrets.token_hex(4)}" if out is None else out
    run(MatrixSource(read_docstrings), folder, options, output, command)


def read_docstrings() -> NamedMatrix:
    """Return functions x words, with the subpackages as labels."""
    corpus = load_docstrings()
    nouns = ("function", "word")
    return NamedMatrix(
        corpus.counts, corpus.documents, corpus.words, texts=corpus.texts, labels=corpus.labels, nouns=nouns
    )
