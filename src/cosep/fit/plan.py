"""The plan of a fit: its parameters, checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from cosep.fit.checkpoint import Checkpoint
from cosep.fit.pools import check_row_pool, pool_by_position
from cosep.fit.preselect_sizes import check_preselect_pair
from cosep.matrix.checks import (
    check_callback,
    check_count,
    check_number,
    check_positive,
    check_random,
    check_seed,
)
from cosep.matrix.scaling import POWERS, check_scaling, check_weights
from cosep.records.selection import Selection
from cosep.select import BOTH_SELECTORS
from cosep.select.method import Method, method_named, options_for
from cosep.select.pool import Pool
from cosep.solve.alternation import Budget
from cosep.utils.messages import shown
from cosep.utils.types import Array, Callback


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """The checked parameters of a fit; `make_plan` checks them.

    Attributes
    ----------
    n_rows, n_cols : int
        How many rows and columns to select.
    method : callable
        The selector, ``(X, n_rows, n_cols, **options) -> Selection``.
    method_name : str or None
        The name of the selector; None for a function of the user.
    options : mapping
        Keyword arguments of the selector: its column pool, callback and random state, as far as it takes them.
    row_pool : Pool or None
        Which rows may and must be selected, by position.
    scaling : str, tuple of two ndarray, or None
        The norm of the model: its name, or factors of rows and columns; None for the plain norm.
    weights : ndarray or None
        Weights of the rows; None if all are 1.
    n_candidate_rows, n_candidate_cols : int or None
        How many candidates to preselect; None for all. In blocks only columns are preselected.
    sample_size : int or None
        In blocks: how many rows to sample; None for the default.
    seed : int or None
        In blocks: the seed of the sample.
    max_iter : int
        Largest number of alternations of the fit.
    tol : float
        The fit stops when an alternation lowers the squared error by less than ``tol`` times the squared norm of X.
    callback : callable or None
        Called as ``callback(stage, step, n_steps, relative_error)``.
    checkpoint : Checkpoint or None
        In blocks: the folder that keeps the results of passes.
    col_names : ndarray of str or None
        Names of the columns, for the records of the result.
    """

    n_rows: int
    n_cols: int
    method: Callable[..., Selection]
    method_name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    row_pool: Pool | None = None
    scaling: str | tuple[Array, Array] | None = None
    weights: Array | None = None
    n_candidate_rows: int | None = None
    n_candidate_cols: int | None = None
    sample_size: int | None = None
    seed: int | None = None
    max_iter: int = 100
    tol: float = 3e-5
    callback: Callback | None = None
    checkpoint: Checkpoint | None = None
    col_names: NDArray[Any] | None = None

    @property
    def mix_budget(self) -> Budget:
        """When the fit of the factors stops."""
        return Budget("mix", self.max_iter, self.tol, self.callback)


def make_plan(  # noqa: PLR0913 - the parameters of a model
    shape: tuple[int, int],
    *,
    in_blocks: bool,
    col_names: NDArray[Any] | None,
    n_rows: Any,
    n_cols: Any,
    method: Method,
    scaling: Any,
    preselect: Any,
    sample_size: Any,
    max_iter: Any,
    tol: Any,
    random_state: Any,
    row_pool: Any,
    col_pool: Any,
    callback: Any,
    checkpoint: Any,
    sample_weight: Any = None,
) -> Plan:
    """Check the parameters of `CoSeparableNMF` for a matrix of this shape, in memory or in blocks of rows."""
    n_rows = check_count(n_rows, "n_rows", shape[0], "n_samples")
    n_cols = check_count(n_cols, "n_cols", shape[1], "n_features")
    check_callback(callback)
    check_random(random_state)
    candidates = check_preselect_pair(preselect, n_rows, n_cols)
    if in_blocks:
        _check_for_blocks(scaling, preselect, candidates[0])
    else:
        _check_for_memory(sample_size, checkpoint)
    seed = check_seed(random_state) if in_blocks else None
    row_pool = pool_by_position(row_pool, None, "row_pool")
    col_pool = pool_by_position(col_pool, col_names, "col_pool")
    state = random_state if seed is None else seed
    if in_blocks:
        check_row_pool(row_pool, n_rows, shape[0])
    return Plan(
        n_rows=n_rows,
        n_cols=n_cols,
        **_check_method(method, row_pool=row_pool, col_pool=col_pool, callback=callback, random_state=state),
        scaling=check_scaling(scaling, shape, POWERS if in_blocks else None),
        weights=check_weights(sample_weight, shape[0]),
        n_candidate_rows=candidates[0],
        n_candidate_cols=candidates[1],
        sample_size=_check_sample_size(sample_size, n_rows),
        seed=seed,
        max_iter=check_positive(max_iter),
        tol=check_number(tol, "tol", 0.0),
        callback=callback,
        checkpoint=_as_checkpoint(checkpoint),
        col_names=col_names,
    )


def _check_method(method: Method, **options: Any) -> dict[str, Any]:
    """Return the fields of a plan about the selector: itself, its name, and those options that it takes."""
    selector = method_named(method, BOTH_SELECTORS, "X", "n_rows", "n_cols")
    taken = options_for(selector, **options)
    return {
        "method": selector,
        "method_name": method if isinstance(method, str) else None,
        "options": {name: option for name, option in taken.items() if name != "row_pool"},
        "row_pool": options["row_pool"],
    }


def _check_for_memory(sample_size: Any, checkpoint: Any) -> None:
    """Raise ValueError for parameters that apply to blocks of rows only."""
    for name, value, use in (
        ("sample_size", sample_size, "is the number of rows sampled from blocks of rows"),
        ("checkpoint", checkpoint, "keeps passes over blocks of rows"),
    ):
        if value is not None:
            msg = f"{name}={shown(value)} {use}, but X is in memory; drop it, or fit cosep.row_blocks(X)."
            raise ValueError(msg)


def _check_for_blocks(scaling: Any, preselect: Any, n_candidate_rows: int | None) -> None:
    """Raise ValueError for a norm and for candidate rows that only a matrix in memory can have."""
    if isinstance(scaling, str) and scaling == "sinkhorn":
        msg = (
            "scaling='sinkhorn' needs a pass over X for every round, too many for blocks of rows; use 'degree', or "
            "pass X in memory."
        )
        raise ValueError(msg)
    if n_candidate_rows is not None:
        msg = (
            f"preselect={shown(preselect)} asks for candidate rows, but rows of blocks are sampled; use sample_size "
            "for the number of rows, and preselect=(None, n) for n candidate columns."
        )
        raise ValueError(msg)


def _check_sample_size(value: Any, n_rows: int) -> int | None:
    if value is None:
        return None
    size = check_positive(value, "sample_size")
    if size < n_rows:
        msg = f"sample_size={size} must be at least n_rows={n_rows}; sample more rows, or select fewer."
        raise ValueError(msg)
    return size


def _as_checkpoint(checkpoint: Any) -> Checkpoint | None:
    """Return a checkpoint; one made here from a path is removed when the fit is complete."""
    if checkpoint is None or isinstance(checkpoint, Checkpoint):
        return checkpoint
    return Checkpoint(checkpoint, temporary=True)
