"""Search for the smallest ranks with about the smallest bi-cross-validation error."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil, log2

import numpy as np

from cosep.assess.bi_cross_validation import BiCrossValidation, Rank, Trial, standard_error
from cosep.utils.types import Callback

# An error is close to the smallest one if it exceeds that by less than this share of it, ...
MAX_ERROR_SHARE = 0.01
# ... and by less than this share of what the error falls from the smallest pair tried to there.
MAX_DROP_SHARE = 0.03


class RankSearch:
    """The pairs of ranks that were tried, and the next ones to try.

    Parameters
    ----------
    validation : BiCrossValidation
        Finds the errors of a pair.
    callback : callable or None
        Called as ``callback("rank", step, maximum number of steps, smallest error so far)``.
    """

    def __init__(self, validation: BiCrossValidation, callback: Callback | None) -> None:
        self.validation = validation
        self.callback = callback
        self.trials: dict[Rank, Trial] = {}
        self.steps = 0

    def try_default(self, bound: int) -> None:
        """Try some ranks for both sides, then those near the recommended one, then fewer rows or fewer columns."""
        coarse = sorted({min(round(2 ** (k / 2)), bound) for k in range(2 * ceil(log2(bound)) + 1)})
        halvings = ceil(log2(max([b - a for a, b in pairwise(coarse)], default=1)))
        max_pairs = len(coarse) + halvings + 2 * ceil(log2(bound))
        self.try_all([(r, r) for r in coarse], max_pairs)
        self._bisect([(r, r) for r in range(1, bound + 1)], halvings, max_pairs)
        r, _ = self.recommended()
        for path in ([(k, r) for k in range(1, r + 1)], [(r, k) for k in range(1, r + 1)]):
            self._bisect(path, ceil(log2(r)), max_pairs)

    def _bisect(self, path: list[Rank], halvings: int, max_pairs: int) -> None:
        """Try the middle between the recommended pair on an ascending path and the pair tried before it, repeatedly."""
        for _ in range(halvings):
            last = path.index(self.recommended(path))
            before = max([k for k in range(last) if path[k] in self.trials], default=-1)
            if last - before > 1:
                self.try_all([path[(last + before) // 2]], max_pairs)

    def try_all(self, ranks: Sequence[Rank], max_pairs: int) -> None:
        """Find the errors of each pair of ranks."""
        max_steps = max_pairs * self.validation.n_selections
        if not self.trials:
            self._report(max_steps)
        for rank, trial in self.validation.run(ranks):
            self.steps += 1
            if trial is not None:
                self.trials[rank] = trial
            self._report(max_steps)

    def _report(self, max_steps: int) -> None:
        if self.callback is not None:
            smallest = min((trial.error for trial in self.trials.values()), default=np.nan)
            self.callback("rank", self.steps, max_steps, smallest)

    def recommended(self, among: Iterable[Rank] | None = None) -> Rank:
        """Return the smallest pair, of those tried, whose error is close to the smallest one.

        Noise is a part of every error, however many rows and columns are selected. If there is much noise, a share of
        the error is more than all structure. What the error falls does not contain the noise.
        """
        tried = [rank for rank in (self.trials if among is None else among) if rank in self.trials]
        least = self.trials[self.best()].error
        drop = self.trials[self.smallest()].error - least
        most = least + min(MAX_ERROR_SHARE * least, MAX_DROP_SHARE * drop)
        enough = [rank for rank in tried if self.trials[rank].error <= most] or tried[-1:]
        return min(enough, key=lambda rank: (sum(rank), self.trials[rank].error, rank))

    def best(self) -> Rank:
        """Return the pair with the smallest error, and of those the smallest."""
        return min(self.trials, key=lambda rank: (self.trials[rank].error, sum(rank), rank))

    def smallest(self) -> Rank:
        """Return the smallest pair that was tried."""
        return min(self.trials, key=lambda rank: (sum(rank), rank))

    def error_still_falls(self) -> bool:
        """Return whether the largest ranks that were tried have clearly the smallest error."""
        chosen, best = self.recommended(), self.best()
        if not any(best[side] == max(rank[side] for rank in self.trials) for side in (0, 1)):
            return False
        difference = self.trials[chosen].errors - self.trials[best].errors
        return chosen == best or bool(difference.mean() > standard_error(difference))
