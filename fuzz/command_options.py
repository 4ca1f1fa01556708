"""Runs of the `cosep` command with right and wrong options."""

import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random

from fuzz.command_checks import INPUTS, SECONDS, check_inputs, check_run, checksums, copy_inputs
from fuzz.outcomes import CLEAR_ERROR, WRONG_ANSWER, CaseEnded
from fuzz.processes import Run, finish, start

VALUES: dict[str, tuple[str, ...]] = {
    "--rows": ("2", "2", "1", "0", "-1", "99999", "1.5", "x", ""),
    "--cols": ("2", "2", "1", "0", "-1", "99999", "nan"),
    "--method": ("spa", "faithful", "cosfgm", "nonsense", "", "\x1b[31m"),
    "--scaling": ("none", "degree", "rows", "columns", "sinkhorn", "x"),
    "--weights": ("weights.txt", "weights.txt", "weights.csv", "zeros.txt", "labels.txt", "a.csv", "nothing", "x.npy",
                  "parts", "-", "out/rows.csv"),
    "--grow": ("out", "out", "out/model.npz", "nothing", "a.csv", "parts", "."),
    "--stability": ("0", "2", "-1", "x"),
    "--labels": ("labels.txt", "a.csv", "nothing", "x.npy"),
    "--label-column": ("c1", "name", "nothing"),
    "--kind": ("csv", "npy", "txt", "x", "\n"),
    "--sep": (",", ";", "tab", "x", ""),
    "--decimal": (".", ",", "x"),
    "--sheet": ("Sheet1", ""),
    "--columns": ("c0,c1", "nothing", ""),
    "--drop": ("c0", "nothing", ","),
    "--layout": ("wide", "triplets", "x"),
    "--index": ("name", "c0", "x\x1b"),
    "--variable": ("X", "data", ""),
    "--layer": ("counts", "raw", "X"),
    "--text-column": ("name", "text"),
    "--stop-words": ("none", "english", "x"),
    "--min-df": ("1", "0", "-3", "99"),
    "--top-words": ("5", "0"),
    "--checkpoint": ("out/points", "a.csv", "/proc/x"),
    "--sample": ("5", "0", "999"),
    "--scheduler": ("tcp://127.0.0.1:1", "nonsense"),
    "--ranks": ("2", "1,2", "2x3", "0", "x", "", "999", "2,,3"),
    "--methods": ("spa", "spa,greedy", "nonsense", ""),
    "--plot": ("t.csv", "nowhere/x.html", "out", "/proc/x.html"),
    "--out": ("out", "out", "t.csv", "a.csv", "/proc/nowhere", "out/deeper/still", "a.csv/x"),
}  # fmt: skip
FLAGS = {
    "fit": ("--json", "--quiet", "--no-report", "--choose-rank", "--help", "--nonsense"),
    "transform": ("--json", "--complete"),
    "rank": ("--json", "--quiet"),
    "compare": ("--json", "--quiet"),
    "nonsense": ("--version",),
}
# Options that are chosen often; `fit` takes almost all others as well.
USUAL: dict[str, tuple[str, ...]] = {
    "fit": ("--rows", "--cols", "--out", "--method", "--scaling", "--weights", "--stability"),
    "transform": ("--out",),
    "rank": ("--ranks", "--plot", "--scaling", "--weights"),
    "compare": ("--rows", "--cols", "--methods", "--scaling"),
    "nonsense": (),
}


def random_options(random: Random, place: Path) -> Callable[[], None]:
    """Return a run with right and wrong options, in random combinations."""
    copy_inputs(place, random.choice((None, "a")))
    odd_name = random.choice((b"odd-\xff.csv", b"odd-\x1b[31m.csv", b"odd-\n.csv", "odd-é.csv".encode(), b"-x.csv"))
    shutil.copy(place / "b.csv", place / os.fsdecode(b"kept-" + odd_name))
    sources = (*INPUTS, "nothing.csv", ".", "/dev/null", os.fsdecode(b"kept-" + odd_name), "out", "out/model.npz", "")
    command = random.choice((*["fit"] * 6, *["transform", "rank", "compare"] * 2, "nonsense"))
    argv = [command, *(["out"] if command == "transform" else []), random.choice(sources)]
    options = {*random.sample(USUAL[command], random.randint(0, len(USUAL[command])))}
    known = {**USUAL, "fit": tuple(sorted(VALUES.keys() - {"--ranks", "--methods", "--plot"}))}
    options |= set(random.sample(known[command], min(len(known[command]), random.choice((0, 0, 1, 2)))))
    if random.random() < 0.05:
        options.add(random.choice(sorted(VALUES)))
    for option in sorted(options):
        argv += [option, random.choice(VALUES[option])]
    argv += random.sample(FLAGS[command], random.choice((0, 1, 1)))
    if command == "fit":
        argv += ["--no-report"] if random.random() < 0.9 else []
    return partial(_run_options, place, Run(argv, place, fresh=random.random() < 0.03))


def _run_options(place: Path, run: Run) -> None:
    outputs = {word for option, word in pairwise(run.argv) if option in {"--out", "--plot"}}
    inputs = {word for option, word in pairwise(run.argv) if option not in {"--out", "--plot"}}
    before = {name: checksum for name, checksum in checksums(place).items() if name not in outputs - inputs}
    ended = finish(start(run), SECONDS)
    check_run(ended)
    check_inputs(place, before)
    out = place / "out"
    left = [path.name for path in (*place.rglob(".*"), *out.glob(".*")) if "part" in path.name]
    if left:
        raise CaseEnded(WRONG_ANSWER, f"temporary files are left: {left[:5]}", "temporary files left")
    if ended.code == 0 and "--json" in run.argv and not {"--help", "--version"} & set(run.argv):
        try:
            json.loads(ended.out) if ended.out.strip() else None
        except ValueError:
            raise CaseEnded(WRONG_ANSWER, f"not valid JSON: {ended.out[:200]!r}", "not valid JSON") from None
    if ended.code == 2:
        raise CaseEnded(CLEAR_ERROR, ended.err)
