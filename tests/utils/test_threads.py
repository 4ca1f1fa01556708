"""Pieces of work on several threads."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse

from cosep import CoSeparableNMF, make_coseparable
from cosep.matrix import local
from cosep.matrix.local import LocalMatrix
from cosep.utils import threads
from cosep.utils.threads import for_each, number_of_threads, slices


@pytest.fixture(params=[1, 2, 4])
def number(request, monkeypatch):
    monkeypatch.setattr(threads, "number_of_threads", lambda: request.param)
    return request.param


each_number = pytest.mark.usefixtures("number")


def test_the_environment_limits_the_number_of_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert number_of_threads() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1,4")
    assert number_of_threads() == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    cores = number_of_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", "nonsense")
    assert number_of_threads() == cores >= 1


@each_number
def test_every_piece_is_done_once():
    done = []
    for_each(done.append, range(100))
    assert sorted(done) == list(range(100))
    for_each(done.append, [])
    assert len(done) == 100


def test_several_threads_take_part(number):
    barrier, seen = threading.Barrier(min(number, 2)), set()

    def meet(_):
        barrier.wait(30)
        seen.add(threading.get_ident())

    for_each(meet, range(min(number, 2)))
    assert len(seen) == min(number, 2)


@each_number
def test_an_exception_is_raised_and_ends_the_rest():
    done = []

    def fail(piece):
        if piece == 3:
            raise KeyError(piece)
        done.append(piece)

    with pytest.raises(KeyError, match="3"):
        for_each(fail, range(10_000))
    assert len(done) < 10_000


@each_number
def test_an_index_error_of_a_piece_is_not_lost():
    with pytest.raises(IndexError, match="out of range"):
        for_each(lambda piece: [][piece], [0, 1, 2])


@each_number
def test_pieces_may_have_pieces_and_callers_may_be_many():
    def outer(piece):
        inner = []
        for_each(inner.append, range(piece))
        return len(inner)

    with ThreadPoolExecutor(8) as pool:
        totals = list(pool.map(outer, range(64)))
    assert totals == list(range(64))
    nested = []
    for_each(lambda piece: nested.append(outer(piece)), range(20))
    assert sorted(nested) == list(range(20))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # Python 3.12 warns of forks like this one
def test_a_forked_process_has_threads_of_its_own(monkeypatch):
    monkeypatch.setattr(threads, "number_of_threads", lambda: 2)
    for_each(str, range(10))
    with threads._LOCK:
        child = os.fork()
        if child == 0:
            done = []
            for_each(done.append, range(10))
            os._exit(0 if sorted(done) == list(range(10)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_slices_cover_the_range():
    assert slices(5, 2) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert slices(0, 2) == []
    assert slices(3, 0) == [slice(0, 1), slice(1, 2), slice(2, 3)]


@each_number
@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_products_in_pieces_are_those_of_the_whole(layout, monkeypatch):
    monkeypatch.setattr(local, "PIECE_PRODUCTS", 10)
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((90, 40), density=0.3, rng=random).asformat(layout)
    M, B, C = LocalMatrix(X), random.random((40, 3)), random.random((90, 3))
    assert len(M._pieces(B)) > 2
    for _ in range(2):
        np.testing.assert_allclose(M.dot(B), X @ B, rtol=1e-12)
        np.testing.assert_allclose(M.T.cross(B), X @ B, rtol=1e-12)
        np.testing.assert_allclose(M.cross(C), X.T @ C, rtol=1e-12)
        np.testing.assert_allclose(M.T.dot(C), X.T @ C, rtol=1e-12)


def test_a_fit_has_the_same_bits_for_any_number_of_threads(monkeypatch):
    X = scipy.sparse.csr_array(make_coseparable(400, 300, 6, 6, 0.1, random_state=0)[0])
    monkeypatch.setattr(local, "PIECE_PRODUCTS", 1000)
    fits = []
    for count in (1, 2, 4):
        monkeypatch.setattr(threads, "number_of_threads", lambda count=count: count)
        model = CoSeparableNMF(6, 6).fit(X)
        fits.append((model.row_indices_, model.col_indices_, model.row_factor_, model.col_factor_, model.row_weights_))
    for other in fits[1:]:
        for one, two in zip(fits[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
