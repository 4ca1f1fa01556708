"""Quality of approximations."""

from dataclasses import replace
from typing import Any

from cosep.records.factorization import Factorization


def relative_approximation(X: Any, factorization: Factorization) -> float:
    """``1 - ||X - reconstruction||_F / ||X||_F`` in the plain norm: 1 is exact, 0 as good as zeros, below 0 worse.

    The measure of the tables of Pan and Ng (2023). The fidelities of a model are shares of squares instead, in the norm
    of the model.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    factorization : Factorization
        An approximation of X.

    Returns
    -------
    float
        At most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import Factorization
    >>> from cosep.metrics import relative_approximation
    >>> relative_approximation(np.ones((2, 2)), Factorization(np.ones((2, 1)), None, np.ones((1, 2))))
    1.0
    """
    if not isinstance(factorization, Factorization):
        msg = (
            f"factorization must be a Factorization, got {type(factorization).__name__}; "
            "wrap factors W and H as Factorization(W, None, H)."
        )
        raise ValueError(msg)
    return 1.0 - replace(factorization, scaling=None).relative_error(X)
