"""The file format of a Factorization: named arrays and a JSON header. Nothing in a file is executed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.norm import COPIES, Scaling
from cosep.records.archive import array_headers, is_unicode, read_arrays
from cosep.records.panel_moments import MOMENTS, PanelMoments
from cosep.records.selection import Selection
from cosep.utils.memory import memory_problem
from cosep.utils.messages import one_line

FORMAT = "cosep-factorization"
FORMAT_VERSION = 1

_SIDES = ("factor", "weights", "labels", "names")
OTHER_SIDE = {f"{a}_{part}": f"{b}_{part}" for part in _SIDES for a, b in (("row", "col"), ("col", "row"))}
ARRAYS = ("core", *OTHER_SIDE)
PANEL = tuple(f"panel_{name}" for name in MOMENTS)
STORED = (*ARRAYS, "row_indices", "col_indices", "scaling_rows", "scaling_cols", *COPIES, *PANEL, "header")

# Parsed JSON can take this many times the bytes of its text, at four bytes per character.
JSON_GROWTH = 16


def read_checked(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file; raise ValueError if one is unknown or they would not fit into memory."""
    if path.exists() and not path.is_file():
        msg = "it is not a regular file"
        raise ValueError(msg)
    headers = array_headers(path, STORED)
    sizes = {name: header.n_bytes_used for name, header in headers.items()}
    sizes["header"] = JSON_GROWTH * sizes.get("header", 0)
    if problem := memory_problem(sum(sizes.values()), path.stat().st_size, "it"):
        raise ValueError(problem)
    return read_arrays(path, headers)


def pack(parts: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the parts of a factorization as named arrays of plain types."""
    arrays = {name: part for name in ARRAYS if (part := parts[name]) is not None}
    for name in ("row_names", "col_names"):
        if name in arrays:
            arrays[name] = arrays[name].astype(np.str_)
            if not is_unicode(arrays[name]):
                msg = f"{name} contain text that is not valid Unicode, such as half of a surrogate pair; rename them."
                raise ValueError(msg)
    header: dict[str, Any] = {"format": FORMAT, "version": FORMAT_VERSION, "meta": dict(parts["meta"])}
    header |= _pack_panel(arrays, parts["panel"])
    if (selection := parts["selection"]) is not None:
        header["selection"] = {"gap": selection.gap, "n_iter": selection.n_iter, "history": selection.history}
        for name in ("row_indices", "col_indices"):
            if (part := getattr(selection, name)) is not None:
                arrays[name] = part
    if (scaling := parts["scaling"]) is not None:
        header["scaling"] = scaling.name
        arrays |= {"scaling_rows": scaling.rows, "scaling_cols": scaling.cols}
        arrays |= {name: copies for name in COPIES if (copies := getattr(scaling, name)) is not None}
    try:
        text = json.dumps(header)
        json.dumps(header, ensure_ascii=False).encode()  # raises where text is not valid Unicode
        kept = json.loads(text)["meta"] == header["meta"]
    except (TypeError, ValueError, RecursionError) as error:
        reason = one_line(error, 150)
        msg = f"meta and history must contain only what JSON can store ({reason}); convert the rest to text or numbers."
        raise ValueError(msg) from error
    if not kept:
        msg = "meta must contain only what JSON returns unchanged: text as keys, lists instead of tuples."
        raise ValueError(msg)
    arrays["header"] = np.asarray(text)
    return arrays


def _pack_panel(arrays: dict[str, NDArray[Any]], panel: PanelMoments | None) -> dict[str, Any]:
    """Add the arrays of the moments of the columns, and return their part of the header."""
    if panel is None:
        return {}
    arrays |= {f"panel_{name}": getattr(panel, name) for name in MOMENTS}
    return {"panel": panel.n_counted}


def as_tuples(entries: list[Any]) -> tuple[Any, ...]:
    """Return lists, and lists within them, as tuples: JSON stores tuples as lists."""
    return tuple(as_tuples(entry) if isinstance(entry, list) else entry for entry in entries)


def unpack(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the parts that `pack` was called with; raise an error if something is missing or wrong."""
    header = json.loads(str(arrays.pop("header")))
    json.dumps(header, ensure_ascii=False).encode()  # raises where text is not valid Unicode
    if header["format"] != FORMAT:
        msg = f"format {header['format']!r} instead of {FORMAT!r}"
        raise ValueError(msg)
    if header["version"] is True or header["version"] != FORMAT_VERSION:
        msg = f"format version {header['version']!r}, while this cosep reads {FORMAT_VERSION}"
        raise ValueError(msg)
    parts: dict[str, Any] = {name: arrays.pop(name) for name in ARRAYS if name in arrays}
    for name, part in parts.items():
        if name.endswith(("factor", "core", "weights")) and part.dtype not in (np.float32, np.float64):
            msg = f"{name} has type {part.dtype}"
            raise ValueError(msg)
    if "selection" in header:
        stored = header["selection"]
        if not isinstance(stored["history"], list):
            msg = "history is not a list"
            raise ValueError(msg)
        history = as_tuples(stored["history"])
        indices = arrays.pop("row_indices", None), arrays.pop("col_indices", None)
        parts["selection"] = Selection(*indices, stored["gap"], stored["n_iter"], history)
    if "scaling" in header:
        factors = arrays.pop("scaling_rows"), arrays.pop("scaling_cols")
        parts["scaling"] = Scaling(header["scaling"], *factors, *(arrays.pop(name, None) for name in COPIES))
    if "panel" in header:
        parts["panel"] = PanelMoments(header["panel"], **{name: arrays.pop(f"panel_{name}") for name in MOMENTS})
    if arrays:
        msg = f"unknown arrays {sorted(arrays)}"
        raise ValueError(msg)
    return {"core": None, **parts, "meta": header["meta"]}
