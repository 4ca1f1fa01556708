"""Inputs and complete answers of the `cosep` command, and checks of every run."""

import hashlib
import re
import shutil
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse

from cosep import make_coseparable
from cosep.io import write_blocks
from fuzz.corpus import TEXTS
from fuzz.outcomes import CRASH, HANG, UNCLEAR_ERROR, WRONG_ANSWER, WRONG_EXCEPTION, CaseEnded, message_problem
from fuzz.processes import Outcome, Run, finish, start

# Time limit of a run on a busy machine; a fork takes less than a second, a new interpreter a few.
SECONDS = 150.0
# Exit codes of success, bad input, Ctrl-C and SIGTERM.
EXIT_CODES = {0, 2, 130, 143}
SIDE_INPUTS = ("labels.txt", "weights.txt", "weights.csv", "zeros.txt")
INPUTS = ("a.csv", "b.csv", "x.npy", "x.npz", "x.txt", "x.zarr", "parts", *SIDE_INPUTS)
# Parts of the output that differ between two runs of the same command.
CHANGING_PARTS = re.compile(rb'"seconds": [\d.]+|\d\d\d\d-\d\d-\d\d|\d\d:\d\d(:\d\d)?')
FILES = ("model.npz", "rows.csv", "rows.zarr", "columns.csv", "core.csv", "summary.json", "report.html")
Answer = dict[str, str]


@dataclass
class Shared:
    """What all cases share: inputs, complete answers, and the number of calls and seconds of a run."""

    folder: Path = Path()
    answers: dict[str, Answer] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    seconds: float = 1.0


SHARED = Shared()


def write_inputs(folder: Path) -> None:
    """Write small inputs of several kinds."""
    for k, name in enumerate(("a", "b")):
        X = make_coseparable(14, 9, 2, 2, noise=0.1, random_state=k)[0]
        lines = [f"{name}{i}," + ",".join(map(str, line)) for i, line in enumerate(X.round(3).tolist())]
        head = "name," + ",".join(f"c{j}" for j in range(9))
        (folder / f"{name}.csv").write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    np.save(folder / "x.npy", X)
    scipy.sparse.save_npz(folder / "x.npz", scipy.sparse.csr_array(X))
    (folder / "x.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    (folder / "labels.txt").write_text("a\nb\n" * 7, encoding="utf-8")
    (folder / "weights.txt").write_text("1\n2\n" * 7, encoding="utf-8")
    (folder / "weights.csv").write_text("name,weight\n" + "".join(f"a{i},{i}\n" for i in range(14)), encoding="utf-8")
    (folder / "zeros.txt").write_text("0\n" * 14, encoding="utf-8")
    write_blocks(folder / "x.zarr", [X[:5], X[5:]])
    (folder / "parts").mkdir()
    for k in range(2):
        np.save(folder / "parts" / f"x{k}.npy", X[7 * k : 7 * k + 7])


def copy_inputs(place: Path, answer: str | None = None) -> None:
    """Copy the inputs, and an earlier answer, to the folder of a case."""
    place.mkdir(exist_ok=True)
    for name in INPUTS:
        source = SHARED.folder / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, place / name)
    if answer is not None:
        shutil.copytree(SHARED.folder / f"out-{answer}", place / "out")


def fit_command(name: str) -> list[str]:
    """Return the arguments of the command that gives one of the answers."""
    source = {"a": "a.csv", "b": "b.csv", "blocks": "x.zarr"}[name]
    return ["fit", source, "--out", "out", "--rows", "2", "--cols", "2", "--no-report", "--quiet"]


def answer_checksums(folder: Path) -> Answer:
    """Return a checksum of each file of an answer, without parts that differ between two runs of the same command."""
    found = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if path.is_file() and path.relative_to(folder).parts[0] in FILES:
            data = path.read_bytes()
            if path.name == "model.npz":
                with np.load(path) as arrays:
                    data = b"".join(name.encode() + arrays[name].tobytes() for name in sorted(arrays))
            found[path.relative_to(folder).as_posix()] = hashlib.sha256(CHANGING_PARTS.sub(b"", data)).hexdigest()
    return found


def checksums(place: Path) -> dict[str, str]:
    """Return a checksum of every input."""
    files = [
        path
        for name in INPUTS
        for path in ([place / name] if (place / name).is_file() else sorted((place / name).rglob("*")))
    ]
    return {
        str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.is_file()
    }


def check_run(ended: Outcome, allowed: Collection[int] = ()) -> None:
    """Check the exit code and the error message."""
    description = f"{ended.argv}: exit code {ended.code}, {ended.err[-300:]!r}"
    if "Traceback (most recent call last)" in ended.err:
        last = ended.err.strip().splitlines()[-1][:80]
        raise CaseEnded(WRONG_EXCEPTION, f"a traceback: {description}", f"traceback {ended.argv[:1]} {last}")
    if ended.code is None:
        raise CaseEnded(HANG, f"no end: {description}", f"hang {ended.argv[:1]}")
    if ended.code not in EXIT_CODES | set(allowed):
        kind = CRASH if ended.code < 0 else WRONG_EXCEPTION
        raise CaseEnded(kind, description, f"exit code {ended.code} of {ended.argv[:1]}")
    if ended.code == 2:
        problem = message_problem(without_usage(ended.err))
        if problem is not None:
            raise CaseEnded(
                UNCLEAR_ERROR, f"{problem}: {description}", f"{re.sub('[0-9]+', 'n', problem)} {ended.argv[:1]}"
            )


def without_usage(err: str) -> str:
    """Return an error message on one line: for wrong options, typer prints the usage and a box."""
    text = err.strip()
    if not text.startswith("Usage:"):
        return text
    inside = [line.strip("│ ") for line in text.splitlines() if line.startswith("│")]
    return " ".join(inside) or text


def check_inputs(place: Path, before: dict[str, str]) -> None:
    """Check that no input has changed."""
    after = checksums(place)
    changed = [name for name in before if after.get(name) != before[name]]
    if changed:
        raise CaseEnded(WRONG_ANSWER, f"inputs changed: {changed[:5]}", "input overwritten")


def check_answer(place: Path, allowed: tuple[str, ...], *, killed: bool = False) -> None:
    """Check that the folder holds one complete answer; after a kill, the next command may repair it first."""
    found = _is_complete(place / "out", allowed)
    if not found and killed:
        check_run(finish(start(Run(["transform", "out", "b.csv", "--out", "t.csv"], place)), SECONDS))
        found = _is_complete(place / "out", allowed)
    if not found:
        raise CaseEnded(WRONG_ANSWER, f"mixed or incomplete: {_answer_of_each_file(place / 'out')}", "mixed answer")


def _is_complete(out: Path, allowed: tuple[str, ...]) -> bool:
    try:
        found = answer_checksums(out)
    except (ValueError, OSError):
        return False
    return any(found == SHARED.answers[name] for name in allowed)


def _answer_of_each_file(out: Path) -> dict[str, str]:
    """Return the answer that each file belongs to."""
    try:
        found = answer_checksums(out)
    except (ValueError, OSError) as error:
        return {"unreadable": str(error)[:100]}
    return {
        file: next((name for name, answer in SHARED.answers.items() if answer.get(file) == held), "no answer")
        for file, held in found.items()
    }


def check_nothing_left(place: Path) -> None:
    """Check that there are no temporary files."""
    known = {*INPUTS, "out", "t.csv", "verdict.txt"}
    left = [path.name for path in place.iterdir() if path.name not in known and not path.name.startswith("kept")]
    out = place / "out"
    left += [f"out/{path.name}" for path in (out.iterdir() if out.is_dir() else []) if path.name not in FILES]
    if left:
        raise CaseEnded(WRONG_ANSWER, f"temporary files are left: {sorted(left)[:5]}", "temporary files left")
