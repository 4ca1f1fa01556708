"""Files and texts as matrices with names, and blocks of rows in files and Zarr stores."""

from cosep.io.block_reading import read_blocks
from cosep.io.block_writing import write_blocks
from cosep.io.named_matrix import NamedMatrix
from cosep.io.names import read_labels, read_names
from cosep.io.reading import read
from cosep.io.text_options import TextOptions
from cosep.io.word_counts import vectorise

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
