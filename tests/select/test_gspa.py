"""GSPA: the same choice as on the residual itself."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep import SelectionWarning, gspa, spa
from oracles import successive_residuals


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(5, 15), st.integers(5, 15)),
    sizes=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    form=st.sampled_from([np.asarray, scipy.sparse.csr_array]),
)
def test_rows_and_columns_are_those_of_the_plain_algorithm(seed, shape, sizes, form):
    X = np.random.default_rng(seed).gamma(0.5, size=shape)
    chosen = gspa(form(X), n_rows=sizes[0], n_cols=sizes[1])
    assert (chosen.row_indices.tolist(), chosen.col_indices.tolist()) == successive_residuals(X, *sizes)


@pytest.mark.parametrize("normalize", [True, False])
def test_columns_alone_are_those_of_spa(normalize):
    X = np.random.default_rng(0).gamma(0.5, size=(15, 20))
    chosen = gspa(X, n_rows=0, n_cols=5, normalize=normalize)
    assert chosen.row_indices is None
    np.testing.assert_array_equal(chosen.col_indices, spa(X, 5, normalize=normalize).col_indices)


def test_what_is_explained_is_not_chosen_again():
    X = np.outer(np.arange(1.0, 8.0), np.arange(1.0, 6.0))
    with pytest.warns(SelectionWarning, match="Only 1 of the 4 rows and columns"):
        chosen = gspa(X, 4)
    assert (chosen.row_indices is None) != (chosen.col_indices is None)
