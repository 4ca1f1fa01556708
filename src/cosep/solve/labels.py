"""Which component of a nonnegative mix each row holds most of."""

from typing import NamedTuple

import numpy as np

from cosep.utils.ties import first_largest
from cosep.utils.types import Array, Indices


class LargestShares(NamedTuple):
    """The component that each row holds most of.

    Attributes
    ----------
    labels : ndarray of int
        The component; -1 for a row without any.
    amounts : ndarray
        How much of it the row holds, ``factor[i,k] * strengths[k]``; 0 for a row without any.
    shares : ndarray
        That amount divided by the sum over all components, between 0 and 1; nan for a row without any.
    """

    labels: Indices
    amounts: Array
    shares: Array


def largest_shares(factor: Array, strengths: Array) -> LargestShares:
    """Return the component that each row of ``factor`` holds most of, and how much of it.

    Row i holds ``factor[i,k] * strengths[k]`` of component k. The strength of a component is the norm of what it
    multiplies, so the result does not depend on how the scale is split between factors. The lowest component wins a
    tie.
    """
    parts = factor * strengths
    labels = np.where(parts.any(axis=1), first_largest(parts), -1)
    amounts = np.where(labels < 0, 0.0, parts[np.arange(len(labels)), labels])
    sums = parts.sum(axis=1)
    return LargestShares(labels, amounts, amounts / np.where(labels < 0, np.nan, sums))


def factor_labels(factor: Array, strengths: Array) -> Indices:
    """Return the component that each row of ``factor`` holds most of, -1 for none; see `largest_shares`."""
    return largest_shares(factor, strengths).labels
