"""Plain sentences about a fit: what was found, what is proven, and what to mind."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.findings.record import Findings, Nouns
from cosep.findings.wording import name_or_number, percent, squeezed
from cosep.records.factorization import Factorization
from cosep.records.filled_data import missing_in_core, n_missing_of
from cosep.utils.messages import counted
from cosep.utils.types import Array

# A column with more than this share of all squares outweighs the others, if there are at least this many columns.
MAX_LINE_SHARE, FEWEST_LINES = 0.5, 3
# Rows that are named as examples of those that no topic speaks for.
MOST_EXAMPLES = 3
# Refitting that adds more than this share of the refitted value is worth a warning.
MAX_REFIT_GAIN = 0.5
# How the warning of a selector begins that finds zeros in the core.
DEGENERATE = "The core is degenerate"


def found_sentences(found: Findings) -> tuple[str, ...]:
    """Return what was selected, how much the topics explain, which is the largest, and what none of them speaks for.

    A last sentence names selected rows that are counted in another topic, if there are any.
    """
    nouns, n_cols = found.nouns, len(found.selected_cols)
    largest = max(found.topics, key=lambda topic: topic.size)
    name = squeezed(name_or_number(largest.name, largest.index, nouns.row), 80)
    return (
        (
            f"{len(found.topics):,} of {counted(found.shape[0], nouns.row)} were selected, one for each topic, and "
            f"{n_cols:,} of {counted(found.shape[1], nouns.col)} that mark the topics."
        ),
        f"Together, the topics explain {percent(found.shares['refitted'])} of the matrix{_of_what_is_possible(found)}.",
        (
            f"The largest topic, \u201c{name}\u201d, speaks for {counted(largest.size, nouns.row)}, "
            f"{percent(largest.share)} of all."
        ),
        unassigned_sentence(found),
        *_elsewhere(found),
    )


def _of_what_is_possible(found: Findings) -> str:
    """Return the end of a sentence: the share of what any factors could explain, unless these could explain all."""
    if (found.bound.refitted or 1.0) >= 1.0:
        return ""
    any_topics = counted(min(found.core.shape), "topic")
    return f", which is {share_of_bound(found, 'refitted')} of what any {any_topics} could"


def _elsewhere(found: Findings) -> tuple[str, ...]:
    """Return which selected rows hold more of another topic than of the one that they stand for."""
    noun = found.nouns.row
    away = [topic for k, topic in enumerate(found.topics) if topic.home not in {k, -1}]
    if not away:
        return ()
    hold, names = ("holds", "it") if len(away) == 1 else ("hold", "them")
    named = [f"\u201c{squeezed(name_or_number(one.name, one.index, noun), 60)}\u201d" for one in away[:MOST_EXAMPLES]]
    more = " and others" if len(away) > MOST_EXAMPLES else ""
    which = f"{', '.join(named)}{more}"
    return (f"{counted(len(away), f'selected {noun}')} {hold} more of another topic, which counts {names}: {which}.",)


def unassigned_sentence(found: Findings) -> str:
    """Return how many rows no topic speaks for, and the names of some."""
    noun, least = found.nouns.row, f"{found.min_explained:.0%}"
    if not found.n_unassigned:
        return f"No {noun} is unassigned: at least {least} of each is explained."
    verb, them = ("is", "it") if found.n_unassigned == 1 else ("are", "each")
    names = [
        f"\u201c{squeezed(name_or_number(one.name, one.index, noun), 60)}\u201d"
        for one in found.unassigned[:MOST_EXAMPLES]
    ]
    return (
        f"{counted(found.n_unassigned, noun)} ({percent(found.n_unassigned / found.shape[0])} of all) {verb} "
        f"unassigned, because less than {least} of {them} is explained; for example {', '.join(names)}."
    )


def fidelity_sentence(found: Findings) -> str:
    """Return what the selected rows, the selected columns and the core explain without refitting."""
    n_rows, n_cols, nouns = len(found.topics), len(found.selected_cols), found.nouns
    size = f"{n_rows}\u00a0x\u00a0{n_cols}"
    by = {part: percent(share) for part, share in found.shares.items()}
    of = {part: share_of_bound(found, part) for part in by}
    return (
        f"With refitted weights, the {size} core where they meet explains {by['refitted']}. Without refitting, the "
        f"selected {nouns.rows} alone explain {by['rows']} ({of['rows']} of what is possible), the selected "
        f"{nouns.cols} alone {by['cols']} ({of['cols']}), and the core {by['core']} ({of['core']})."
    )


def share_of_bound(found: Findings, part: str) -> str:
    """Return what rows, columns, core or refitted factors explain, as a share of what is possible."""
    bound = getattr(found.bound, part) or 0.0
    share = max(found.shares[part], 0.0)
    return percent(min(share / bound, 1.0) if bound > 0 else 0.0)


NORMS = {
    None: "in the plain norm, in which large entries count most",
    "plain": "in the plain norm with weights of {rows}, in which large entries count most",
    "degree": "in a norm in which {rows} and {cols} with large sums do not outweigh the others",
    "rows": "in a norm in which all {rows} have the same sum",
    "columns": "in a norm in which all {cols} have the same sum",
    "sinkhorn": "in a norm in which all {rows} have the same sum, and all {cols}",
    "given": "in a norm with given factors of {rows} and {cols}",
}


def norm_sentence(found: Findings) -> str:
    """Return the norm that shares are measured in, and what the model explains in the plain norm."""
    name = "none" if found.scaling is None else found.scaling
    norm = NORMS.get(found.scaling, "in the norm of the model")
    sentence = f"A share is that of the sum of squares, {norm.format(rows=found.nouns.rows, cols=found.nouns.cols)}"
    if found.scaling is None:
        return f"{sentence} (scaling: {name})."
    return (
        f"{sentence} (scaling: {name}). In the plain norm, the refitted factors explain "
        f"{percent(found.plain_fidelity.refitted)}."
    )


def certificate_sentences(factorization: Factorization) -> tuple[str, ...]:
    """Return what is proven about the selection, and what is known about the core."""
    selection, core = factorization.selection, factorization.diagnose_core()
    gap, rounds = (None, None) if selection is None else (selection.gap, selection.n_iter)
    after = "" if rounds is None else f" It was found in {counted(rounds, 'round')}."
    proof = (
        "The method that selected them does not prove how good the selection is: a better one of this size may "
        f"exist.{after} The shares above are measured on the data and hold for every method."
        if gap is None
        else f"The convex model behind the selection was solved to a relative duality gap of {gap:.1e}: no solution of "
        f"that model is better by more than this share of its value.{after}"
    )
    condition = "is singular" if not np.isfinite(core.condition) else f"has condition number {core.condition:.3g}"
    return proof, (
        f"The core has {core.nonzeros:,} nonzero entries. With its rows and columns scaled to norm one, it {condition}."
    )


class LargestLine(NamedTuple):
    """The row or column with the largest share of the squares of the matrix.

    Attributes
    ----------
    kind : str
        "row" or "column".
    position : int
        Its position.
    n_lines : int
        The number of rows or columns.
    share, norm_share : float
        Its share of the squares in the plain norm, and in the norm of the model.
    """

    kind: str
    position: int
    n_lines: int
    share: float
    norm_share: float


def largest_line(kind: str, squares: Array, norm_squares: Array) -> LargestLine:
    """Return the row or column with the largest of these squares, and what the norm of the model makes of it."""
    j = int(np.argmax(squares))
    total, norm_total = float(squares.sum()), float(norm_squares.sum())
    parts = (squares[j] / total if total > 0 else 0.0, norm_squares[j] / norm_total if norm_total > 0 else 0.0)
    return LargestLine(kind, j, len(squares), *map(float, parts))


def unit_sentence(line: LargestLine, name: str, scaling: str | None, nouns: Nouns) -> str:
    """Return that a row or column holds most of the squares, and what the norm does about it; "" if it does not."""
    if line.n_lines < FEWEST_LINES or line.share <= MAX_LINE_SHARE:
        return ""
    of_cols = line.kind == "column"
    kind, other = (nouns.col, nouns.cols) if of_cols else (nouns.row, nouns.rows)
    rule = "columns" if of_cols else "rows"
    what = (
        f"{kind.capitalize()} \u201c{squeezed(name_or_number(name, line.position, kind), 80)}\u201d holds "
        f"{percent(line.share)} of the squares of the matrix, as happens where {other} have different units"
    )
    if scaling is None:
        return f"{what}; the plain norm leaves that as it is, and scaling {rule!r} gives all {other} the same sum."
    after = f"the norm of the model (scaling: {scaling}) leaves it {percent(line.norm_share)} of them"
    if line.norm_share <= MAX_LINE_SHARE or scaling == rule:
        return f"{what}; {after}."
    return f"{what}; {after}, and scaling {rule!r} gives all {other} the same sum."


def missing_sentences(factorization: Factorization) -> tuple[str, ...]:
    """Return how many entries were missing, what that means for the shares, and which are in the core; () if none."""
    n_missing, (m, n) = n_missing_of(factorization), factorization.shape
    if not n_missing:
        return ()
    share = percent(n_missing / (m * n))
    count = (
        f"{counted(n_missing, 'entry')} of {m * n:,} ({share}) were missing. Shares are those of the observed entries; "
        "figures, the path and reasons see the others as the model fills them. What no selection could exceed is not "
        "known then, and taken as 100%."
    )
    sentences = [count]
    in_core, selection = missing_in_core(factorization), factorization.selection
    if in_core and selection is not None:
        rows, cols = np.asarray(selection.row_indices), np.asarray(selection.col_indices)
        of_rows, of_cols = factorization.row_names, factorization.col_names
        some = ", ".join(
            f"\u201c{_short(of_rows, rows[k], 'row')}\u201d at \u201c{_short(of_cols, cols[l], 'column')}\u201d"
            for k, l in in_core[:MOST_EXAMPLES]
        )
        more = ", ..." if len(in_core) > MOST_EXAMPLES else ""
        number = f"{counted(len(in_core), 'entry')} of the core {'was' if len(in_core) == 1 else 'were'}"
        sentences.append(f"{number} missing and filled before the selection: {some}{more}.")
    return tuple(sentences)


def _short(names: NDArray[Any] | None, position: int, kind: str) -> str:
    name = "" if names is None else str(names[position])
    return squeezed(name_or_number(name, int(position), kind), 60)


def warning_sentences(
    factorization: Factorization, shares: Mapping[str, float], nouns: Nouns, units: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return what to mind before the result is used: warnings that the factorization stores, and those of its core.

    ``units`` are sentences about rows and columns that outweigh the others.
    """
    stored = factorization.meta.get("warnings")
    core = factorization.diagnose_core()
    # Of zeros in the core, the sentence below says the same in the words of the data.
    kept = [*map(str, stored)] if isinstance(stored, (list, tuple)) else []
    sentences = [one for one in kept if not one.startswith(DEGENERATE)]
    sentences += [*missing_sentences(factorization), *filter(None, units)]
    if core.permuted_diagonal:
        sentences.append(
            "Each selected row meets exactly one selected column. Weights refitted to such a core are those of plain "
            "NMF, whatever was selected: trust the shares of rows and columns alone more than the refitted one."
        )
    for number, kind, others in ((core.zero_rows, nouns.row, nouns.cols), (core.zero_cols, nouns.col, nouns.rows)):
        if number:
            verb, it = ("is", "It explains") if number == 1 else ("are", "They explain")
            sentences.append(
                f"{counted(number, f'selected {kind}')} {verb} zero in all selected {others}. {it} nothing in the "
                "model: ask for fewer, or use another scaling or method."
            )
    if min(shares.values()) < 0:
        sentences.append("A negative share means that the product is further from the matrix than zeros would be.")
    if shares["refitted"] - shares["core"] > MAX_REFIT_GAIN * shares["refitted"]:
        sentences.append(
            "Refitting the weights adds more than what the selection explains on its own: read the refitted share with "
            "care."
        )
    return tuple(dict.fromkeys(map(str, sentences)))
