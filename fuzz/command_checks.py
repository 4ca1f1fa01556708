"""Inputs and finished answers of the `cosep` command, and what must hold of every run."""

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
from fuzz.outcomes import CRASH, HANG, UNCLEAR, WRONG_ANSWER, WRONG_EXCEPTION, Found, message_fault
from fuzz.processes import Outcome, Run, finish, start
from fuzz.seeds import TEXTS

# So long a run may take on a busy machine; a fork takes less than one second, a new interpreter some.
SECONDS = 150.0
# What a run may end with besides a signal that it was sent: Ctrl-C and SIGTERM have codes of their own.
CODES = {0, 2, 130, 143}
INPUTS = ("a.csv", "b.csv", "x.npy", "x.npz", "x.txt", "x.zarr", "parts", "labels.txt")
# What differs between two runs of one command.
VOLATILE = re.compile(rb'"seconds": [\d.]+|\d\d\d\d-\d\d-\d\d|\d\d:\d\d(:\d\d)?')
FILES = ("model.npz", "rows.csv", "rows.zarr", "columns.csv", "core.csv", "summary.json", "report.html")
Answer = dict[str, str]


@dataclass
class Shared:
    """What all cases start from: inputs, finished answers, and how many calls and seconds a run takes."""

    folder: Path = Path()
    answers: dict[str, Answer] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    seconds: float = 1.0


SHARED = Shared()


def write_inputs(folder: Path) -> None:
    """Write one small input of each of several kinds."""
    for k, name in enumerate(("a", "b")):
        X = make_coseparable(14, 9, 2, 2, noise=0.1, random_state=k)[0]
        lines = [f"{name}{i}," + ",".join(map(str, line)) for i, line in enumerate(X.round(3).tolist())]
        head = "name," + ",".join(f"c{j}" for j in range(9))
        (folder / f"{name}.csv").write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    np.save(folder / "x.npy", X)
    scipy.sparse.save_npz(folder / "x.npz", scipy.sparse.csr_array(X))
    (folder / "x.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    (folder / "labels.txt").write_text("a\nb\n" * 7, encoding="utf-8")
    write_blocks(folder / "x.zarr", [X[:5], X[5:]])
    (folder / "parts").mkdir()
    for k in range(2):
        np.save(folder / "parts" / f"x{k}.npy", X[7 * k : 7 * k + 7])


def copy_inputs(place: Path, answer: str | None = None) -> None:
    """Give a case inputs of its own, and an earlier answer."""
    place.mkdir(exist_ok=True)
    for name in INPUTS:
        source = SHARED.folder / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, place / name)
    if answer is not None:
        shutil.copytree(SHARED.folder / f"out-{answer}", place / "out")


def fit_of(name: str) -> list[str]:
    """Return the command that gives one of the answers."""
    source = {"a": "a.csv", "b": "b.csv", "blocks": "x.zarr"}[name]
    return ["fit", source, "--out", "out", "--rows", "2", "--cols", "2", "--no-report", "--quiet"]


def answer_in(folder: Path) -> Answer:
    """Return the files of an answer and a checksum of each, without what differs between two runs of one command."""
    found = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if path.is_file() and path.relative_to(folder).parts[0] in FILES:
            held = path.read_bytes()
            if path.name == "model.npz":
                with np.load(path) as arrays:
                    held = b"".join(name.encode() + arrays[name].tobytes() for name in sorted(arrays))
            found[path.relative_to(folder).as_posix()] = hashlib.sha256(VOLATILE.sub(b"", held)).hexdigest()
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
    """Check the exit code, and what was printed as an error."""
    told = f"{ended.argv}: exit code {ended.code}, {ended.err[-300:]!r}"
    if "Traceback (most recent call last)" in ended.err:
        last = ended.err.strip().splitlines()[-1][:80]
        raise Found(WRONG_EXCEPTION, f"a traceback: {told}", f"traceback {ended.argv[:1]} {last}")
    if ended.code is None:
        raise Found(HANG, f"no end: {told}", f"hang {ended.argv[:1]}")
    if ended.code not in CODES | set(allowed):
        kind = CRASH if ended.code < 0 else WRONG_EXCEPTION
        raise Found(kind, told, f"exit code {ended.code} of {ended.argv[:1]}")
    if ended.code == 2:
        fault = message_fault(without_usage(ended.err))
        if fault is not None:
            raise Found(UNCLEAR, f"{fault}: {told}", f"{re.sub('[0-9]+', 'n', fault)} {ended.argv[:1]}")


def without_usage(err: str) -> str:
    """Return an error on one line: what typer prints of wrong options is a usage line and a box."""
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
        raise Found(WRONG_ANSWER, f"inputs changed: {changed[:5]}", "input overwritten")


def check_answer(place: Path, allowed: tuple[str, ...], *, killed: bool = False) -> None:
    """Check that the folder holds one answer, whole; after a kill the next command may mend it first."""
    found = _whole(place / "out", allowed)
    if not found and killed:
        check_run(finish(start(Run(["transform", "out", "b.csv", "--out", "t.csv"], place)), SECONDS))
        found = _whole(place / "out", allowed)
    if not found:
        raise Found(WRONG_ANSWER, f"mixed or half-written: {_owners(place / 'out')}", "mixed answer")


def _whole(out: Path, allowed: tuple[str, ...]) -> bool:
    try:
        found = answer_in(out)
    except (ValueError, OSError):
        return False
    return any(found == SHARED.answers[name] for name in allowed)


def _owners(out: Path) -> dict[str, str]:
    """Return which answer each file belongs to."""
    try:
        found = answer_in(out)
    except (ValueError, OSError) as error:
        return {"unreadable": str(error)[:100]}
    return {
        file: next((name for name, answer in SHARED.answers.items() if answer.get(file) == held), "no answer")
        for file, held in found.items()
    }


def check_nothing_left(place: Path) -> None:
    """Check that there are no temporary files beside the inputs and the answer."""
    known = {*INPUTS, "out", "t.csv", "verdict.txt"}
    left = [path.name for path in place.iterdir() if path.name not in known and not path.name.startswith("kept")]
    out = place / "out"
    left += [f"out/{path.name}" for path in (out.iterdir() if out.is_dir() else []) if path.name not in FILES]
    if left:
        raise Found(WRONG_ANSWER, f"temporary files are left: {sorted(left)[:5]}", "temporary files left")
