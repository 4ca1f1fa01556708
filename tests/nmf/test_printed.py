"""Figures printed in the paper for factorizations that choose nothing, reached on its data sets."""

import tarfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from sklearn.decomposition import NMF

from cosep import relative_approximation
from cosep.nmf.ahals import ahals
from cosep.nmf.minvol import minvol

# Tables 1 and 4: rank, A-HALS, MV-NMF.
PRINTED = {"tr23": (6, 73.37, 73.33), "k1b": (6, 13.80, 13.65), "faces": (40, 89.45, 87.95)}


def documents(path):
    """Return the counts of the 1000 most frequent words."""
    counts = scipy.sparse.csr_array(scipy.io.loadmat(path)["dtm"].astype(float))
    return counts[:, np.argsort(-counts.sum(axis=0), kind="stable")[:1000]]


def bicubic(size, smaller):
    """Return the matrix that shrinks a line of pixels: Keys' cubic kernel, widened so that nothing is skipped."""
    centres = (np.arange(smaller) + 0.5) * size / smaller - 0.5
    x = np.abs(centres[:, None] - np.arange(size)) * smaller / size
    weights = np.where(x <= 1, 1.5 * x**3 - 2.5 * x**2 + 1, np.where(x < 2, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2, 0))
    return weights / weights.sum(axis=1, keepdims=True)


def faces(path):
    """Return 400 faces of 23 x 19 pixels, one a column."""
    columns = []
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name.endswith(".pgm"):
                pixels = np.frombuffer(archive.extractfile(member).read()[-112 * 92 :], dtype=np.uint8)
                columns.append(np.ravel(bicubic(112, 23) @ pixels.reshape(112, 92) @ bicubic(92, 19).T))
    return np.clip(np.column_stack(columns), 0, 255) / 255


@pytest.fixture(scope="module", params=PRINTED)
def printed(request, data_home):
    """A data set, its rank, and the approximations of A-HALS and MV-NMF in percent."""
    name = request.param
    read, file = (faces, "faces/orl_faces.tar.gz") if name == "faces" else (documents, f"documents/{name}.mat")
    return read(data_home / file), *PRINTED[name]


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
