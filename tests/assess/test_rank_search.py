"""The search for ranks, with artificial predictions."""

import numpy as np
import pytest

from cosep import faithful
from cosep.assess.bi_cross_validation import BiCrossValidation, level_of
from cosep.assess.predictions import Prediction, Trial
from cosep.assess.rank import LARGEST_DEFAULT_RANK
from cosep.assess.rank_search import RankSearch
from cosep.matrix.validation import as_matrix


def predicted(blocks, *parts):
    """Return a trial that predicts each block by the sum of some parts."""
    predictions = []
    for k, block in enumerate(blocks):
        P = sum((part[k] for part in parts), np.zeros_like(block))
        predictions.append(Prediction(P, np.eye(P.shape[1]), float(np.vdot(block, P)), float(np.vdot(block, block))))
    errors = np.array([np.sqrt(max(one.left(), 0.0) / one.total) for one in predictions])
    return Trial(np.maximum(errors, 1e-4), 1.0, tuple(predictions))


def blocks_of(seed, *scales):
    """Return sums of random blocks, and what they are the sums of, with these scales."""
    random = np.random.default_rng(seed)
    parts = [scale * random.standard_normal((16, 12, 9)) for scale in scales]
    return sum(parts), parts


@pytest.mark.parametrize("planted", range(1, LARGEST_DEFAULT_RANK + 1))
def test_default_ranks_reach_every_planted_one_at_the_announced_cost(planted):
    blocks, _ = blocks_of(0, 1.0)
    search = RankSearch(BiCrossValidation(as_matrix(np.ones((4, 4))), faithful, 0, None), None)
    announced, calls = [], []

    def pretend(ranks, max_calls):
        announced.append(max_calls)
        calls.append(ranks)
        for one in ranks:
            known = min(one[0], planted) + min(one[1], planted)
            search.trials[one] = predicted(blocks, known / (2 * planted) * blocks)

    search.try_all = pretend
    search.try_default(LARGEST_DEFAULT_RANK)
    assert search.recommended() == (planted, planted)
    assert len(calls) <= min(announced)
    assert max(max(rank) for rank in search.trials) <= 2 * level_of(planted)


def test_structure_is_found_although_its_estimate_is_so_noisy_that_the_error_rises():
    blocks, (first, weak, _) = blocks_of(0, 3.0, 0.5, 1.0)
    _, (noise,) = blocks_of(1, 0.7)
    search = RankSearch(None, None)
    search.trials = {(1, 1): predicted(blocks, first), (2, 2): predicted(blocks, first, weak, noise)}
    assert search.best() == (1, 1)
    assert search.recommended() == (2, 2)


def test_noise_adds_nothing():
    blocks, (first, _) = blocks_of(0, 3.0, 1.0)
    _, noises = blocks_of(1, *np.full(9, 0.3))
    search = RankSearch(None, None)
    for r in range(1, 10):
        search.trials[r, r] = predicted(blocks, first, *noises[:r])
    assert search.recommended() == (1, 1)
    assert not search.may_be_too_small()


def test_what_is_added_to_one_side_is_found():
    blocks, (first, second, _) = blocks_of(0, 1.0, 0.6, 0.3)
    search = RankSearch(None, None)
    whole = predicted(blocks, first, second)
    search.trials = {(3, 3): predicted(blocks, first), (3, 5): whole, (5, 3): predicted(blocks, first), (5, 5): whole}
    assert search.recommended() == (3, 5)
    assert search.may_be_too_small()
