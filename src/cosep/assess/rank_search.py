"""Search for the smallest ranks that no larger ones add to."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil, log2

import numpy as np

from cosep.assess.bi_cross_validation import BiCrossValidation, Rank, level_of
from cosep.assess.predictions import Trial, cosines, standard_error
from cosep.utils.types import Callback

# A larger pair adds something if what it changes explains at least this share of what is left, and twice as much if it
# has more rows and more columns, ...
MIN_SHARE = 0.007
# ... and if the mean cosine of both is more than this many standard errors above zero.
MIN_STANDARD_ERRORS = 4.0


class RankSearch:
    """The pairs of ranks that were tried, and the next ones to try.

    Parameters
    ----------
    validation : BiCrossValidation
        Predicts all blocks for a pair.
    callback : callable or None
        Called as ``callback("rank", step, maximum number of steps, smallest error so far)``.
    """

    def __init__(self, validation: BiCrossValidation, callback: Callback | None) -> None:
        self.validation = validation
        self.callback = callback
        self.trials: dict[Rank, Trial] = {}
        self.steps = 0
        self._added: dict[tuple[Rank, Rank], bool] = {}

    def try_default(self, bound: int) -> None:
        """Try some ranks for both sides, then those near the recommended one, then fewer rows or fewer columns.

        Larger ranks are tried as long as the recommended one, or that with the smallest error, is among the larger half
        of those tried.
        """
        coarse = sorted({min(round(2 ** (k / 2)), bound) for k in range(2 * ceil(log2(bound)) + 1)})
        halvings = ceil(log2(max([b - a for a, b in pairwise(coarse)], default=1)))
        levels = sorted({level_of(r) for r in coarse})
        max_calls = len(levels) + halvings + 2 * ceil(log2(bound))
        for level in levels:
            self.try_all([(r, r) for r in coarse if level_of(r) == level], max_calls)
            if 2 * max(self.recommended()[0], self.best()[0]) <= level:
                break
        self._bisect([(r, r) for r in range(1, bound + 1)], halvings, max_calls)
        r, _ = self.recommended()
        for path in ([(k, r) for k in range(1, r + 1)], [(r, k) for k in range(1, r + 1)]):
            self._bisect(path, ceil(log2(r)), max_calls)

    def _bisect(self, path: list[Rank], halvings: int, max_calls: int) -> None:
        """Try the middle between the recommended pair on an ascending path and the pair tried before it, repeatedly."""
        for _ in range(halvings):
            last = path.index(self.recommended(path))
            before = max([k for k in range(last) if path[k] in self.trials], default=-1)
            if last - before > 1:
                self.try_all([path[(last + before) // 2]], max_calls)

    def try_all(self, ranks: Sequence[Rank], max_calls: int) -> None:
        """Predict all blocks for each pair of ranks."""
        max_steps = max_calls * self.validation.n_sides
        if not self.trials:
            self._report(max_steps)
        selected = False
        for found in self.validation.run(ranks):
            if found is not None:
                self.trials[found[0]] = found[1]
                continue
            if selected:
                self._advance(max_steps)
            selected = True
        if selected:  # the last step is reported with the new errors
            self._advance(max_steps)

    def _advance(self, max_steps: int) -> None:
        self.steps += 1
        self._report(max_steps)

    def _report(self, max_steps: int) -> None:
        if self.callback is not None:
            smallest = min((trial.error for trial in self.trials.values()), default=np.nan)
            self.callback("rank", self.steps, max_steps, smallest)

    def recommended(self, among: Iterable[Rank] | None = None) -> Rank:
        """Return the smallest pair, of those tried, to which no larger one adds anything."""
        tried = [rank for rank in (self.trials if among is None else among) if rank in self.trials]
        ascending = sorted(tried, key=lambda rank: (sum(rank), self.trials[rank].error, rank))
        return next((rank for rank in ascending if self._is_enough(rank)), ascending[-1])

    def _is_enough(self, rank: Rank) -> bool:
        """Return whether no larger pair that was tried adds anything."""
        larger = [other for other in self.trials if other != rank and min(np.subtract(other, rank)) >= 0]
        return not any(self._adds(rank, other) for other in sorted(larger, key=sum))

    def _adds(self, rank: Rank, other: Rank) -> bool:
        """Return whether a larger pair explains something that the smaller one leaves.

        The error would not tell: what a larger pair adds is estimated from noisy data, and it can be there although its
        estimate is so noisy that the error rises. Its correlation with what is left does not suffer from its noise.
        """
        if (rank, other) not in self._added:
            found = cosines(self.trials[rank], self.trials[other])
            n_sides = np.count_nonzero(np.subtract(other, rank))
            least = max(np.sqrt(MIN_SHARE * n_sides), MIN_STANDARD_ERRORS * standard_error(found))
            self._added[rank, other] = bool(found.mean() > least) if len(found) else False
        return self._added[rank, other]

    def best(self) -> Rank:
        """Return the pair with the smallest error, and of those the smallest."""
        return min(self.trials, key=lambda rank: (self.trials[rank].error, sum(rank), rank))

    def smallest(self) -> Rank:
        """Return the smallest pair that was tried."""
        return min(self.trials, key=lambda rank: (sum(rank), rank))

    def may_be_too_small(self) -> bool:
        """Return whether larger pairs than all that were tried may be better."""
        chosen, best = self.recommended(), self.best()
        largest = [max(rank[side] for rank in self.trials) for side in (0, 1)]
        difference = self.trials[chosen].errors - self.trials[best].errors
        falls = bool(difference.mean() > standard_error(difference))
        return any(chosen[side] == largest[side] or (falls and best[side] == largest[side]) for side in (0, 1))
