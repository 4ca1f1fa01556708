"""The estimators, as scikit-learn users expect them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cosep import CoSeparableNMF, SeparableNMF
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS

CHECKED = [
    *[CoSeparableNMF(n_rows=r, n_cols=2, method=method) for r in (2, 3) for method in BOTH_SELECTORS],
    *[SeparableNMF(n_components=2, method=m, axis=a) for m in COLUMN_SELECTORS for a in ("columns", "rows")],
]


# Some checks pass data with two features, where two rows explain all others, or so sparse that rows and columns do
# not meet; the warnings about it are right.
@pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")
@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)
