"""The search for ranks, with artificial errors."""

import numpy as np

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
