"""The number of threads of BLAS inside a fit, and after it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, get_ident

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from cosep import CoSeparableNMF, make_coseparable
from cosep.matrix import local
from cosep.matrix.validation import as_matrix
from cosep.utils import blas
from cosep.utils.blas import all_blas_threads, one_blas_thread


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_a_small_problem_has_one_thread_and_the_number_before_comes_back():
    assert blas_threads() == {2}
    with one_blas_thread:
        with one_blas_thread:
            assert blas_threads() == {1}
        assert blas_threads() == {1}
        with all_blas_threads:
            assert blas_threads() == {2}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_an_error_does_not_keep_the_limit():
    def fails():
        with one_blas_thread:
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert blas_threads() == {2}


def test_the_limit_lasts_until_the_last_of_several_threads_ends():
    both, first_ended = Barrier(2), Barrier(2)

    def short():
        with one_blas_thread:
            both.wait(30)
        first_ended.wait(30)

    def long():
        with one_blas_thread:
            both.wait(30)
            first_ended.wait(30)
            return blas_threads()

    with ThreadPoolExecutor(2) as pool:
        pool.submit(short)
        assert pool.submit(long).result(30) == {1}
    assert blas_threads() == {2}


class OpenMP:
    """A stand-in for a library whose number of threads belongs to each thread of Python."""

    threading_layer = "openmp"

    def __init__(self):
        self.numbers = {}

    @property
    def num_threads(self):
        return self.numbers.get(get_ident(), 4)

    def set_num_threads(self, number):
        self.numbers[get_ident()] = number


def test_with_openmp_every_thread_has_its_own_limit(monkeypatch):
    library = OpenMP()
    threads = blas._Threads()
    threads.openmp = [library]
    monkeypatch.setattr(blas, "_created", lambda: threads)

    def limited():
        with one_blas_thread:
            inside = library.num_threads
        return inside, library.num_threads

    with one_blas_thread, ThreadPoolExecutor(1) as pool:
        assert pool.submit(limited).result(30) == (1, 4)
        assert library.num_threads == 1
    assert library.num_threads == 4


def test_a_fit_uses_one_thread_and_restores_the_number():
    seen = []
    X, _ = make_coseparable(60, 40, 4, 4, noise=0.1, random_state=0)
    CoSeparableNMF(4, 4, callback=lambda *_: seen.append(blas_threads())).fit(X)
    assert seen
    assert all(threads == {1} for threads in seen)
    assert blas_threads() == {2}


def test_a_product_with_a_large_dense_matrix_has_all_threads(monkeypatch):
    seen = []

    class Watched(np.ndarray):
        def __matmul__(self, other):
            seen.append(blas_threads())
            return np.asarray(self) @ other

    M = as_matrix(np.ones((20, 10)))
    monkeypatch.setattr(M, "_values", M.raw.view(Watched))
    for limit in (200, 201):
        monkeypatch.setattr(local, "LARGE_ENTRIES", limit)
        with one_blas_thread:
            M.dot(np.ones((10, 2)))
    assert seen == [{2}, {1}]


def test_fits_in_several_threads_have_the_answers_of_one_after_the_other():
    data = [make_coseparable(50, 30, 3, 3, noise=0.1, random_state=seed)[0] for seed in range(6)]
    alone = [CoSeparableNMF(3, 3).fit(X).row_factor_ for X in data]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda X: CoSeparableNMF(3, 3).fit(X).row_factor_, data))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
    assert blas_threads() == {2}
