"""The whole of `cosep fit`, from a file to a folder, compared with a fit of scikit-learn's NMF.

20Newsgroups with all its words, 18846 x 26214, 20 rows and 20 columns: reading the matrix from `.npz`, fitting, and
writing model and tables, without the report. Both run alternately in a warm process. Memory is what the command needs
in addition to the warm process, measured in a process of its own; the bar is three times the input plus 200 MB. The
time of the report is measured separately, with an explanation of every selected row and column and without the
repeated selections on subsets of the data.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scipy.sparse
from sklearn.decomposition import NMF

from benchmarks.harness import Bar, Row, clock, isolated, race, say, warm, with_memory
from cosep import make_coseparable
from cosep.cli.fit import FitOptions, OutputOptions, run
from cosep.cli.matrix_source import MatrixSource
from cosep.io import read
from experiments.data import MissingDataError, load_documents

RANK = 20
ALLOWED_MB = 200.0


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield the seconds of both, and the memory of the command."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts.npz"
        try:
            X = (
                make_coseparable(60, 40, 4, 4, random_state=0)[0]
                if tiny
                else load_documents("20Newsgroups", n_words=None).counts
            )
        except MissingDataError as missing:
            yield {"set": "20Newsgroups", "note": str(missing)}
            return
        scipy.sparse.save_npz(file, scipy.sparse.csr_array(X), compressed=False)
        r = 4 if tiny else RANK
        say("  seconds")
        times = isolated(seconds)(str(file), r)
        say("  memory")
        yield {"set": "planted" if tiny else "20Newsgroups", **times, **isolated(memory)(str(file), r)}


def command(path: str, r: int, *, report: bool = False) -> Any:
    """Run ``cosep fit``, without output, into a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        options, source = FitOptions(r, r, report=report, n_draws=0), MatrixSource(lambda: read(path))
        return run(source, Path(folder) / "answer", options, OutputOptions(quiet=True), "cosep fit")


def seconds(path: str, r: int) -> Row:
    """Time the command and scikit-learn's NMF alternately, then the command with its report once."""
    warm()
    X = read(path).values
    peer = NMF(n_components=r, init="nndsvd", max_iter=200, random_state=0)
    times = race(command=lambda: command(path, r), peer=lambda: peer.fit(X))
    ours, theirs = times["command"].seconds, times["peer"].seconds
    with_report = clock(lambda: command(path, r, report=True)).seconds
    return {"command_s": ours, "nmf_s": theirs, "times_nmf": ours / theirs, "with_report_s": with_report}


def memory(path: str, r: int) -> Row:
    """Return the memory that the command needs in addition to the warm process."""
    warm()
    X = read(path).values
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    del X
    _, extra = with_memory(lambda: command(path, r))
    return {"input_mb": size / 1e6, "memory_mb": extra / 1e6, "allowed_mb": 3.0 * size / 1e6 + ALLOWED_MB}


def bars(rows: list[Row]) -> list[Bar]:
    """Compare time and memory with their limits."""
    row = rows[0] if rows else {}
    share = row["memory_mb"] / row["allowed_mb"] if "memory_mb" in row else None
    return [
        Bar("seconds of `cosep fit` without the report, as a multiple of NMF's fit", row.get("times_nmf"), 2.0),
        Bar("its memory, as a share of three times the input and 200 MB", share, 1.0),
    ]
