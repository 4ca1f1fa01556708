"""Compare all results of two checkouts, side by side: ``python -m benchmarks.same_answers OLD NEW [--part planted]``.

Each checkout fits every method to the same matrices, in a process of its own that imports ``cosep`` from the folder
``src`` of that checkout. Selected indices, labels and other integers must be equal, and in the same order; the entries
of a floating-point array may differ by at most 1e-10 times its largest entry. An error must have the same type, and
warnings the same categories. No earlier result is stored or read.

The script prints one line per value that differs, and a table with the number of values compared, the seconds of the
old checkout, and the time and peak memory of the new one as a multiple of the old. The exit code is 1 if any value
differs that the list `INTENDED` does not name, or if nothing was compared.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from benchmarks.data import DOCUMENTS, TABLES, load
from benchmarks.harness import THREADS
from cosep import make_coseparable

TOLERANCE = 1e-10
# Dimensionless numbers of order 1 or less, found as differences: they are compared absolutely.
ABSOLUTE = ("gap", "*.gap", "gap_", "*fidelity*", "*relative_error*", "score", "*.loss", "*.runner_up_loss")
# Attributes of block fits that were renamed: old prefix, new prefix.
RENAMED = {"factorization_.": "sample_factorization_.", "large_fit_.": "result_."}
# A case is listed as slower or larger if it takes this factor more, plus some seconds or megabytes.
MUCH_MORE, LITTLE_TIME, LITTLE_MEMORY = 1.25, 0.1, 10.0
GROUPS = ("methods", "blocks", "slow methods", "assess", "theory", "dask")
# Slow methods, and functions that fit many times, run on data with at most this many rows.
SMALL, SMALLEST = 450, 250


Array = NDArray[Any]
Arrays = dict[str, Array]


class Notes(NamedTuple):
    """What the summary adds.

    Attributes
    ----------
    unmatched : set of str
        Values that one checkout lacks.
    raised : list of str
        Cases in which both checkouts raise the same type of error.
    slower, larger : list of str
        Cases that take much more time or memory in the new checkout.
    """

    unmatched: set[str]
    raised: list[str]
    slower: list[str]
    larger: list[str]


class Intended(NamedTuple):
    """A difference that a change was meant to make: patterns of case and value, the new tolerance, and the reason."""

    case: str
    value: str
    tolerance: float
    reason: str


# Of the change that this is used for; empty if it must not change any result.
INTENDED: tuple[Intended, ...] = ()


class Problem(NamedTuple):
    """A matrix, how many rows and columns to select, and which groups of cases to run."""

    X: Any
    r: int
    groups: tuple[str, ...]


class Tally(NamedTuple):
    """The result of one matrix: numbers of cases, values and differences; time and memory of both checkouts."""

    name: str
    cases: int
    values: int
    intended: int
    different: int
    seconds: tuple[float, float]
    megabytes: tuple[float, float]


def planted(m: int, n: int, r: int, noise: float = 0.1, kind: str = "dense") -> Problem:
    """Return a planted matrix of one of several kinds."""
    X = make_coseparable(m, n, r, r, noise=noise, random_state=1)[0]
    if kind == "zeros":
        X[::9], X[:, 3::7] = 0.0, 0.0
    if kind == "sparse":
        X = scipy.sparse.csr_array(np.random.default_rng(0).poisson(0.3 * X).astype(float))
    if kind == "float32":
        X = X.astype(np.float32)
    if kind == "small":
        X *= 1e-40
    return Problem(X, r, GROUPS[:-1] if kind == "sparse" else GROUPS)


def published(name: str) -> Problem:
    """Return a data set of the other benchmarks."""
    problem = load(name)
    return Problem(problem.X, problem.r, groups_for(problem.X))


def groups_for(X: Any) -> tuple[str, ...]:
    """Return the groups of cases for real data."""
    return GROUPS[: 2 + (X.shape[0] <= SMALL) + (X.shape[0] <= SMALLEST)]


PARTS: dict[str, dict[str, Callable[[], Problem]]] = {
    "planted": {
        "exact 60 x 40": partial(planted, 60, 40, 4, 0.0),
        "noisy 120 x 80": partial(planted, 120, 80, 6, 0.2),
        "more columns 40 x 200": partial(planted, 40, 200, 5),
        "zero rows and columns 90 x 60": partial(planted, 90, 60, 5, kind="zeros"),
        "float32 120 x 80": partial(planted, 120, 80, 6, kind="float32"),
        "small units 60 x 40": partial(planted, 60, 40, 4, kind="small"),
        "sparse counts 400 x 150": partial(planted, 400, 150, 6, 0.0, kind="sparse"),
    },
    "tables": {name: partial(published, name) for name in TABLES},
    "digits": {"digits": partial(published, "digits")},
    "faces": {"faces": partial(published, "faces")},
    "documents": {name: partial(published, name) for name in DOCUMENTS if name != "sports"},
}


def answers(checkout: Path, problem: Problem, folder: Path) -> dict[str, Any]:
    """Run the cases of a problem in one checkout; return the record of each case."""
    folder.mkdir()
    sparse = scipy.sparse.issparse(problem.X)
    matrix = folder / ("matrix.npz" if sparse else "matrix.npy")
    if sparse:
        scipy.sparse.save_npz(matrix, problem.X)
    else:
        np.save(matrix, problem.X)
    source = checkout.resolve() / "src"
    job = {
        "source": str(source),
        "matrix": str(matrix),
        "sparse": sparse,
        "r": problem.r,
        "groups": problem.groups,
    }
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    environment = os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": str(source)}
    worker = Path(__file__).with_name("same_answers_worker.py")
    command = [sys.executable, "-P", str(worker), str(folder / "job.json"), str(folder)]
    subprocess.run(command, env=environment, cwd=folder, check=True)  # noqa: S603 - our own script
    records: dict[str, Any] = json.loads((folder / "records.json").read_text(encoding="utf-8"))
    return records


def compare(name: str, problem: Problem, old_checkout: Path, new_checkout: Path, notes: Notes) -> Tally:
    """Compare the results of two checkouts on one matrix, and print what differs."""
    values = intended = different = 0
    with TemporaryDirectory() as temporary:
        folders = Path(temporary, "old"), Path(temporary, "new")
        old = answers(old_checkout, problem, folders[0])
        new = answers(new_checkout, problem, folders[1])
        for case, record in old.items():
            if record["error"] != new[case]["error"]:
                print(f"{name}: {case}: error {record['error']} -> {new[case]['error']}", flush=True)
                different += 1
                continue
            if record["error"]:
                notes.raised.append(f"{name}: {case}: {record['error']}")
            note_costs(f"{name}: {case}", record, new[case], notes)
            with np.load(folders[0] / record["file"]) as one, np.load(folders[1] / new[case]["file"]) as other:
                pairs, unmatched = matched(dict(one), dict(other))
            notes.unmatched.update(unmatched)
            values += len(pairs)
            for value, gap in gaps(pairs):
                why = reason(case, value, gap)
                intended, different = intended + (why is not None), different + (why is None)
                print(f"{name}: {case}: {value} differs by {gap:.1e}{f' (intended: {why})' if why else ''}", flush=True)
    seconds, megabytes = (
        (sum(record[what] for record in old.values()), sum(record[what] for record in new.values()))
        for what in ("seconds", "megabytes")
    )
    return Tally(name, len(old), values, intended, different, seconds, megabytes)


def note_costs(case: str, old: dict[str, Any], new: dict[str, Any], notes: Notes) -> None:
    """Note a case that takes much more time or memory than before."""
    if new["seconds"] > MUCH_MORE * old["seconds"] + LITTLE_TIME:
        notes.slower.append(f"{case}: {old['seconds']:.2f} -> {new['seconds']:.2f} s")
    if new["megabytes"] > MUCH_MORE * old["megabytes"] + LITTLE_MEMORY:
        notes.larger.append(f"{case}: {old['megabytes']:.0f} -> {new['megabytes']:.0f} MB")


def matched(old: Arrays, new: Arrays) -> tuple[dict[str, tuple[Array, Array]], set[str]]:
    """Return the values that both have, also under a new name, and the names that only one has."""
    pairs = {}
    for name, before in old.items():
        names = [name, *(to + name.removeprefix(of) for of, to in RENAMED.items() if name.startswith(of))]
        found = next((one for one in names if one in new), None)
        if found is not None:
            pairs[name] = before, new.pop(found)
    return pairs, {f"{attribute(name)} (old)" for name in old if name not in pairs} | {
        f"{attribute(name)} (new)" for name in new
    }


def attribute(name: str) -> str:
    """Return the first two parts of a dotted name."""
    return ".".join(name.split(".")[:2])


def gaps(pairs: dict[str, tuple[Array, Array]]) -> Iterator[tuple[str, float]]:
    """Yield the name and the difference of each pair that differs by more than the tolerance."""
    for value, (before, after) in pairs.items():
        gap = distance(before, after, absolute=any(fnmatchcase(value, pattern) for pattern in ABSOLUTE))
        # Results in single precision may differ by one rounding.
        if gap > max(TOLERANCE, np.finfo(before.dtype).eps if before.dtype.kind == "f" else 0.0):
            yield value, gap


def distance(old: Array, new: Array, *, absolute: bool) -> float:
    """Return the largest difference of two arrays, relative to the largest entry of both, or infinity."""
    if old.shape != new.shape or old.dtype.kind != new.dtype.kind:
        return np.inf
    if old.dtype.kind != "f":
        return 0.0 if np.array_equal(old, new) else np.inf
    if old.dtype != new.dtype or not np.array_equal(np.isfinite(old), np.isfinite(new)):
        return np.inf
    finite = np.isfinite(old)
    if not np.array_equal(old[~finite], new[~finite], equal_nan=True):
        return np.inf
    before, after = old[finite].astype(float), new[finite].astype(float)
    if not before.size or np.array_equal(before, after):
        return 0.0
    scale = max(float(np.abs(before).max()), float(np.abs(after).max()))
    return float(np.abs(before - after).max()) / (max(scale, 1.0) if absolute else scale)


def reason(case: str, value: str, gap: float) -> str | None:
    """Return why a difference is intended, or None."""
    for one in INTENDED:
        if fnmatchcase(case, one.case) and fnmatchcase(value, one.value) and gap <= one.tolerance:
            return one.reason
    return None


def print_summary(tallies: list[Tally], notes: Notes) -> None:
    """Print a table with one line per matrix, and the notes."""
    line = "{:<32}{:>7}{:>8}{:>10}{:>11}{:>9}{:>7}{:>8}"
    print(line.format("data", "cases", "values", "intended", "different", "seconds", "time", "memory"))
    for tally in tallies:
        ratios = (new / old if old else np.nan for old, new in (tally.seconds, tally.megabytes))
        print(line.format(*tally[:5], f"{tally.seconds[0]:.1f}", *(f"{ratio:.2f}" for ratio in ratios)))
    counts = [(tally.cases, tally.values, tally.intended, tally.different) for tally in tallies]
    print(line.format("all", *np.sum([(0, 0, 0, 0), *counts], axis=0), "", "", ""))
    titles = {
        "Only in one checkout": sorted(notes.unmatched),
        "Raised by both": notes.raised,
        "Slower": notes.slower,
        "More memory": notes.larger,
    }
    for title, lines in titles.items():
        if lines:
            print(f"{title}:", *lines, sep="\n  ")


def main(arguments: list[str] | None = None) -> int:
    """Compare two checkouts; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.same_answers", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("old", type=Path, help="folder of the checkout to compare with")
    parser.add_argument("new", type=Path, help="folder of the checkout to check")
    parser.add_argument("--part", action="append", choices=PARTS, help="compare this part only (may be repeated)")
    parser.add_argument("--set", action="append", dest="sets", help="compare this data set only (may be repeated)")
    options = parser.parse_args(arguments)
    tallies: list[Tally] = []
    notes = Notes(set(), [], [], [])
    for part in options.part or PARTS:
        for name, make in PARTS[part].items():
            if options.sets and name not in options.sets:
                continue
            print(f"... {name}", file=sys.stderr, flush=True)
            try:
                problem = make()
            except (OSError, ValueError) as error:
                print(f"{name}: not compared: {error}")
                continue
            tallies.append(compare(name, problem, options.old, options.new, notes))
    print_summary(tallies, notes)
    return int(not tallies or any(tally.different for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
