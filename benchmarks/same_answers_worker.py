"""One side of `benchmarks.same_answers`: run every method on one matrix, and write all results to files.

The comparison starts this file as a script, in a process of its own, once per checkout. It uses only public names of
`cosep` that both checkouts have. Cases that do not name another norm are run in the plain norm, `scaling=None`.
"""

import dataclasses
import inspect
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import cosep

Case = Callable[[Any, int], Any]

BOTH = ("faithful", "cosfgm", "spa", "snpa", "xray", "fgm", "greedy", "cur")
COLUMNS = ("spa", "snpa", "xray", "fgm", "greedy")
# Methods whose time grows fast with the data; on larger data they run on preselected rows and columns only.
SLOW = ("xray", "fgm")
# Block fits: the method, the number of blocks, and how many rows to sample (None: the default).
BLOCKS = (
    ("faithful", 1, None),
    ("faithful", 5, None),
    ("faithful", 5, 120),
    ("faithful", 13, 120),
    ("spa", 5, 120),
    ("greedy", 5, 120),
    ("cosfgm", 5, 120),
)
N_DRAWS = 5
# Rows that `transform`, `complete` and `score` are called on.
N_NEW = 50


def coseparable(X: Any, r: int, scaling: str | None = None, **options: Any) -> dict[str, Any]:
    """Fit `CoSeparableNMF`, then explain and complete some rows."""
    model = cosep.CoSeparableNMF(r, r, scaling=scaling, random_state=0, **options).fit(X)
    some = X[:N_NEW]
    return fitted(model) | {
        "transform": model.transform(some),
        "complete": model.complete(some[:, model.col_indices_]),
        "score": model.score(some),
    }


def in_blocks(X: Any, r: int, method: str, count: int, sample: int | None) -> dict[str, Any]:
    """Fit `CoSeparableNMF` to blocks of rows."""
    cuts = np.linspace(0, X.shape[0], count + 1).astype(int)
    blocks = cosep.row_blocks([X[a:b] for a, b in pairwise(cuts)])
    options: dict[str, Any] = {"method": method, "scaling": None, "random_state": 0, **sampling(sample)}
    return fitted(cosep.CoSeparableNMF(r, r, **options).fit(blocks))


def by_dask(X: Any, r: int) -> dict[str, Any]:
    """Fit `CoSeparableNMF` to a Dask array, and compute everything that is lazy."""
    import dask.array  # noqa: PLC0415 - an extra

    with dask.config.set(scheduler="synchronous"):
        chunks = dask.array.from_array(X, chunks=(-(-X.shape[0] // 4), -1))
        return fitted(cosep.CoSeparableNMF(r, r, scaling="degree").fit(chunks))


def sampling(sample: int | None) -> dict[str, Any]:
    """Return the parameter for the size of the sample: `sample_size`, which was the first of the pair `preselect`."""
    if sample is None:
        return {}
    named = "sample_size" in inspect.signature(cosep.CoSeparableNMF).parameters
    return {"sample_size": sample} if named else {"preselect": (sample, None)}


def estimator(X: Any, r: int, name: str, **options: Any) -> dict[str, Any]:
    """Fit another estimator."""
    counts = {"n_rows": r, "n_cols": r} if name == "CUR" else {"n_components": r}
    return fitted(getattr(cosep, name)(**counts, **options).fit(X))


def assessment(X: Any, r: int, of: str) -> Any:
    """Explain a fit, draw parts of the data, or choose a rank."""
    if of == "choose_rank":
        return cosep.choose_rank(X, ranks=[1, max(2, r // 2), r], random_state=0, **plain(cosep.choose_rank))
    selection = cosep.faithful(X, r, r)
    if of == "explain":
        return cosep.explain(X, cosep.mix(X, selection))
    return cosep.stability(X, selection, n_draws=N_DRAWS, random_state=0, **plain(cosep.stability))


def plain(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameter for the plain norm, which functions did not always have."""
    return {"scaling": None} if "scaling" in inspect.signature(function).parameters else {}


def fitted(model: Any) -> dict[str, Any]:
    """Return all fitted attributes, also those that are properties."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def cases(groups: list[str]) -> Iterator[tuple[str, Case]]:
    """Yield the name of each case, and the function that runs it."""
    quick = [name for name in BOTH if name not in SLOW]
    few: dict[str, Any] = {"preselect": 60}
    known: dict[str, dict[str, Case]] = {
        "methods": {
            **{f"CoSeparableNMF {name}": partial(coseparable, method=name) for name in quick},
            **{
                f"CoSeparableNMF {name}, preselect=60": partial(coseparable, method=name, **few)
                for name in ("faithful", *SLOW)
            },
            "CoSeparableNMF scaling=degree": partial(coseparable, scaling="degree"),
            **{
                f"SeparableNMF {name}": partial(estimator, name="SeparableNMF", method=name)
                for name in COLUMNS
                if name in quick
            },
            "SeparableNMF spa, rows": partial(estimator, name="SeparableNMF", axis="rows"),
            "SeparableNMF fgm, preselect=60": partial(estimator, name="SeparableNMF", method="fgm", **few),
            "GeneralizedSeparableNMF gspa": partial(estimator, name="GeneralizedSeparableNMF"),
            "GeneralizedSeparableNMF gsfgm, preselect=60": partial(
                estimator, name="GeneralizedSeparableNMF", method="gsfgm", **few
            ),
            **{f"CUR {name}": partial(estimator, name="CUR", method=name) for name in ("leverage", "deim", "cross")},
            "HALSNMF": partial(estimator, name="HALSNMF"),
            "MinVolNMF, max_iter=10": partial(estimator, name="MinVolNMF", max_iter=10),
            "BiorthogonalNMF, max_iter=50": partial(estimator, name="BiorthogonalNMF", max_iter=50),
            "TriSymmetricNMF": partial(estimator, name="TriSymmetricNMF"),
        },
        "slow methods": {
            **{f"CoSeparableNMF {name}": partial(coseparable, method=name) for name in SLOW},
            **{f"SeparableNMF {name}": partial(estimator, name="SeparableNMF", method=name) for name in SLOW},
            **{name: partial(estimator, name=name) for name in ("MinVolNMF", "BiorthogonalNMF")},
        },
        "blocks": {
            f"{count} blocks, {method}, sample {sample or 'default'}": partial(
                in_blocks, method=method, count=count, sample=sample
            )
            for method, count, sample in BLOCKS
        },
        "theory": {
            "minimal_coseparable": lambda X, _r: cosep.theory.minimal_coseparable(X),
            "extreme_rays": lambda X, _r: cosep.theory.extreme_rays(X),
            "is_separable": lambda X, r: cosep.theory.is_separable(X, cosep.spa(X, r).col_indices),
        },
        "dask": {"Dask array, scaling=degree": by_dask},
        "assess": {of: partial(assessment, of=of) for of in ("explain", "stability", "choose_rank")},
    }
    for group in groups:
        yield from known[group].items()


def flatten(value: Any, name: str, into: dict[str, Any]) -> None:
    """Write the arrays that a result consists of into a dict, under dotted names."""
    if hasattr(value, "compute"):
        value = value.compute()
    parts: dict[str, Any] = {}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif hasattr(value, "_asdict"):
        parts = value._asdict()
    elif isinstance(value, dict):
        parts = value
    elif scipy.sparse.issparse(value):
        table = scipy.sparse.csr_array(value)
        table.sort_indices()
        parts = {"data": table.data, "indices": table.indices, "indptr": table.indptr}
    elif isinstance(value, list | tuple) and not all(np.isscalar(one) for one in value):
        parts = {str(k): one for k, one in enumerate(value)}
    elif value is None or isinstance(value, np.ndarray | np.generic | str | bool | int | float | list | tuple):
        array = np.asarray("None" if value is None else value)
        into[name] = array.astype(str) if array.dtype == object else array
    for key, part in parts.items():
        flatten(part, f"{name}.{key}" if name else key, into)


def run(case: Case, X: Any, r: int, path: Path) -> dict[str, Any]:
    """Run one case, write its arrays to a file, and return its seconds and its extra memory at the peak."""
    record: dict[str, Any] = {"error": None}
    arrays: dict[str, Any] = {}
    before = reset_peak()
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = case(X, r)
        except Exception as error:  # noqa: BLE001 - both checkouts must raise the same one
            answer, record["error"] = {}, type(error).__name__
        record |= {"seconds": time.process_time() - start, "megabytes": (status("VmHWM") - before) / 1e6}
        flatten(answer, "", arrays)
    arrays["warnings"] = np.asarray(sorted({warning.category.__name__ for warning in caught}), dtype=str)
    np.savez(path, **arrays)
    return record


def reset_peak() -> float:
    """Forget the peak of this process's memory, where Linux allows that; return its memory in bytes."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return status("VmRSS")


def status(name: str) -> float:
    """Return the resident memory of this process in bytes, at present (VmRSS) or at its peak (VmHWM)."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return float("nan")
    return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def main(job: Path, out: Path) -> None:
    """Run the cases of a job, after one small fit that loads and compiles what every case needs."""
    wanted = json.loads(job.read_text(encoding="utf-8"))
    loaded = Path(cosep.__file__).resolve()
    if not loaded.is_relative_to(Path(wanted["source"]).resolve()):
        msg = f"cosep was imported from {loaded}, not from {wanted['source']}."
        raise RuntimeError(msg)
    path = Path(wanted["matrix"])
    X = scipy.sparse.load_npz(path) if wanted["sparse"] else np.load(path)
    warm, _ = cosep.make_coseparable(30, 20, 3, 3, noise=0.1, random_state=0)
    for small in (warm, scipy.sparse.csr_array(warm)):
        cosep.CoSeparableNMF(3, 3).fit(small)
    records = {}
    for k, (name, case) in enumerate(cases(wanted["groups"])):
        records[name] = run(case, X, wanted["r"], out / f"{k}.npz") | {"file": f"{k}.npz"}
    (out / "records.json").write_text(json.dumps(records), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
