"""Files of the outside world: matrices with names, blocks of rows, texts, labels."""

from cosep.io.counts import TextOptions, vectorise
from cosep.io.names import read_labels, read_names
from cosep.io.reading import read
from cosep.io.record import NamedMatrix
from cosep.io.stores import read_blocks
from cosep.io.writing import write_blocks

__all__ = [
    "NamedMatrix",
    "TextOptions",
    "read",
    "read_blocks",
    "read_labels",
    "read_names",
    "vectorise",
    "write_blocks",
]
