"""Arrays, sparse matrices, data frames and lazy matrices, most of them wrong, to pass to public functions.

Each is a function that makes the value.
"""

import functools
import warnings
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from fuzz.example_data import FILES, X


def broken_csr(**parts: Any) -> Any:
    A = sp.csr_array(X)
    for name, value in parts.items():
        setattr(A, name, value)
    return A


def as_sparse(kind: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(sp, kind)(X)


def with_dtype(dtype: Any) -> Any:
    return lambda: X.astype(dtype)


DTYPES = ("?", "i1", "u1", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", "O", "U8", "S8", "m8[s]", "M8[s]", ">f8")
ARRAYS = {
    **{f"array {dtype}": with_dtype(dtype) for dtype in DTYPES},
    "0-d": lambda: np.array(1.0),
    "1-d": lambda: X[0],
    "3-d": lambda: X[None],
    "5-d": lambda: np.ones((1, 2, 1, 2, 1)),
    "0 x 0": lambda: np.zeros((0, 0)),
    "0 x 10": lambda: np.zeros((0, 10)),
    "12 x 0": lambda: np.zeros((12, 0)),
    "1 x 1": lambda: np.ones((1, 1)),
    "1 x 10": lambda: X[:1],
    "12 x 1": lambda: X[:, :1],
    "rows missing": lambda: X[:7],
    "columns missing": lambda: X[:, :7],
    "transposed": lambda: X.T,
    "Fortran": lambda: np.asfortranarray(X),
    "strided": lambda: X[::-1, ::-1],
    "read only": lambda: np.broadcast_to(1.0, (12, 10)),
    "zeros": lambda: np.zeros((12, 10)),
    "ones": lambda: np.ones((12, 10)),
    "rank one": lambda: np.outer(np.arange(1.0, 13), np.arange(1.0, 11)),
    "zero row and column": lambda: np.pad(X[1:, 1:], ((1, 0), (1, 0))),
    "negative": lambda: -X,
    "NaN": lambda: np.where(X == 0, np.nan, X),
    "infinite": lambda: np.where(X == 0, np.inf, X),
    "huge": lambda: X * 1e306,
    "tiny": lambda: X * 1e-322,
    "large spread": lambda: X * 10.0 ** np.linspace(-300, 300, 10),
    "object array": lambda: np.array([[1, None], [object(), 2]], dtype=object),
    "object array of texts": lambda: np.array([["a", "b"], ["c", 2]], dtype=object),
    "object array of arrays": lambda: np.array([X, None], dtype=object),
    "structured": lambda: np.ones((3, 2), dtype=[("a", "f8"), ("b", "i4")]),
    "record array": lambda: np.rec.array([(1.0, 2)], dtype=[("a", "f8"), ("b", "i4")]),
    "void": lambda: np.zeros((3, 2), dtype="V4"),
    "masked": lambda: np.ma.masked_less(X, 5),
    "masked, none": lambda: np.ma.array(X),
    "matrix": lambda: np.matrix(X),
    "memory map": lambda: np.load(FILES["matrix.npy"], mmap_mode="r"),
    "text array": lambda: np.array(["a", "b\nc"]),
    "dates": lambda: np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    "bool array": lambda: np.array([True, False, True]),
    "index array": lambda: np.array([0, 2]),
    "indices twice": lambda: np.array([1, 1]),
    "negative index": lambda: np.array([-1, 0]),
    "index far": lambda: np.array([0, 10**6]),
    "float index": lambda: np.array([0.0, 1.0]),
    "uint index": lambda: np.array([2**63], dtype=np.uint64),
    "empty index": lambda: np.array([], dtype=np.int64),
    "many texts array": lambda: np.array(["word"] * 12),
    "12 numbers": lambda: np.arange(12.0),
    "10 NaN": lambda: np.full(10, np.nan),
}
SPARSE = {
    **{
        kind: functools.partial(as_sparse, f"{kind}_{form}")
        for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
        for form in ("array",)
    },
    "csr_matrix": lambda: sp.csr_matrix(X),
    "csr of bools": lambda: sp.csr_array(X > 0),
    "csr of complex": lambda: sp.csr_array(X * 1j),
    "csr of objects": lambda: broken_csr(data=sp.csr_array(X).data.astype(object)),
    "csr of longdouble": lambda: sp.csr_array(X.astype(np.longdouble)),
    "csr with NaN": lambda: sp.csr_array(np.where(X > 80, np.nan, X)),
    "negative csr": lambda: sp.csr_array(-X),
    "zero csr": lambda: sp.csr_array((12, 10)),
    "empty csr": lambda: sp.csr_array((0, 10)),
    "huge csr": lambda: sp.csr_array((10**7, 10**7)) if False else sp.coo_array((10**12, 3)),
    "1-d coo": lambda: sp.coo_array(X[0]),
    "csr index far": lambda: broken_csr(indices=sp.csr_array(X).indices + 10**6),
    "csr index negative": lambda: broken_csr(indices=sp.csr_array(X).indices - 50),
    "csr indptr far": lambda: broken_csr(indptr=sp.csr_array(X).indptr + 10**6),
    "csr indptr short": lambda: broken_csr(indptr=sp.csr_array(X).indptr[:3]),
    "csr data short": lambda: broken_csr(data=np.ones(2)),
    "csr data None": lambda: broken_csr(data=None),
    "csr indices float": lambda: broken_csr(indices=sp.csr_array(X).indices * 1.0),
    "csr indices None": lambda: broken_csr(indices=None),
    "csr duplicates": lambda: sp.csr_array((np.ones(4), np.zeros(4, int), np.array([0, 2, 4])), shape=(2, 3)),
    "csr unsorted": lambda: sp.csr_array((np.ones(4), np.array([2, 0, 1, 0]), np.array([0, 2, 4])), shape=(2, 3)),
    "coo too far": lambda: with_attributes(sp.coo_array(X), coords=(np.array([99]), np.array([99])), data=np.ones(1)),
    "dia broken": lambda: with_attributes(sp.dia_array(np.eye(4)), offsets=np.array([0, 1, 2])),
    "lil broken": lambda: with_attributes(
        sp.lil_array(np.eye(4)), rows=np.array([[9], [9], [9], [9], 3], dtype=object)
    ),
}


def with_attributes(A: Any, **parts: Any) -> Any:
    for name, value in parts.items():
        setattr(A, name, value)
    return A


def with_polars(build: Any) -> Any:
    def make() -> Any:
        import polars as pl

        return build(pl)

    return make


FRAMES = {
    "DataFrame": lambda: pd.DataFrame(X, columns=list("abcdefghij")),
    "DataFrame of numbers": lambda: pd.DataFrame(X),
    "DataFrame of text": lambda: pd.DataFrame({"a": ["x", "y"], "b": ["z\n", "w"]}),
    "mixed DataFrame": lambda: pd.DataFrame({"a": [1.0, 2.0], "b": ["z", "w"]}),
    "mixed columns": lambda: pd.DataFrame(X[:, :2], columns=["a", 1]),
    "empty DataFrame": pd.DataFrame,
    "DataFrame of NA": lambda: pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]}),
    "sparse DataFrame": lambda: pd.DataFrame.sparse.from_spmatrix(sp.csr_array(X)),
    "categorical": lambda: pd.DataFrame({"a": pd.Categorical(["x", "y"])}),
    "date DataFrame": lambda: pd.DataFrame({"a": pd.date_range("2020", periods=3)}),
    "renamed": lambda: pd.DataFrame(X, columns=list("klmnopqrst")),
    "twice named": lambda: pd.DataFrame(X[:, :2], columns=["a", "a"]),
    "multi index": lambda: pd.DataFrame(X[:4], index=pd.MultiIndex.from_product([[0, 1], [0, 1]])),
    "Series": lambda: pd.Series([1.0, 2.0]),
    "Series of text": lambda: pd.Series(["a", "b"]),
    "Index": lambda: pd.Index(["a", "b"]),
    "pandas array": lambda: pd.array([1, None]),
    "Categorical": lambda: pd.Categorical(["a", None]),
    "Interval": lambda: pd.Interval(0, 1),
    "polars frame": with_polars(lambda pl: pl.DataFrame(X, schema=list("abcdefghij"))),
    "polars text": with_polars(lambda pl: pl.DataFrame({"a": ["x"], "b": [None]})),
    "polars series": with_polars(lambda pl: pl.Series([1.0, 2.0])),
    "polars lazy": with_polars(lambda pl: pl.LazyFrame({"a": [1]})),
    "polars empty": with_polars(lambda pl: pl.DataFrame()),
}


def with_dask(build: Any) -> Any:
    def make() -> Any:
        import dask
        import dask.array

        dask.config.set(scheduler="synchronous")
        return build(dask)

    return make


def as_anndata(**parts: Any) -> Any:
    def make() -> Any:
        import anndata

        adata = anndata.AnnData(X.copy())
        for name, value in parts.items():
            setattr(adata, name, value)
        return adata

    return make


LAZY = {
    "dask array": with_dask(lambda dask: dask.array.from_array(X, chunks=(4, 10))),
    "dask columns": with_dask(lambda dask: dask.array.from_array(X, chunks=(4, 4))),
    "dask text": with_dask(lambda dask: dask.array.from_array(np.array([["a", "b"]]), chunks=1)),
    "dask 1-d": with_dask(lambda dask: dask.array.from_array(X[0])),
    "delayed": with_dask(lambda dask: dask.delayed(int)()),
    "delayed list": with_dask(lambda dask: [dask.delayed(X)]),
    "raising delayed": with_dask(lambda dask: [dask.delayed(int)("a\nb")]),
    "AnnData": as_anndata(),
    "negative AnnData": as_anndata(X=-X),
    "functions": lambda: [lambda: X[:6], lambda: X[6:]],
    "raising functions": lambda: [lambda: 1 / 0],
}
