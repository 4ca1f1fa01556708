"""A factorization, its matrix and what is known of both enter; all that the page says leaves, as a JSON-able record."""

import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

import cosep
from cosep.assess.rank import RANK_COLUMNS
from cosep.findings.cards import Record, check_same, topic_cards
from cosep.findings.topics import Topics, topics_of
from cosep.findings.wording import Names, count, excerpt, name_of, percent, quantity, readable, squeezed
from cosep.matrix.checks import check_nonzero, check_number, check_positive, check_record
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.utils.columns import check_column, check_table, flat
from cosep.utils.messages import shown
from cosep.utils.types import Indices

# How much of everything a page shows.
WORST = 8
LONGEST_COMMAND = 4000
# A core with more rows or columns is drawn, but not printed as a table.
MOST_TABULATED = 30
# Versions of which packages decide on the result.
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def gather(
    factorization: Factorization,
    X: Any,
    *,
    explanation: Any = None,
    stability: Any = None,
    rank: Any = None,
    texts: Sequence[str] | None = None,
    command: str | None = None,
) -> Record:
    """Return all that the page says; a part that was not computed is None."""
    topics = topics_of(factorization)
    M = as_matrix(X)
    fidelity = factorization.fidelity(M)
    check_nonzero(M)
    for name, record, fields in (
        ("explanation", explanation, ("rows", "row_errors", "col_errors")),
        ("stability", stability, ("rows", "cols", "n_draws", "share")),
        ("rank", rank, ("n_rows", "n_cols", "reason", "table")),
    ):
        if record is not None:
            check_record(record, name, fields)
    texts = _checked_texts(texts, M.shape[0])
    if command is not None and not isinstance(command, str):
        msg = f"command={shown(command)} must be the text of the command that made the report, or None."
        raise ValueError(msg)
    explained = {
        "rows": fidelity.rows,
        "cols": fidelity.cols,
        "core": fidelity.core,
        "refitted": 1.0 - factorization.relative_error(M),
    }
    labels, parts = topics.speakers(M)
    sizes = np.bincount(labels[labels >= 0], minlength=len(topics.rows))
    cards = topic_cards(factorization, topics, M, (labels, parts), explanation, texts)
    shape = _shape(M)
    return {
        "shape": shape,
        "explained": explained,
        "selected": {
            "rows": _selected(topics.rows, factorization.row_names, "row"),
            "cols": _selected(topics.cols, factorization.col_names, "column"),
        },
        "note": _note(factorization),
        "summary": _summary(shape, explained, topics, sizes, factorization.row_names),
        "core": _core_table(factorization, topics),
        "topics": cards,
        "unspoken": int((labels < 0).sum()),
        "errors": None if explanation is None else _errors(explanation, factorization),
        "certificate": _certificate(factorization, explained),
        "stability": None if stability is None else _stability(stability, factorization, topics),
        "rank": None if rank is None else _rank(rank),
        "reproduce": {
            "command": None if command is None else excerpt(command, LONGEST_COMMAND),
            "python": f"CoSeparableNMF(n_rows={len(topics.rows)}, n_cols={len(topics.cols)}).fit(X)",
            "versions": {"cosep": cosep.__version__, "Python": platform.python_version()}
            | {package: version(package) for package in PACKAGES},
            "settings": _settings(factorization),
        },
    }


def _shape(M: LocalMatrix) -> Record:
    m, n = M.shape
    nonzeros = M.count_nonzero()
    return {"rows": m, "cols": n, "nonzeros": nonzeros, "filled": nonzeros / (m * n)}


def _selected(indices: Any, names: Names, kind: str) -> list[Record]:
    return [{"index": int(i), "name": name_of(names, int(i), kind)} for i in indices]


def _summary(shape: Record, explained: Record, topics: Topics, sizes: Indices, row_names: Names) -> list[str]:
    """Return what was found, in a paragraph of plain sentences."""
    largest = int(sizes.argmax())
    name = name_of(row_names, int(topics.rows[largest]), "row")
    all_rows, all_cols = count(shape["rows"], "row"), count(shape["cols"], "column")
    rows, cols = count(len(topics.rows), "row"), count(len(topics.cols), "column")
    by = {part: percent(share) for part, share in explained.items()}
    size = f"{len(topics.rows)}\u00a0\u00d7\u00a0{len(topics.cols)}"
    return [
        f"Of {all_rows} and {all_cols}, {rows} and {cols} were selected to stand for the rest.",
        (
            f"Mixed with nonnegative weights, the selected rows alone explain {by['rows']} of the matrix, the selected "
            f"columns alone {by['cols']}, and the {size} core where they cross {by['core']}; with weights refitted to "
            f"the core it is {by['refitted']}."
        ),
        (
            f"Each selected row is a topic. The largest, \u201c{squeezed(name, 80)}\u201d, speaks for "
            f"{count(int(sizes[largest]), 'row')}, {percent(sizes[largest] / shape['rows'])} of all."
        ),
    ]


def _note(factorization: Factorization) -> str | None:
    """Return what must be known before anything else, such as that the rows are a sample."""
    note = factorization.meta.get("note")
    return readable(note, 600) if isinstance(note, str) else None


def _core_table(factorization: Factorization, topics: Topics) -> Record | None:
    """Return the core in the order of its picture, unless it is too large to be read as a table."""
    if max(topics.core.shape) > MOST_TABULATED:
        return None
    order = topics.col_order
    return {
        "rows": [name_of(factorization.row_names, int(i), "row") for i in topics.rows],
        "cols": [name_of(factorization.col_names, int(j), "column") for j in topics.cols[order]],
        "values": [[quantity(value) for value in row] for row in topics.core[:, order].tolist()],
    }


def _errors(explanation: Any, factorization: Factorization) -> Record:
    """Return how well rows and columns are explained, and which of them worst."""
    m, n = factorization.shape
    return {
        "rows": _side_errors(explanation.row_errors, m, factorization.row_names, "row"),
        "cols": _side_errors(explanation.col_errors, n, factorization.col_names, "column"),
    }


def _side_errors(values: Any, size: int, names: Names, kind: str) -> Record:
    errors = check_column(values, f"explanation.{'row' if kind == 'row' else 'col'}_errors")
    if len(errors) != size:
        msg = f"explanation has errors of {len(errors)} {kind}s, but the factorization is that of {size}; explain it."
        raise ValueError(msg)
    known = np.flatnonzero(np.isfinite(errors))
    worst = known[np.argsort(-errors[known], kind="stable")[:WORST]]
    return {
        "median": float(np.median(errors[known])) if len(known) else None,
        "n_zero": int(size - len(known)),
        "worst": [{"name": name_of(names, int(i), kind), "error": float(errors[i])} for i in worst],
    }


def _certificate(factorization: Factorization, explained: Record) -> list[str]:
    """Return what is proven about the selection, and what is not, in plain sentences."""
    selection, core = factorization.selection, factorization.diagnose_core()
    gap, rounds = (None, None) if selection is None else (selection.gap, selection.n_iter)
    after = "" if rounds is None else f" It was found in {count(rounds, 'round')}."
    proof = (
        f"The method that chose them proves no gap: a better selection of this size may exist.{after} The shares above "
        "are measured on the data and hold whatever the method."
        if gap is None
        else f"The convex model behind the selection was solved to a relative duality gap of {gap:.1e}: no solution of "
        f"that model is better by more than this share of its value.{after}"
    )
    told = factorization.meta.get("warnings", ())
    sentences = [proof, *(readable(one, 600) for one in (told if isinstance(told, (list, tuple)) else ()))]
    if core.permuted_diagonal:
        sentences.append(
            "Each selected row meets exactly one selected column. Weights refitted to such a core are those of plain "
            "NMF, whatever was selected: trust the shares of rows and columns alone more than the refitted one."
        )
    lost = [count(number, kind) for number, kind in ((core.zero_rows, "row"), (core.zero_cols, "column")) if number]
    if lost:
        sentences.append(f"All-zero in the core, for they meet none of the others' selection: {' and '.join(lost)}.")
    condition = "singular" if not np.isfinite(core.condition) else f"of condition {core.condition:.3g}"
    sentences.append(
        f"The core has {core.nonzeros:,} nonzero entries and is {condition}, with its rows and columns brought to "
        "length one."
    )
    if min(explained.values()) < 0:
        sentences.append("A negative share says that the product is further from the matrix than zeros would be.")
    if explained["refitted"] - explained["core"] > 0.5 * explained["refitted"]:
        sentences.append(
            "Refitting the weights adds more than what the selection explains on its own: read the refitted share with "
            "care."
        )
    return sentences


def _stability(stability: Any, factorization: Factorization, topics: Topics) -> Record:
    """Return how often the selected rows and columns came back, and which of them least."""
    sides: Record = {
        "n_draws": check_positive(stability.n_draws, "stability.n_draws"),
        "share": check_number(stability.share, "stability.share", 0, 1),
    }
    for side, kind, chosen, names in (
        ("rows", "row", topics.rows, factorization.row_names),
        ("cols", "column", topics.cols, factorization.col_names),
    ):
        columns = {"index": 0, "frequency": None, "similarity": None}
        index, frequency, similarity = check_table(getattr(stability, side), f"stability.{side}", columns).values()
        check_same(index, chosen, "stability")
        drawn = np.flatnonzero(np.isfinite(frequency))
        if drawn.size == 0:
            sides[side] = None
            continue
        least = drawn[frequency[drawn].argmin()]
        sides[side] = {
            "frequency": float(frequency[drawn].mean()),
            "similarity": float(similarity[drawn].mean()),
            "least": squeezed(name_of(names, int(chosen[least]), kind), 80),
            "least_frequency": float(frequency[least]),
        }
    return sides


def _rank(rank: Any) -> Record:
    table = check_table(rank.table, "rank.table", RANK_COLUMNS)
    n_rows, n_cols = (check_positive(getattr(rank, one), f"rank.{one}") for one in ("n_rows", "n_cols"))
    if not isinstance(rank.reason, str):
        msg = f"rank.reason={shown(rank.reason)} must be text."
        raise ValueError(msg)
    return {
        "n_rows": n_rows,
        "n_cols": n_cols,
        "reason": readable(rank.reason, 1000),
        "table": [
            {
                "n_rows": int(r),
                "n_cols": int(c),
                "error": quantity(e),
                "error_se": quantity(s),
                "stability": quantity(t),
                "best": (int(r), int(c)) == (n_rows, n_cols),
            }
            for r, c, e, s, t in zip(*(table[name].tolist() for name in RANK_COLUMNS), strict=True)
        ],
    }


def _settings(factorization: Factorization) -> dict[str, str]:
    """Return what the factorization remembers of how it was made, as far as it is short."""
    kept = {
        readable(name, 60): readable(value, 200)
        for name, value in factorization.meta.items()
        if isinstance(value, (str, int, float)) and name not in {"command", "note"}
    }
    return kept | ({} if factorization.scaling is None else {"scaling": factorization.scaling.name})


def _checked_texts(texts: Any, m: int) -> list[str] | None:
    """Return the text of every row, or None."""
    if texts is None:
        return None
    kept = flat(texts)
    if kept is None or len(kept) != m or not all(isinstance(text, str) for text in kept):
        msg = f"texts must be one text for each of the {m} rows, got {shown(texts)}."
        raise ValueError(msg)
    return [str(text) for text in kept]
