"""Explained shares as the paper measures them."""

from math import sqrt


def relative_share(share: float | None) -> float | None:
    """Return ``1 - ||X - X^|| / ||X||``, given the share of squares ``1 - ||X - X^||^2 / ||X||^2``; None for None.

    Tables 1 and 5 of the paper print the first, the fidelities of `cosep` are the second.
    """
    return None if share is None else 1.0 - sqrt(max(1.0 - share, 0.0))
