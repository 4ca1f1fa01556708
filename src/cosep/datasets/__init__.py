"""Data to try things on."""

from cosep.datasets.docstrings import DocstringCorpus, load_docstrings
from cosep.datasets.documents import DOCUMENT_SETS, Documents, load_documents
from cosep.datasets.faces import Faces, load_faces
from cosep.datasets.home import MissingDataError
from cosep.datasets.synthetic import Planted, make_coseparable

__all__ = [
    "DOCUMENT_SETS",
    "DocstringCorpus",
    "Documents",
    "Faces",
    "MissingDataError",
    "Planted",
    "load_docstrings",
    "load_documents",
    "load_faces",
    "make_coseparable",
]
