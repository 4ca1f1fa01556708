"""The reader of matrices with names, for all file formats."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cosep.io.csv_records import SEPARATORS
from cosep.io.excel_table import EXCEL_SUFFIXES
from cosep.io.h5ad_file import read_h5ad
from cosep.io.input_source import InputSource, open_source
from cosep.io.json_lines import read_json_lines
from cosep.io.matlab import read_matlab
from cosep.io.matrix_market import read_matrix_market
from cosep.io.named_matrix import NamedMatrix
from cosep.io.numpy_file import read_npy, read_npz
from cosep.io.parquet_table import PARQUET_SUFFIXES
from cosep.io.table_layout import DECIMALS, LAYOUTS
from cosep.io.tables import read_table, read_text_column
from cosep.io.text_options import TextOptions
from cosep.io.texts import count_texts, read_folder, read_lines
from cosep.utils.messages import shown

# Words for separators that are hard to type.
SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t", "space": " "}
TABLE_OPTIONS = frozenset({"sep", "decimal", "sheet", "layout", "index", "labels", "columns", "drop"})
# Which entries may be missing.
MISSING = (None, "nan", "unstored")
NOT_SEPARATORS = "\"'.+-\r\n\0"


def read(  # noqa: PLR0913 - the options of all formats
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    text: TextOptions | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    layout: str | None = None,
    index: str | None = None,
    labels: str | None = None,
    columns: str | Sequence[str] | None = None,
    drop: str | Sequence[str] | None = None,
    variable: str | None = None,
    layer: str | None = None,
    missing: str | None = None,
) -> NamedMatrix:
    r"""Read a nonnegative matrix, or count the words of texts.

    The suffix of the file determines the format:

    ====================  ==============================================================================================
    ``.csv .tsv``         a table with a header: wide, triplets or texts; also ``.parquet`` and ``.xlsx``
    ``.mtx``              Matrix Market
    ``.npz .npy``         scipy.sparse.save_npz, numpy.savez (also of the parts of a csr matrix), numpy.save
    ``.mat``              MATLAB, up to version 7
    ``.h5ad``             AnnData
    ``.txt``              one text per line, blank lines skipped
    ``.jsonl``            one JSON object per line, with a field for the text
    a folder              one text per ``.txt`` file, also in subfolders, in the order of their paths
    ====================  ==============================================================================================

    Text formats are in UTF-8, and may be compressed: ``.gz``, ``.bz2``, ``.xz`` or ``.zst``. The first column of a wide
    table holds the row names if it has no header or contains anything but numbers. A table of three columns lists
    triplets (row, column, value) if the third column holds numbers and the second does not, or if the header says so,
    as "document, word, count" does; integers may be names, and repeated entries are summed. Names are not changed, also
    "NA" and "007". Sparse matrices stay sparse, and a table becomes sparse if less than a third of its entries are
    nonzero. Dense tables of more than 1 GiB become float32 if that is exact.

    Parameters
    ----------
    path : path
        A file or folder, or "-" for the standard input, which needs `kind`.
    kind : str, optional
        The suffix to use instead of that of the path, such as "csv.gz".
    text : TextOptions, optional
        How to count words. Set its `column` to read the texts of a table. Default: ``TextOptions()`` for texts.
    sep : str, optional
        The separator of a table as text, one character, or "tab". Default: found from the first lines, among comma,
        semicolon, tab and "|".
    decimal : "." or ",", optional
        The decimal mark of a table as text. Default: found from the first rows. Digits in groups of three (1,234.5) are
        not read.
    sheet : str, optional
        The sheet of an Excel file. Default: the first one; a warning names the others.
    layout : "wide" or "triplets", optional
        The layout of a table. Default: determined as described above.
    index : str, optional
        The column of a table, or field of a JSON line, with the row names. Default for JSON lines: the field "id", if
        all lines have it.
    labels : str, optional
        The column of a table or of ``obs``, the field of JSON lines, or the MATLAB variable with the label of each row.
        Default: no labels.
    columns, drop : str or list of str, optional
        The columns of a table to keep, and those to leave out. A text names one column, or several separated by commas.
        A first column with row names is kept unless it is left out. Default: all columns.
    variable : str, optional
        The matrix of a ``.mat`` or ``.npz`` file to read. Default: the only one.
    layer : str, optional
        The layer of an ``.h5ad`` file to read, "raw" for its raw matrix. Default: X.
    missing : {"nan", "unstored"}, optional
        Accept missing entries, as ``CoSeparableNMF(missing=...)`` does. "nan": empty cells, NA and the like in tables,
        and NaN, stay NaN. "unstored": what triplets or a sparse matrix do not store is missing, and stored zeros stay
        stored. Default: None: a missing entry is an error, and what is not stored is zero.

    Returns
    -------
    NamedMatrix

    Raises
    ------
    ValueError
        If the file is not valid. The message is one line that names the file and says what to do.
    ImportError
        If the format needs a package that is not installed.

    See Also
    --------
    read_labels : labels of rows from another file.
    read_names : names from another file.

    Notes
    -----
    Files from untrusted sources are safe to read. Nothing in a file is executed, and nothing outside of it is read:
    links out of a folder, and HDF5 data stored in other files, raise an error. The result may take 1 GiB of memory, or
    200 times the size of the file if that is more. A child process with limits on time and memory reads ``.h5ad``
    files, because a damaged one can hang or crash its process.

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
    options: dict[str, Any] = {
        "sep": sep,
        "decimal": decimal,
        "sheet": sheet,
        "layout": layout,
        "index": index,
        "labels": labels,
        "columns": columns,
        "drop": drop,
        "variable": variable,
        "layer": layer,
    }
    return _read(path, kind, text, options, missing=missing)


def read_for_model(
    path: str | os.PathLike[str],
    kind: str | None,
    text: TextOptions | None,
    options: Mapping[str, Any],
    model: tuple[Sequence[str], Mapping[str, Any]],
    missing: str | None = None,
) -> NamedMatrix:
    """Read new rows for a model: of a table, only its columns, and as the table that it was fitted to.

    Parameters
    ----------
    path, kind, text
        As in `read`.
    options : mapping
        Other options of `read`.
    model : tuple
        The columns of the model, none if they have no names, and the options that its own file was read with, which
        count if they apply here and `options` has no others.
    """
    names, earlier = model
    return _read(path, kind, text, options, frozenset(map(str, names)) or None, earlier, missing=missing)


def _read(
    path: Any,
    kind: Any,
    text: Any,
    options: Mapping[str, Any],
    known: frozenset[str] | None = None,
    earlier: Mapping[str, Any] | None = None,
    *,
    missing: str | None = None,
) -> NamedMatrix:
    if text is not None and not isinstance(text, TextOptions):
        msg = f"text={shown(text)} must be TextOptions, or None."
        raise ValueError(msg)
    checked = {name: _checked(name, value) for name, value in {**options, "kind": kind}.items()}
    del checked["kind"]
    if missing not in MISSING:
        msg = f"missing={shown(missing)} must be 'nan', 'unstored' or None."
        raise ValueError(msg)
    with open_source(path, kind) as opened:
        source = replace(opened, missing=missing)
        reader = _reader(source, text)
        for name, value in checked.items():
            if value is not None and name not in reader.options:
                source.fail(f"{name}={shown(value)} does not apply to this kind of file; leave it out.")
        chosen = {name: checked.get(name) for name in reader.options}
        for name, value in (earlier or {}).items():
            if name in chosen and chosen[name] is None:
                chosen[name] = _checked(name, value)
        if known is not None and "columns" in reader.options:
            chosen["known"] = known
        return reader.read(source, **chosen)


def _checked(name: str, value: Any) -> Any:
    """Return an option of `read`; raise ValueError if it is not what it must be."""
    if value is None:
        return None
    if name in {"columns", "drop"}:
        listed = [value] if isinstance(value, str) else value
        if isinstance(listed, (list, tuple)) and listed and all(isinstance(one, str) for one in listed):
            return tuple(listed)
        msg = f"{name}={shown(value)} must be a str, a list of them with at least one, or None."
        raise ValueError(msg)
    if not isinstance(value, str):
        msg = f"{name}={shown(value)} must be a str or None."
        raise ValueError(msg)
    choices = {"layout": LAYOUTS, "decimal": DECIMALS}.get(name)
    if choices is not None and value not in choices:
        msg = f"{name}={shown(value)} must be one of {', '.join(map(repr, choices))}."
        raise ValueError(msg)
    if name == "sep":
        value = SEPARATOR_NAMES.get(value, value)
        if len(value) != 1 or not value.isascii() or value.isalnum() or value in NOT_SEPARATORS:
            msg = f"sep={shown(value)} must be one character, such as ';', or 'tab'."
            raise ValueError(msg)
    return value


class _Reader(NamedTuple):
    """How to read a format.

    Attributes
    ----------
    read : callable
        Takes a source and options.
    options : frozenset of str
        The options of `cosep.io.read` that apply to the format.
    streams : bool
        Whether the file may be compressed.
    """

    read: Callable[..., NamedMatrix]
    options: frozenset[str] = frozenset()
    streams: bool = False


def _texts(find: Callable[..., Any], text: TextOptions | None, *options: str) -> _Reader:
    """Return a reader that counts the words of texts."""

    def read_texts(source: InputSource, **chosen: Any) -> NamedMatrix:
        if source.missing is not None:
            source.fail(f"missing={source.missing!r} is for matrices: a word that a text lacks was counted 0 times.")
        return count_texts(source, find(source, **chosen), text)

    return _Reader(read_texts, frozenset(options), streams=True)


def _reader(source: InputSource, text: TextOptions | None) -> _Reader:
    """Return the reader of a format."""
    column = None if text is None else text.column
    table = (
        _Reader(read_table, TABLE_OPTIONS, streams=True)
        if text is None or column is None
        else _texts(
            lambda source, **chosen: read_text_column(source, text, **chosen),
            text,
            *("sep", "decimal", "sheet", "index", "labels"),
        )
    )
    json_lines = _texts(lambda source, **chosen: read_json_lines(source, column, **chosen), text, "index", "labels")
    readers = {
        "/": _texts(read_folder, text),
        ".txt": _texts(read_lines, text),
        ".jsonl": json_lines,
        ".ndjson": json_lines,
        **dict.fromkeys(SEPARATORS, table._replace(options=table.options - {"sheet"})),
        **dict.fromkeys(
            PARQUET_SUFFIXES, table._replace(options=table.options - {"sep", "decimal", "sheet"}, streams=False)
        ),
        **dict.fromkeys(EXCEL_SUFFIXES, table._replace(options=table.options - {"sep", "decimal"}, streams=False)),
        ".mtx": _Reader(read_matrix_market, streams=True),
        ".npy": _Reader(read_npy),
        ".npz": _Reader(read_npz, frozenset({"variable"})),
        ".mat": _Reader(read_matlab, frozenset({"variable", "labels"})),
        ".h5ad": _Reader(read_h5ad, frozenset({"layer", "labels"})),
    }
    if source.suffix not in readers:
        known = ", ".join(sorted(readers.keys() - {"/"}))
        source.fail(f"the suffix {shown(source.suffix)} is not a known format; expected one of {known}, or pass kind=.")
    if source.compression and not readers[source.suffix].streams:
        source.fail(f"{source.suffix} cannot be read if compressed by {source.compression}; decompress it first.")
    return readers[source.suffix]
