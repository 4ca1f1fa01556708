"""Files of the outside world: matrices with names, texts, labels."""

from cosep.io.counts import TextOptions, vectorise
from cosep.io.names import read_labels, read_names
from cosep.io.reading import read
from cosep.io.record import NamedMatrix

__all__ = ["NamedMatrix", "TextOptions", "read", "read_labels", "read_names", "vectorise"]
