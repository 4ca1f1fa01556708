"""Names of the rows and columns of a data frame."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


def frame_row_names(X: Any) -> NDArray[np.str_] | None:
    """Return the index of a pandas data frame as text; None for other data, and for an index that only counts.

    Examples
    --------
    >>> import pandas as pd
    >>> from cosep.matrix.frame_names import frame_row_names
    >>> frame_row_names(pd.DataFrame({"tea": [1, 2]}, index=["Ada", "Bob"]))
    array(['Ada', 'Bob'], dtype='<U3')
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(X, pandas.DataFrame) or isinstance(X.index, pandas.RangeIndex):
        return None
    names = [", ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in X.index.tolist()]
    return np.array(names, dtype=np.str_)


def frame_col_names(X: Any) -> NDArray[np.str_] | None:
    """Return the columns of a pandas data frame if all of them are text, otherwise None."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(X, pandas.DataFrame):
        return None
    names = X.columns.tolist()
    return np.array(names, dtype=np.str_) if names and all(isinstance(name, str) for name in names) else None
