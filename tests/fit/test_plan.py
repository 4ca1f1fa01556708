from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from cosep import CoSeparableNMF, Pool, faithful, make_coseparable
from cosep.fit.checkpoint import Checkpoint
from cosep.fit.pipeline import fit
from cosep.fit.plan import Plan, make_plan
from cosep.matrix.to_row_blocks import row_blocks
from cosep.matrix.validation import as_matrix

X, TRUTH = make_coseparable(60, 40, 4, 4, noise=0.01, random_state=0)


def planned(*, in_blocks=False, col_names=None, **changes):
    parameters = CoSeparableNMF(4, 4, **changes).get_params(deep=False)
    del parameters["verbose"], parameters["missing"]
    return make_plan(X.shape, in_blocks=in_blocks, col_names=col_names, **parameters)


def test_a_plan_is_frozen_and_takes_keywords_only():
    plan = Plan(n_rows=4, n_cols=4, method=faithful)
    with pytest.raises(FrozenInstanceError):
        plan.n_rows = 5
    with pytest.raises(TypeError):
        Plan(4, 4, faithful)


def test_names_of_columns_become_positions():
    names = np.array([f"gene {j}" for j in range(40)])
    plan = planned(col_pool=Pool(include=["gene 7"]), row_pool=Pool(include=[2]), col_names=names)
    assert plan.options["col_pool"].include == [7]
    assert plan.row_pool.include == [2]
    assert "row_pool" not in plan.options


def test_a_seed_is_for_blocks_only():
    state = np.random.RandomState(3)
    before = state.get_state()[2]
    assert planned(random_state=state, method="xray").options["random_state"] is state
    assert state.get_state()[2] == before
    assert planned(random_state=None, in_blocks=True).seed == 0
    assert planned(random_state=5, in_blocks=True).seed == 5
    assert planned(random_state=5).seed is None


def test_a_checkpoint_of_the_caller_is_not_temporary(tmp_path):
    own = Checkpoint(tmp_path)
    assert planned(checkpoint=own, in_blocks=True).checkpoint is own
    assert not own.temporary
    assert planned(checkpoint=tmp_path, in_blocks=True).checkpoint.temporary


@pytest.mark.parametrize("matrix", [as_matrix(X), row_blocks(X)], ids=["memory", "blocks"])
def test_one_function_fits_both_places(matrix):
    result = fit(matrix, Plan(n_rows=4, n_cols=4, method=faithful))
    assert set(result.selection.row_indices) == set(TRUTH.row_indices)
    assert set(result.selection.col_indices) == set(TRUTH.col_indices)
    assert result.fidelity.refitted > 0.9996
    np.testing.assert_allclose(result.components, result.core @ result.col_factor)
