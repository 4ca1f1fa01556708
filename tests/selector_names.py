"""Names of selectors by what they promise, derived from the dicts of `cosep.select`."""

from inspect import signature

from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS

# These choose by least squares, for which any columns that span will do: they need not find the planted ones.
BY_LEAST_SQUARES = {"greedy", "predictive", "cur"}

COLUMN_CORNERS = [name for name in COLUMN_SELECTORS if name not in BY_LEAST_SQUARES]
BOTH_CORNERS = [name for name in BOTH_SELECTORS if name not in BY_LEAST_SQUARES]


def _taking(parameter):
    return [name for name, selector in BOTH_SELECTORS.items() if parameter in signature(selector).parameters]


# Random numbers go with positions and break ties, so that the selection does not follow a permutation.
SEEDED = _taking("random_state")
DETERMINISTIC = [name for name in BOTH_SELECTORS if name not in SEEDED]
WITH_POOLS = _taking("row_pool")
