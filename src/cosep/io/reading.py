"""The path of a file or folder enters; a matrix with the names of its rows and columns leaves."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from cosep.io.csv_table import SEPARATORS
from cosep.io.h5ad_file import read_h5ad
from cosep.io.input_source import InputSource, opened
from cosep.io.matlab import read_matlab
from cosep.io.matrix_market import read_matrix_market
from cosep.io.named_matrix import NamedMatrix
from cosep.io.numpy_file import read_npy, read_npz
from cosep.io.parquet_table import PARQUET_SUFFIXES
from cosep.io.table_layout import LAYOUTS
from cosep.io.tables import read_table, read_text_column
from cosep.io.texts import count_texts, read_folder, read_json_lines, read_lines
from cosep.io.word_counts import TextOptions
from cosep.utils.messages import shown


def read(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    text: TextOptions | None = None,
    layout: str | None = None,
    index: str | None = None,
    labels: str | None = None,
    variable: str | None = None,
    layer: str | None = None,
) -> NamedMatrix:
    r"""Read a nonnegative matrix, or count the words of texts.

    The suffix says what a file is:

    ====================  ==============================================================================================
    ``.csv .tsv``         a table with a heading, wide or triplets, or texts; ``.parquet`` likewise
    ``.mtx``              Matrix Market
    ``.npz .npy``         scipy.sparse.save_npz, numpy.savez, numpy.save
    ``.mat``              MATLAB, up to version 7
    ``.h5ad``             AnnData
    ``.txt``              one text per line, blank ones skipped
    ``.jsonl``            one JSON object per line, with a field for the text
    a folder              one text in each ``.txt`` file, also in folders within it, in the order of their paths
    ====================  ==============================================================================================

    Text formats are UTF-8, and may end in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``. The first column of a wide table
    names its rows if it has no heading or holds more than numbers. A table of three columns, the third numbers, the
    second not, lists triplets: row, column, value, where integers are names too, and what is given twice is added up.
    Names stay as they are written: "NA" and "007" too. Sparse matrices stay sparse, and a table with fewer than a third
    of nonzeros becomes sparse. Dense tables beyond 1 GiB become float32 where nothing is lost.

    Parameters
    ----------
    path : path
        "-" is the standard input, which needs `kind`.
    kind : str, optional
        The suffix to go by instead of that of the path, such as "csv.gz".
    text : TextOptions, optional
        How to count words; with its `column`, the texts of a table.
    layout : "wide" or "triplets", optional
        Of a table; by default as above.
    index : str, optional
        The column of a table, or field of a JSON line, that names the rows; by default the field "id" if all have it.
    labels : str, optional
        The column of a table or of ``obs``, field or MATLAB variable with the class of each row.
    variable : str, optional
        Which matrix of a ``.mat`` or ``.npz`` file; by default the only one.
    layer : str, optional
        Which layer of an ``.h5ad`` file, "raw" for its raw matrix; by default X.

    Returns
    -------
    NamedMatrix

    Raises
    ------
    ValueError
        If the file is not what it should be; the message names it and says what to do, on one line.
    ImportError
        If the format needs a package that is not installed.

    See Also
    --------
    read_labels : classes of rows from a file of their own.
    read_names : names from a file of their own.

    Notes
    -----
    The file need not be trusted. Nothing in it is executed, and nothing outside it is read: links that lead out of a
    folder are refused, and HDF5 data that is kept in other files. What it becomes may take 1 GiB of memory, or 200
    times the size of the file if that is more. An ``.h5ad`` file is read by a child process with limits on its time and
    memory, because a damaged one can hang or end its process.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from cosep.io import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "counts.csv")
    ...     _ = path.write_text("gene,cell 1,cell 2\nNA,3,1\nTP53,2,5\n")
    ...     matrix = read(path, layout="wide")
    >>> matrix.row_names.tolist(), matrix.values.tolist()
    (['NA', 'TP53'], [[3.0, 1.0], [2.0, 5.0]])
    """
    asked = {"layout": layout, "index": index, "labels": labels, "variable": variable, "layer": layer}
    if text is not None and not isinstance(text, TextOptions):
        msg = f"text={shown(text)} must be TextOptions, or None."
        raise ValueError(msg)
    for name, value in (*asked.items(), ("kind", kind)):
        if value is not None and not isinstance(value, str):
            msg = f"{name}={shown(value)} must be text, or None."
            raise ValueError(msg)
    if layout is not None and layout not in LAYOUTS:
        msg = f"layout={shown(layout)} must be one of {', '.join(map(repr, LAYOUTS))}."
        raise ValueError(msg)
    with opened(path, kind) as source:
        reader = _reader(source, text)
        options = {name: value for name, value in asked.items() if value is not None}
        for name in options.keys() - reader.options:
            source.fail(f"{name}={shown(options[name])} says nothing of this kind of file; leave it out.")
        return reader.read(source, **{name: asked[name] for name in reader.options})


class _Reader(NamedTuple):
    """A function of a source, and the names of the options that it takes."""

    read: Callable[..., NamedMatrix]
    options: frozenset[str] = frozenset()
    streams: bool = False


def _texts(find: Callable[..., Any], text: TextOptions | None, *options: str) -> _Reader:
    """Return a reader that counts the words of texts."""

    def read_texts(source: InputSource, **asked: Any) -> NamedMatrix:
        return count_texts(source, find(source, **asked), text)

    return _Reader(read_texts, frozenset(options), streams=True)


def _reader(source: InputSource, text: TextOptions | None) -> _Reader:
    """Return what reads this kind of file."""
    column = None if text is None else text.column
    table = (
        _Reader(read_table, frozenset({"layout", "index", "labels"}), streams=True)
        if text is None or column is None
        else _texts(lambda source, **asked: read_text_column(source, text, **asked), text, "index", "labels")
    )
    json_lines = _texts(lambda source, **asked: read_json_lines(source, column, **asked), text, "index", "labels")
    readers = {
        "/": _texts(read_folder, text),
        ".txt": _texts(read_lines, text),
        ".jsonl": json_lines,
        ".ndjson": json_lines,
        **dict.fromkeys(SEPARATORS, table),
        **dict.fromkeys(PARQUET_SUFFIXES, table._replace(streams=False)),
        ".mtx": _Reader(read_matrix_market, streams=True),
        ".npy": _Reader(read_npy),
        ".npz": _Reader(read_npz, frozenset({"variable"})),
        ".mat": _Reader(read_matlab, frozenset({"variable", "labels"})),
        ".h5ad": _Reader(read_h5ad, frozenset({"layer", "labels"})),
    }
    if source.suffix not in readers:
        known = ", ".join(sorted(readers.keys() - {"/"}))
        source.fail(f"the suffix {shown(source.suffix)} says no known format; expected {known}, or say the kind.")
    if source.packing and not readers[source.suffix].streams:
        source.fail(f"{source.suffix} cannot be read while compressed by {source.packing}; unpack it first.")
    return readers[source.suffix]
