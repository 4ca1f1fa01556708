"""Data to try the methods on: planted matrices and a corpus of docstrings."""

from cosep.datasets.docstrings import DocstringCorpus, load_docstrings
from cosep.datasets.synthetic import Planted, make_coseparable

__all__ = ["DocstringCorpus", "Planted", "load_docstrings", "make_coseparable"]
