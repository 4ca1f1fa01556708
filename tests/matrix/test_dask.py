import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import dask
import dask.array as da
import numpy as np
import pytest

from cosep.matrix.block import BlockError
from cosep.matrix.dask import LEAF, DaskBlocks, from_array, from_pieces, on_cluster
from cosep.matrix.row_blocks import Column
from in_blocks import DATA, FORMATS, array, by_dask, chunked, failing, lengths_of, local, noted, piece, reads

X = DATA["counts"]


class Told(NamedTuple):
    """Sums of rows, and how they were merged."""

    total: np.ndarray
    text: str

    def merge(self, others):
        parts = (self, *others)
        return Told(sum(part.total for part in parts), f"({' '.join(part.text for part in parts)})")


def told(state, block, start):
    return Told(block.sums() * state, str(start))


def tripled(state, block, start):
    return block.take() * state, np.arange(start, start + block.shape[0])


def ending():
    os.kill(os.getpid(), signal.SIGKILL)


COLUMNS = [Column(X.shape[1], np.dtype(np.float32)), Column(None, np.dtype(np.intp))]


@pytest.mark.parametrize("make", [by_dask, chunked])
@pytest.mark.parametrize(("count", "ragged"), [(9, True), (70, False)])
def test_answers_rows_and_long_arrays_are_those_of_local_blocks_bit_for_bit(make, count, ragged, scheduler):
    if scheduler != "threads" and count == 70:
        pytest.skip("as with fewer blocks")
    lengths = lengths_of(len(X), count, ragged=ragged)
    name = {9: "dense", 70: "coo"}[count]
    blocks, twin = make(X, lengths, FORMATS[name]), local(X, lengths, FORMATS[name])
    answer, expected = blocks.reduce(told, 0.1), twin.reduce(told, 0.1)
    assert answer.text == expected.text
    np.testing.assert_array_equal(answer.total, expected.total)
    wanted = np.array([7, 899, 0, 450])
    np.testing.assert_array_equal(blocks.rows(wanted).take(), X[wanted])
    for lazy, long in zip(blocks.map_rows(tripled, 3.0, COLUMNS), twin.map_rows(tripled, 3.0, COLUMNS), strict=True):
        assert lazy.dtype == long.dtype
        assert lazy.chunks[0] == tuple(length for length in lengths if length)
        np.testing.assert_array_equal(lazy.compute(), long)


def test_answers_of_many_blocks_are_added_up_in_the_same_turns(monkeypatch):
    monkeypatch.setattr("cosep.matrix.merging.MOST_PARTS", 3)
    lengths, seen = lengths_of(len(X), 10), []
    answer = by_dask(X, lengths).reduce(told, 0.1, progress=lambda *step: seen.append(step))
    expected = local(X, lengths).reduce(told, 0.1)
    assert answer.text == expected.text == "((((0 90) 180) 270) (((360 450) 540) 630) (720 810))"
    np.testing.assert_array_equal(answer.total, expected.total)
    assert seen == [(i, 10) for i in range(1, 11)]


def test_a_graph_has_few_layers_however_many_blocks():
    for lazy in chunked(X, lengths_of(len(X), 90)).map_rows(tripled, 3.0, COLUMNS):
        assert len(lazy.dask.layers) == 2


def test_nothing_is_read_before_an_array_is_computed(tmp_path):
    one = dask.delayed(partial(noted, tmp_path, X, "x"))()
    blocks = from_array(da.from_delayed(one, X.shape, X.dtype))
    lazy, positions = blocks.map_rows(tripled, 3.0, COLUMNS)
    assert reads(tmp_path) == 0
    dask.compute(lazy, positions)
    assert reads(tmp_path) == 1


def test_progress_ends_with_all_blocks_and_never_falls(scheduler):
    seen = []
    by_dask(X, lengths_of(len(X), 20)).reduce(told, 1.0, progress=lambda *step: seen.append(step))
    done = [step for step, _ in seen]
    assert {count for _, count in seen} == {20}
    assert done == sorted(done)
    assert done[-1] == 20
    assert len(done) > 1
    if scheduler != "cluster":
        assert done == list(range(1, 21))


@pytest.mark.usefixtures("scheduler")
@pytest.mark.parametrize("kind", ["function", "delayed"])
def test_a_block_that_cannot_be_read_is_named(kind):
    lengths = lengths_of(len(X), 5)
    blocks = by_dask(X, lengths, names=[f"part-{i}" for i in range(5)])
    groups = list(blocks.groups)
    groups[3] = (partial(failing, "bad sector"),)
    if kind == "delayed":
        groups = [tuple(dask.delayed(one)() for one in group) for group in groups]
    blocks.groups = tuple(groups)
    with pytest.raises(BlockError, match=r"part-3 \(rows 540 to 719\) cannot be read \(bad sector\)"):
        blocks.reduce(told, 1.0)
    coarse = blocks.coarsened()
    assert len(coarse.groups) == 1
    with pytest.raises(BlockError, match=r"part-3 \(within rows 0 to 899\) cannot be read \(bad sector\)"):
        coarse.reduce(told, 1.0)


@pytest.mark.usefixtures("scheduler")
@pytest.mark.parametrize("value", [np.nan, -1.0])
def test_a_bad_entry_is_found_in_its_block(value):
    bad = X.copy()
    bad[400, 3] = value
    with pytest.raises(BlockError, match=r"block 2 \(rows 360 to 539\) is bad"):
        chunked(bad, lengths_of(len(X), 5)).reduce(told, 1.0)


def test_a_failing_callback_reads_nothing_again(tmp_path):
    pieces = [dask.delayed(partial(noted, tmp_path, X, "x"))() for _ in range(30)]
    blocks = DaskBlocks(pieces, [len(X)] * 30, X.shape[1])

    def stop(*_step):
        msg = "enough"
        raise KeyError(msg)

    with dask.config.set(scheduler="synchronous"), pytest.raises(KeyError, match="enough"):
        blocks.reduce(told, 1.0, progress=stop)
    assert reads(tmp_path) == 1


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")  # of older Dask
@pytest.mark.usefixtures("client")
def test_a_scheduler_that_was_asked_for_comes_before_the_cluster():
    def process(_state, _block, _start):
        return os.getpid()

    blocks = by_dask(X, [len(X)])
    assert blocks.reduce(process) != os.getpid()
    with dask.config.set(scheduler="threads"):
        assert blocks.reduce(process) == os.getpid()


def test_a_block_that_ends_every_worker_is_named(client):
    def allow(failures, dask_scheduler=None):
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, failures
        return before

    blocks = by_dask(X, lengths_of(len(X), 5))
    blocks.groups = (*blocks.groups[:3], (ending,), blocks.groups[4])
    before = client.run_on_scheduler(allow, 0)
    try:
        with pytest.raises(BlockError, match=r"block 3 \(rows 540 to 719\) ended every worker .* smaller blocks"):
            blocks.reduce(told, 1.0, only=[3])  # alone: at the first death all that the worker had would be to blame
    finally:
        client.run_on_scheduler(allow, before)


def test_nothing_stays_on_the_workers(client):
    by_dask(X, lengths_of(len(X), 12)).reduce(told, 1.0)
    for _ in range(100):  # what is cancelled goes within a moment
        held = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
        held = [key for key in held if key.startswith((LEAF, "cosep-state"))]
        if not held:
            break
        time.sleep(0.05)
    assert not held


def test_blocks_of_unknown_size_are_measured():
    kept = X[:, 0] > 0
    blocks = from_array(array(X, lengths_of(len(X), 6))[da.from_array(kept, chunks=150)])
    assert blocks.shape == (kept.sum(), X.shape[1])
    np.testing.assert_array_equal(blocks.rows(np.arange(kept.sum())).take(), X[kept])


def test_pieces_may_be_delayed_functions_or_here_already():
    blocks = from_pieces([dask.delayed(X[:300]), partial(piece, X[300:310]), X[310:]])
    assert blocks.lengths == (300, 10, 590)
    np.testing.assert_array_equal(blocks.rows(np.arange(len(X))).take(), X)
    assert from_pieces([dask.delayed(X.astype(np.float32))]).dtype == np.float32


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (da.ones(5), "two dimensions"),
        (da.ones((5, 5, 5)), "two dimensions"),
        (da.ones((6, 6), chunks=(6, 3)), r"rechunk\(\{1: -1\}\)"),
        (da.ones((0, 6)), "no rows"),
        (da.ones((6, 0)), "no columns"),
    ],
)
def test_arrays_that_are_no_blocks_of_rows_are_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        from_array(bad)


@pytest.mark.usefixtures("scheduler")
def test_pieces_of_different_widths_or_unreadable_ones_are_refused():
    with pytest.raises(ValueError, match="same columns"):
        from_pieces([dask.delayed(X), dask.delayed(X[:, :4])])
    with pytest.raises(BlockError, match="block 1 cannot be read"):
        from_pieces([dask.delayed(X), dask.delayed(failing)("gone")])


LOST = """
import socket, subprocess, sys, time
from pathlib import Path
from threading import Thread

import dask
import distributed
import numpy as np

from cosep import CoSeparableNMF, row_blocks
from cosep.matrix import dask as room

room.PATIENCE = "2s"
started = []

def start(*words):
    quiet = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
    started.append(subprocess.Popen([sys.executable, "-m", *words, *quiet], stderr=subprocess.DEVNULL))
    return started[-1]

def block(k, begun=None):
    if begun is not None:
        Path(begun).touch()
        time.sleep(100)
    return np.random.default_rng(k).random((50, 6))

def told():
    try:
        return CoSeparableNMF(2, 2).fit(row_blocks(pieces)).sample_factorization_.shape[1]
    except room.ClusterLostError as error:
        return f"lost: {error}"

def kill(begun):
    while not begun.exists():
        time.sleep(0.05)
    scheduler.kill()

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
address = f"tcp://127.0.0.1:{port}"
try:
    scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port))
    start("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny")
    client = distributed.Client(address, timeout=60)
    client.wait_for_workers(1, timeout=60)
    begun = Path(sys.argv[1], "begun")
    pieces = [dask.delayed(block)(k, str(begun) if k else None) for k in range(2)]
    Thread(target=kill, args=(begun,), daemon=True).start()
    print(told())
    start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port))
    while client.status != "running":
        time.sleep(0.05)
    pieces = [dask.delayed(block)(k) for k in range(2)]
    print(told())
    start("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny")
    client.wait_for_workers(1, timeout=60)
    print(told())
finally:
    for process in started:
        process.kill()
    client.close(timeout=1)
"""


def test_a_scheduler_that_cannot_be_reached_does_not_become_the_default(monkeypatch):
    """An old version of distributed kept such a client, and later passes were told that the scheduler was lost."""
    pytest.importorskip("distributed")
    monkeypatch.setattr("cosep.matrix.dask.TIMEOUT", 0.2)
    with (
        pytest.raises(ValueError, match=r"scheduler=.* cannot be reached"),
        on_cluster("tcp://127.0.0.1:1"),
    ):
        pass
    assert by_dask(X, [X.shape[0]]).reduce(told, 1).total.tolist() == X.sum(axis=0).tolist()


def test_a_client_that_could_not_connect_does_not_keep_the_process_from_ending():
    """It was closed when the process ended, which took 20 seconds and left a traceback."""
    pytest.importorskip("distributed")
    code = """
from cosep.matrix.dask import on_cluster
try:
    on_cluster("nowhere").__enter__()
except ValueError as error:
    kept = error
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'nowhere' cannot be reached" in run.stdout
    assert run.stderr == ""


def test_a_scheduler_that_ends_or_starts_anew_is_said_to_be_lost_and_not_waited_for(tmp_path):
    pytest.importorskip("distributed")
    program = [sys.executable, "-W", "ignore", "-c", LOST, str(tmp_path)]
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        try:
            told, errors = running.communicate(timeout=240)
        finally:
            with suppress(ProcessLookupError):  # the schedulers and workers that it started, if it could not end them
                os.killpg(running.pid, signal.SIGKILL)
    lines = told.splitlines()
    assert len(lines) == 3, errors
    for line in lines[:2]:
        assert re.fullmatch(r"lost: The connection to the Dask scheduler at tcp://127.0.0.1:\d+ was lost: .*", line)
        assert "the data are not the cause" in line
    assert lines[2] == "6"
