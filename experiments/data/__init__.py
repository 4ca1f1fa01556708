"""Loaders of the document sets and face images of Pan and Ng (2023), from a local folder of published files."""

from experiments.data.documents import DOCUMENT_SETS, Documents, load_documents
from experiments.data.faces import Faces, load_faces
from experiments.data.home import MissingDataError

__all__ = ["DOCUMENT_SETS", "Documents", "Faces", "MissingDataError", "load_documents", "load_faces"]
