"""Large sparse matrices are never made dense."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from calls import (
    peak,
)
from cosep import (
    CoSeparableNMF,
    Factorization,
    Selection,
    both_sides,
    choose_rank,
    cur,
    fgm,
    greedy,
    gspa,
    mix,
    mix_generalized,
    preselect,
    preselected,
    snpa,
    spa,
    xray,
)
from cosep.matrix.scaling import SCALINGS, scale
from cosep.nmf.ahals import ahals
from cosep.nmf.biorthogonal import biorthogonal
from cosep.nmf.minvol import minvol
from cosep.nmf.trisymmetric import trisymmetric
from cosep.select.cur import METHODS
from cosep.theory import (
    extreme_rays,
    is_coseparable,
)


@pytest.fixture(scope="module")
def large():
    """20000 x 3000 with 30000 nonzeros in five diagonal blocks: 0.4 MB, 480 MB if it were dense."""
    random = np.random.default_rng(0)
    i, j = random.integers(0, 4000, 30_000), random.integers(0, 600, 30_000)
    block = random.integers(0, 5, 30_000)
    return sp.csr_array((random.uniform(1.0, 2.0, 30_000), (5 * i + block, 5 * j + block)), shape=(20_000, 3_000))


def exact_error(A):
    first = A[:, [0]].tocoo()
    alone = sp.csr_array((first.data, first.coords), shape=A.shape)
    return Factorization(first.toarray(), None, np.eye(1, A.shape[1])).relative_error(alone)


def cross(A, n_rows, n_cols):
    return Selection(A.sum(axis=1).argsort()[-n_rows:], A.sum(axis=0).argsort()[-n_cols:])


LARGE = {
    "spa": lambda A: spa(A, 5),
    "spa of the transpose": lambda A: spa(A.T, 5),
    "both_sides(spa)": lambda A: both_sides(spa)(A, 5, 5),
    "preselect": lambda A: preselect(A, 5),
    "preselect of the transpose": lambda A: preselect(A.T, 5),
    "preselected": lambda A: preselected(both_sides(spa), 30, 30)(A, 5, 5),
    "snpa": lambda A: snpa(A, 5),
    "xray": lambda A: xray(A, 3, criterion="max"),
    "greedy": lambda A: greedy(A, 5),
    "greedy of the transpose": lambda A: greedy(A.T, 5),
    "gspa": lambda A: gspa(A, 5),
    **{f"cur by {method}": (lambda A, method=method: cur(A, 3, 3, method=method)) for method in METHODS},
    "mix_generalized": lambda A: mix_generalized(A, Selection(range(5), range(5)), max_iter=3),
    "mix": lambda A: mix(A, Selection(range(5), range(5)), max_iter=3),
    "mix with rows only": lambda A: mix(A, Selection(range(5), None)),
    "mix with columns only": lambda A: mix(A, Selection(None, range(5))),
    "ahals": lambda A: ahals(A, 5, max_iter=3),
    "minvol": lambda A: minvol(A, 5, max_iter=3),
    "biorthogonal": lambda A: biorthogonal(A, 5, max_iter=3),
    "trisymmetric": lambda A: trisymmetric(A, 5),
    "extreme_rays": extreme_rays,
    "is_coseparable": lambda A: bool(is_coseparable(A, Selection(range(5), range(5)))),
    "relative_error": lambda A: Factorization(np.ones((20_000, 1)), None, np.ones((1, 3_000))).relative_error(A),
    "an exact relative_error": exact_error,
    "choose_rank": lambda A: choose_rank(A, [3], method="spa"),
    "completion_score": lambda A: CoSeparableNMF(5, 5, method=cross).fit(A).completion_score(A),
    **{f"scale by {rule}": partial(scale, scaling=rule) for rule in SCALINGS},
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The core is degenerate", "ignore:scaling='sinkhorn' did not balance")
@pytest.mark.parametrize(
    ("function", "fmt"),
    [(name, "csr") for name in LARGE] + [(name, fmt) for name in ("spa", "mix") for fmt in ("csc", "coo", "lil")],
)
def test_a_large_sparse_matrix_is_never_made_dense(function, fmt, large, monkeypatch):
    data = large.asformat(fmt)

    def guarded(plain):
        def toarray(self, *args, **kwargs):
            assert np.prod(self.shape) <= 2**21, f"a sparse matrix of shape {self.shape} was made dense"
            return plain(self, *args, **kwargs)

        return toarray

    for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array):
        monkeypatch.setattr(kind, "toarray", guarded(kind.toarray))
        monkeypatch.setattr(kind, "todense", guarded(kind.todense))
    assert peak(lambda: LARGE[function](data))[1] < 60e6


def test_fgm_of_a_tall_sparse_matrix_keeps_only_blocks_of_rows():
    random = np.random.default_rng(0)
    positions = random.integers(0, 300_000, 9_000), np.arange(9_000) % 40
    tall = sp.csr_array((random.uniform(1.0, 2.0, 9_000), positions), shape=(300_000, 40))
    chosen, most = peak(lambda: fgm(tall, 3))
    assert len(chosen.col_indices) == 3
    assert most < 60e6  # it would be 96 MB
