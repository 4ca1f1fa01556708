"""Blocks of rows that Dask evaluates: Dask arrays, data frames and delayed objects.

The only file that imports Dask. Every pass is one graph: a task for each block, which reads it and answers, and tasks
that merge answers. It runs on the current scheduler: threads, or the workers of a ``distributed.Client``. Blocks are
never kept, so that each thread needs the memory of one block, and results lost with a worker are computed again.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import itemgetter
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import dask
import dask.array
import numpy as np
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph
from dask.utils import ensure_dict
from numpy.typing import NDArray

from cosep.matrix.block import BlockError, Slot, facts, layout, unreadable
from cosep.matrix.merging import branches, chains, merged, tree
from cosep.matrix.row_blocks import Column, Progress, RowBlocks, RowNames, Task, ask, ask_next, typed
from cosep.utils.blas import one_blas_thread
from cosep.utils.extras import optional
from cosep.utils.messages import one_line, shown

# Prefix of the names of tasks for one block, which end with the number of the block.
LEAF = "cosep-block"
# Earlier results that tasks need are sent once to each worker; Dask warns only above this size.
LARGEST_STATE = "10GB"
# Timeout of a cluster.
TIMEOUT = "10s"
# Seconds between checks of the connection during a pass.
POLL = 1.0


class ClusterLostError(ConnectionError):
    """The scheduler of a cluster ended or was restarted, and its computations are lost."""


class DaskBlocks(RowBlocks):
    """A matrix in blocks of rows, evaluated by Dask. Its pieces are delayed objects, or functions as in `RowBlocks`."""

    def _reduced(self, task: Task, state: Any, asked: list[int], progress: Progress | None) -> Any:
        report = None if progress is None else _Reporting(progress)
        shared, runs = _shared(state), chains(asked)
        ask_block, merge = delayed(_asked, pure=False), delayed(_merged, pure=False)

        def leaf(k: int) -> Delayed:
            part = None
            for i in runs[k]:
                key = f"{LEAF}-{uuid4().hex}-{i}"
                part = ask_block(part, task, shared, self.slots[i], *self.groups[i], dask_key_name=key)
            return part

        tops = [tree(branch, leaf, lambda parts: merge(*parts)) for branch in branches(range(len(runs)))]
        try:
            return merged(_computed([_flat(top) for top in tops], len(asked), report))
        except (BlockError, ClusterLostError):
            raise
        except Exception as error:
            fatal = str(getattr(error, "task", ""))
            if fatal.startswith(LEAF):
                slot = self.slots[int(fatal.rpartition("-")[2])]
                msg = (
                    f"X: {slot.where()} ended every worker that was given it; it may "
                    "need more memory than a worker has: use smaller blocks, or larger workers."
                )
                raise BlockError(msg) from error
            if report is None or not report.failed:
                _name_unreadable([(list(self.groups[i]), self.slots[i]) for i in asked], error)
            raise

    def map_rows(self, task: Task, state: Any, columns: Sequence[Column]) -> tuple[Any, ...]:
        """Return Dask arrays of the results of all blocks; nothing is read until they are computed."""
        shared, leaf, name = _shared(state), delayed(_typed_answer, pure=False), f"cosep-answers-{uuid4().hex}"
        answers = [
            leaf(task, shared, slot, list(columns), *group, dask_key_name=(name, i))
            for i, (group, slot) in enumerate(zip(self.groups, self.slots, strict=True))
        ]
        tuples = dask.array.Array(_without_layers(*answers), name, (self.lengths,), dtype=object)
        return tuple(_column(tuples, k, column) for k, column in enumerate(columns))


def _without_layers(*collections: Delayed) -> dict[Any, Any]:
    """Return one plain graph: with a layer for each block, Dask would visit all blocks once per layer."""
    return dict(ensure_dict(HighLevelGraph.merge(*(one.dask for one in collections))))


def _flat(one: Delayed) -> Delayed:
    """Return the same object with a plain graph."""
    return Delayed(one.key, _without_layers(one))


def _column(tuples: Any, k: int, column: Column) -> Any:
    """Return the array of the k-th parts of tuples."""
    widths, axis = ((), None) if column.width is None else (((column.width,),), 1)
    chunks = (*tuples.chunks, *widths)
    meta = np.empty((0,) * len(chunks), dtype=column.dtype)
    return tuples.map_blocks(itemgetter(k), dtype=column.dtype, chunks=chunks, new_axis=axis, meta=meta)


class _Reporting:
    """A progress callback that remembers whether it failed."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.failed = False

    def __call__(self, done: int, count: int) -> None:
        try:
            self.progress(done, count)
        except BaseException:
            self.failed = True
            raise


def _name_unreadable(blocks: Iterable[tuple[list[Any], Slot]], cause: BaseException) -> None:
    """Raise the error that names the first block that cannot be read, if there is one."""
    for pieces, slot in blocks:
        for i, piece in enumerate(pieces):
            try:
                _computed([delayed(_nothing, pure=False)(piece)], 1, None)
            except ClusterLostError:
                raise
            except Exception as error:  # noqa: BLE001 - reading may raise anything
                raise unreadable(slot, error, i) from cause


# Pieces and answers are separate arguments: for each item of a list Dask would search the graph of all blocks.


def _asked(before: Any, task: Task, state: Any, slot: Slot, *pieces: Any) -> Any:
    return ask_next(before, task, state, list(pieces), slot)


def _typed_answer(task: Task, state: Any, slot: Slot, columns: Sequence[Column], *pieces: Any) -> tuple[Any, ...]:
    return typed(ask(task, state, list(pieces), Slot(*slot)), columns)


def _merged(*parts: Any) -> Any:
    return merged(parts)


def _together(*parts: Any) -> tuple[Any, ...]:
    return parts


def _nothing(piece: Any) -> None:
    """Discard what was read."""


def _shared(state: Any) -> Delayed:
    """Return an object that all tasks of a pass need as one node of the graph, not as a copy in each."""
    return delayed(state, name=f"cosep-state-{uuid4().hex}", traverse=False)


def _client() -> Any:
    """Return the client of the cluster that Dask computes on, None for threads."""
    distributed = sys.modules.get("distributed")
    scheduler = None if distributed is None else getattr(get_scheduler(), "__self__", None)
    return scheduler if distributed is not None and isinstance(scheduler, distributed.Client) else None


@contextmanager
def on_cluster(address: str) -> Iterator[None]:
    """Compute on the workers of the cluster whose scheduler has this address."""
    distributed = optional("distributed", "a scheduler", "dask")
    # Not as the default of the process, and made in two steps: a client that could not connect would stay the default,
    # or wait until the process ends and then fail to close.
    client = distributed.Client.__new__(distributed.Client)
    try:
        client.__init__(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        client.close()
        msg = f"scheduler={shown(address)} cannot be reached ({one_line(error, 150)}); name a running one, such as 'tcp://127.0.0.1:8786'."
        raise ValueError(msg) from error
    with client, dask.config.set(scheduler=client):
        yield


def _computed(tops: list[Delayed], count: int, progress: Progress | None) -> list[Any]:
    """Compute the branches of a tree; progress is reported by branch on a cluster, by block elsewhere."""
    client = _client()
    if client is None:
        with _reported(count, progress), one_blas_thread:
            return list(dask.compute(*tops))
    _check_connection(client)
    futures: list[Any] = []
    try:
        # Only if distributed is imported: its import inside this block would lose its own settings.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGEST_STATE}):
            futures = client.compute(tops)
        for done in _finished(client, futures):
            if progress is not None:
                progress(count * done // len(futures), count)
        return list(client.gather(futures))
    except ClusterLostError:
        raise
    except Exception as error:
        if _is_lost(client, futures):
            raise _lost(client) from error
        raise
    finally:
        if client.status == "running":
            client.cancel(futures)


def _finished(client: Any, futures: list[Any]) -> Iterator[int]:
    """Yield 1, 2, ... as futures finish; raise if the connection is lost meanwhile."""
    distributed, waiting = sys.modules["distributed"], set(futures)
    while waiting:
        with suppress(TimeoutError, distributed.TimeoutError, distributed.CancelledError):
            distributed.wait(waiting, timeout=POLL, return_when="FIRST_COMPLETED")
        if _is_lost(client, futures):
            raise _lost(client)
        for future in [one for one in waiting if one.done()]:
            waiting.discard(future)
            yield len(futures) - len(waiting)


def _check_connection(client: Any) -> None:
    """Raise if a client has lost its scheduler, or has a new one without workers."""
    try:
        scheduler = client.scheduler_info()["id"] if client.status == "running" else None
        if scheduler is not None and _SCHEDULERS.setdefault(client, scheduler) != scheduler:
            client.wait_for_workers(1, timeout=TIMEOUT)
            _SCHEDULERS[client] = scheduler
    except (TimeoutError, sys.modules["distributed"].TimeoutError, OSError) as error:
        raise _lost(client) from error
    if scheduler is None:
        raise _lost(client)


def _is_lost(client: Any, futures: list[Any]) -> bool:
    """Return whether the scheduler has ended, or was restarted and does not know the futures."""
    return client.status != "running" or any(future.cancelled() for future in futures)


def _lost(client: Any) -> ClusterLostError:
    address = getattr(client.scheduler, "address", "an unknown address")
    return ClusterLostError(
        f"The connection to the Dask scheduler at {address} was lost: it ended or was restarted. "
        "Connect a new Client to a running scheduler with workers and try again; the data are not the cause."
    )


# The scheduler that each client was connected to when it last computed.
_SCHEDULERS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def _reported(count: int, progress: Progress | None) -> Callback:
    """Return a Dask callback that reports how many tasks of blocks are done."""
    done = 0

    def posttask(key: Any, *_: Any) -> None:
        nonlocal done
        if progress is not None and str(key).startswith(LEAF):
            done += 1
            progress(done, count)

    return Callback(posttask=posttask)


def from_array(X: Any, col_names: NDArray[Any] | None = None, row_names: RowNames | None = None) -> DaskBlocks:
    """Return the blocks of a Dask array, whose chunks are ndarrays or scipy.sparse matrices."""
    if X.ndim != 2:
        msg = f"X must have two dimensions, got a Dask array of {X.ndim}; reshape it."
        raise ValueError(msg)
    if len(X.chunks[1]) > 1:
        msg = (
            f"X is a Dask array with {len(X.chunks[1])} chunks of columns, but a block must hold whole rows; "
            "use X.rechunk({1: -1}), with fewer rows per chunk if that needs too much memory."
        )
        raise ValueError(msg)
    pieces = list(X.to_delayed().ravel())
    lengths, n_cols = list(X.chunks[0]), X.shape[1]
    if np.isnan([*lengths, n_cols]).any():
        lengths, n_cols, _ = _measured(pieces)
    return DaskBlocks(pieces, lengths, n_cols, dtype=X.dtype, col_names=col_names, row_names=row_names)


def from_frame(X: Any) -> DaskBlocks:
    """Return the blocks of a Dask data frame, one for each partition, with the names of its columns."""
    pieces = X.to_delayed()
    lengths, n_cols, dtype = _measured(pieces)
    return DaskBlocks(pieces, lengths, n_cols, dtype=dtype, col_names=np.asarray(X.columns, dtype=object))


def from_pieces(pieces: Sequence[Any]) -> DaskBlocks:
    """Return the blocks of delayed objects."""
    pieces = [piece if isinstance(piece, Delayed) else delayed(piece, traverse=False) for piece in pieces]
    lengths, n_cols, dtype = _measured(pieces)
    return DaskBlocks(pieces, lengths, n_cols, dtype=dtype)


def _measured(pieces: Sequence[Delayed]) -> tuple[list[int], int, np.dtype[Any]]:
    """Return the number of rows of each piece, the number of columns and the type; all pieces are read."""
    slots = [Slot(0, 0, 0, (f"block {i}",)) for i in range(len(pieces))]
    asked = [delayed(facts, pure=False)(*pair) for pair in zip(pieces, slots, strict=True)]
    try:
        (found,) = _computed([_flat(delayed(_together, pure=False)(*asked))], 1, None)
    except (BlockError, ClusterLostError):
        raise
    except Exception as error:
        _name_unreadable((([piece], slot) for piece, slot in zip(pieces, slots, strict=True)), error)
        raise
    return layout(found)
