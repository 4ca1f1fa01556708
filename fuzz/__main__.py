"""Run fuzzing cases, count their outcomes, write the page: ``python -m fuzz [target ...]``."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import cast

# Threads of OpenMP and BLAS do not survive a fork, and must not be counted as time of a case.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

from fuzz import blocks, calls, command, files, models  # noqa: E402 - after the threads are set
from fuzz.harness import Result, Target, name_of, run  # noqa: E402
from fuzz.outcomes import GOOD, OUTCOMES  # noqa: E402
from fuzz.page import page, row, write_rows  # noqa: E402

MODULES = (files, calls, models, blocks, command)
TARGETS: dict[str, ModuleType] = {module.__name__.rpartition(".")[2]: module for module in MODULES}
HERE = Path(__file__).parent
MINUTES = 60.0
# So many inputs are kept of failures that end at the same place.
KEPT = 3


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; return 1 if anything failed or was not reached, 0 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="target", help=f"of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--seed", type=int, help="the first seed; alone, it repeats one case and shows it")
    parser.add_argument("--cases", type=int, help="how many seeds to run; default: all that a target has")
    parser.add_argument("--jobs", type=int, default=2, help="processes at the same time (default: 2)")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="limit of the whole run (default: 60)")
    parser.add_argument("--into", type=Path, help="folder for results/ and README.md; default: here, after a full run")
    parser.add_argument("--keep", type=Path, default=HERE / "failures", help="folder for inputs that failed")
    options = parser.parse_args(arguments)
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    full = not options.targets and options.cases is None and options.seed is None
    into = options.into or (HERE if full else None)
    deadline = time.monotonic() + 60 * options.minutes
    bad = False
    for name in options.targets or TARGETS:
        target = cast("Target", TARGETS[name])
        first = options.seed or 0
        cases = options.cases or (target.CASES if options.seed is None else 1)
        start = time.monotonic()
        results = fuzzed(target, range(first, first + cases), options.jobs, deadline, options.keep)
        seconds = time.monotonic() - start
        bad |= show(name, results, cases, seconds)
        if into is not None:
            rows = [row(kind, some, seconds, first) for kind, some in by_kind(results).items()]
            write_rows(into / "results" / f"{name}.csv", rows)
            (into / "README.md").write_text(page(TARGETS, into / "results"), encoding="utf-8")
    return int(bad)


def fuzzed(target: Target, seeds: range, jobs: int, deadline: float, keep: Path) -> list[Result]:
    """Run the cases of one target, and keep the inputs of some that failed."""
    name = name_of(target)
    with tempfile.TemporaryDirectory(prefix="cosep-fuzz-") as place:
        folder = Path(place)
        target.prepare(folder)
        results = []
        kept: Counter[str] = Counter()
        for result in run(target, seeds, folder, jobs=jobs, deadline=deadline):
            results.append(result)
            verdict = result.verdict
            if verdict.outcome in GOOD:
                continue
            made = folder / f"{name}-{result.seed}"
            kept[verdict.where] += 1
            if kept[verdict.where] <= KEPT:
                shutil.rmtree(keep / made.name, ignore_errors=True)
                shutil.copytree(made, keep / made.name, symlinks=True, ignore_dangling_symlinks=True)
                (keep / made.name / "verdict.txt").write_text(
                    told(name, result), encoding="utf-8", errors="backslashreplace"
                )
            if kept[verdict.where] == 1:
                print(
                    f"{verdict.outcome}: {repeat(name, result.seed)}  # {result.kind}: {verdict.detail[:160]!r}",
                    flush=True,
                )
            shutil.rmtree(made, ignore_errors=True)
    return results


def repeat(name: str, seed: int) -> str:
    """Return what repeats a case."""
    return f"python -m fuzz {name} --seed {seed}"


def told(name: str, result: Result) -> str:
    """Return all that is known of one case."""
    verdict = result.verdict
    return f"{repeat(name, result.seed)}\n{result.kind}: {verdict.outcome}\n{verdict.where}\n{verdict.detail}\n"


def by_kind(results: list[Result]) -> dict[str, list[Result]]:
    """Return results by the kind of their input, in the order of the alphabet."""
    return {kind: [one for one in results if one.kind == kind] for kind in sorted({one.kind for one in results})}


def show(name: str, results: list[Result], cases: int, seconds: float) -> bool:
    """Print the counts and the distinct failures; tell whether there were any, or cases that were not reached."""
    counts = Counter(result.verdict.outcome for result in results)
    summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    print(f"{name}: {len(results)} of {cases} cases in {seconds:.0f} s: {summary}")
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in sorted(results):
        if result.verdict.outcome not in GOOD:
            groups.setdefault((result.verdict.outcome, result.verdict.where), []).append(result)
    for (outcome, where), some in sorted(groups.items(), key=lambda item: -len(item[1])):
        print(f"  {len(some):5} {outcome}: {where or 'somewhere'}; {repeat(name, some[0].seed)}")
    if cases == 1 and results:
        print(told(name, results[0]), end="")
    return bool(groups) or len(results) < cases


if __name__ == "__main__":
    sys.exit(main())
