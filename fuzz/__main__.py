"""Command line of the fuzzing harness: ``python -m fuzz [target ...]`` runs cases and counts their outcomes."""

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

# Threads of OpenMP and BLAS do not survive a fork, and their time would count for a case.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

from fuzz import blocks, calls, command, files, models  # noqa: E402 - after the threads are set
from fuzz.harness import Result, Target, name_of, run  # noqa: E402
from fuzz.outcomes import EXPECTED_OUTCOMES, OUTCOMES  # noqa: E402
from fuzz.page import page, row, write_rows  # noqa: E402

MODULES = (files, calls, models, blocks, command)
TARGETS: dict[str, ModuleType] = {module.__name__.rpartition(".")[2]: module for module in MODULES}
HERE = Path(__file__).parent
DEFAULT_MINUTES = 60.0
# Keep this many inputs of failures at the same place in the code.
MAX_KEPT = 3


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen targets; return 1 if a case failed or did not run, 0 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", metavar="target", help=f"one or more of {', '.join(TARGETS)} (default: all)"
    )
    parser.add_argument("--seed", type=int, help="first seed; without --cases, repeat this case and show it")
    parser.add_argument("--cases", type=int, help="number of cases (default: all of the target)")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel processes (default: 2)")
    parser.add_argument(
        "--minutes", type=float, default=DEFAULT_MINUTES, help="time limit of the whole run (default: 60)"
    )
    parser.add_argument(
        "--into", type=Path, help="folder for results/ and README.md (default: fuzz/ for a full run, otherwise none)"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        default=HERE / "failures",
        help="folder for the inputs of failed cases (default: fuzz/failures)",
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"unknown target {', '.join(sorted(unknown))}; expected one of {', '.join(TARGETS)}")
    full = not options.targets and options.cases is None and options.seed is None
    into = options.into or (HERE if full else None)
    deadline = time.monotonic() + 60 * options.minutes
    any_failed = False
    for name in options.targets or TARGETS:
        target = cast("Target", TARGETS[name])
        first = options.seed or 0
        cases = options.cases or (target.CASES if options.seed is None else 1)
        start = time.monotonic()
        results = run_target(target, range(first, first + cases), options.jobs, deadline, options.keep)
        seconds = time.monotonic() - start
        any_failed |= show(name, results, cases, seconds)
        if into is not None:
            rows = [row(kind, group, seconds, first) for kind, group in by_kind(results).items()]
            write_rows(into / "results" / f"{name}.csv", rows)
            (into / "README.md").write_text(page(TARGETS, into / "results"), encoding="utf-8")
    return int(any_failed)


def run_target(target: Target, seeds: range, jobs: int, deadline: float, keep: Path) -> list[Result]:
    """Run the cases of one target, and keep the inputs of some failed cases."""
    name = name_of(target)
    with tempfile.TemporaryDirectory(prefix="cosep-fuzz-") as place:
        folder = Path(place)
        target.prepare(folder)
        results = []
        kept: Counter[str] = Counter()
        for result in run(target, seeds, folder, jobs=jobs, deadline=deadline):
            results.append(result)
            verdict = result.verdict
            if verdict.outcome in EXPECTED_OUTCOMES:
                continue
            case_folder = folder / f"{name}-{result.seed}"
            kept[verdict.where] += 1
            if kept[verdict.where] <= MAX_KEPT:
                shutil.rmtree(keep / case_folder.name, ignore_errors=True)
                shutil.copytree(case_folder, keep / case_folder.name, symlinks=True, ignore_dangling_symlinks=True)
                (keep / case_folder.name / "verdict.txt").write_text(
                    describe(name, result), encoding="utf-8", errors="backslashreplace"
                )
            if kept[verdict.where] == 1:
                print(
                    f"{verdict.outcome}: {repeat_command(name, result.seed)}",
                    f" # {result.kind}: {verdict.detail[:160]!r}",
                    flush=True,
                )
            shutil.rmtree(case_folder, ignore_errors=True)
    return results


def repeat_command(name: str, seed: int) -> str:
    """Return the command that repeats a case."""
    return f"python -m fuzz {name} --seed {seed}"


def describe(name: str, result: Result) -> str:
    """Describe the result of one case."""
    verdict = result.verdict
    return f"{repeat_command(name, result.seed)}\n{result.kind}: {verdict.outcome}\n{verdict.where}\n{verdict.detail}\n"


def by_kind(results: list[Result]) -> dict[str, list[Result]]:
    """Group results by the kind of input, in alphabetical order."""
    return {kind: [one for one in results if one.kind == kind] for kind in sorted({one.kind for one in results})}


def show(name: str, results: list[Result], cases: int, seconds: float) -> bool:
    """Print the counts and the distinct failures; return whether a case failed or did not run."""
    counts = Counter(result.verdict.outcome for result in results)
    summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    print(f"{name}: {len(results)} of {cases} cases in {seconds:.0f} s: {summary}")
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in sorted(results):
        if result.verdict.outcome not in EXPECTED_OUTCOMES:
            groups.setdefault((result.verdict.outcome, result.verdict.where), []).append(result)
    for (outcome, where), group in sorted(groups.items(), key=lambda item: -len(item[1])):
        print(f"  {len(group):5} {outcome}: {where or 'unknown place'}; {repeat_command(name, group[0].seed)}")
    if cases == 1 and results:
        print(describe(name, results[0]), end="")
    return bool(groups) or len(results) < cases


if __name__ == "__main__":
    sys.exit(main())
