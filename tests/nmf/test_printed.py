"""Figures printed in the paper for factorizations that choose nothing, reached on its data sets."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.decomposition import NMF

from cosep import relative_approximation
from cosep.nmf.ahals import ahals
from cosep.nmf.minvol import minvol
from experiments.data import load_documents, load_faces

# Tables 1 and 4: rank, A-HALS, MV-NMF.
PRINTED = {"tr23": (6, 73.37, 73.33), "k1b": (6, 13.80, 13.65), "faces": (40, 89.45, 87.95)}


@pytest.fixture(scope="module", params=PRINTED)
def printed(request, data_home):
    """A data set, its rank, and the approximations of A-HALS and MV-NMF in percent."""
    name = request.param
    X = load_faces(home=data_home).pixels if name == "faces" else load_documents(name, home=data_home).counts
    return X, *PRINTED[name]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ahals_reaches_the_printed_approximation_and_that_of_scikit_learn(printed):
    X, r, approximation, _ = printed
    ours = 100 * relative_approximation(X, ahals(X, r))
    assert abs(ours - approximation) <= 1.5
    peer = NMF(n_components=r, init="nndsvd", max_iter=200).fit(X)
    norm = np.sqrt((X.data**2).sum()) if scipy.sparse.issparse(X) else np.linalg.norm(X)
    assert ours >= 100 * (1 - peer.reconstruction_err_ / norm) - 0.5


def test_minimum_volume_reaches_the_printed_approximation_on_either_side(printed):
    X, r, _, approximation = printed
    for side in (X, X.T):
        fit = minvol(side, r, max_iter=500 if scipy.sparse.issparse(X) else 50)  # enough, and quick
        assert abs(100 * relative_approximation(side, fit) - approximation) <= 1.5
        assert fit.col_factor.sum(axis=0).max() <= 1 + 1e-12
