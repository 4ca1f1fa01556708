"""The search for ranks, with artificial errors."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cosep import faithful
from cosep.assess.bi_cross_validation import BiCrossValidation, Trial
from cosep.assess.rank import LARGEST_DEFAULT_RANK
from cosep.assess.rank_search import RankSearch
from cosep.matrix.validation import as_matrix


def test_default_ranks_reach_every_planted_one_at_the_announced_cost():
    for bound in range(1, LARGEST_DEFAULT_RANK + 1):
        search = RankSearch(BiCrossValidation(as_matrix(np.ones((4, 4))), faithful, 0, None), None)

        allowed = []

        def pretend(ranks, max_pairs, search=search, planted=bound, allowed=allowed):
            allowed.append(max_pairs)
            for one in ranks:
                lost = max(planted - one[0], 0) + max(planted - one[1], 0)
                search.trials[one] = Trial(np.full(4, 0.1 + lost), 1.0)

        search.try_all = pretend
        search.try_default(LARGEST_DEFAULT_RANK)
        assert search.recommended() == (bound, bound)
        assert len(search.trials) <= min(allowed)


@given(st.integers(1, 8), st.floats(4.0, 100.0), st.randoms(use_true_random=False))
def test_noise_that_no_rank_explains_does_not_matter(planted, noise, random):
    """An error that all ranks share, and that is larger than what they explain, does not change the recommendation."""
    structure = sorted((random.uniform(0.02, 1.0) for _ in range(planted)), reverse=True)
    found = []
    for floor in (4.0, noise):
        search = RankSearch(None, None)
        for r in range(1, 13):
            missed = sum(structure[r:]) / sum(structure)
            search.trials[r, r] = Trial(np.full(16, floor + missed), 1.0)
        found.append(search.recommended())
    assert found[0] == found[1]
    assert sum(structure[found[0][0] :]) <= 0.03 * sum(structure[1:]) + 1e-9
