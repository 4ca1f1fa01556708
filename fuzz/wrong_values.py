"""Values of every wrong kind, to pass to public functions: a maker of each, since a generator is used up.

``WRONG`` holds them by name. ``X``, `chosen` and `fitted` are what valid calls are made of.
"""

import array
import collections
import datetime as dt
import decimal
import fractions
import functools
import io as std_io
import re
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import cosep
from cosep import io, theory

Maker = Callable[[], Any]

X = np.array(
    [
        [27, 34, 9, 16, 0, 0, 0, 41, 9, 33],
        [44, 0, 0, 0, 10, 53, 22, 10, 27, 22],
        [0, 8, 0, 8, 0, 0, 0, 16, 0, 17],
        [28, 8, 0, 8, 0, 28, 14, 17, 0, 30],
        [27, 18, 9, 0, 0, 0, 0, 10, 9, 0],
        [56, 37, 18, 0, 9, 12, 1, 27, 45, 1],
        [81, 62, 27, 8, 0, 0, 0, 43, 27, 16],
        [19, 0, 0, 0, 18, 36, 9, 18, 55, 9],
        [70, 18, 9, 0, 0, 43, 22, 9, 10, 21],
        [6, 8, 0, 8, 27, 33, 3, 43, 82, 20],
        [15, 0, 0, 0, 0, 14, 7, 0, 0, 7],
        [2, 0, 0, 0, 9, 11, 1, 10, 27, 1],
    ],
    dtype=np.float64,
)
ROWS, COLS = [2, 4, 10, 11], [2, 3, 4, 6]


def chosen() -> Any:
    return cosep.Selection(np.array(ROWS), np.array(COLS))


@functools.cache
def fitted(name: Any) -> Any:
    """Return one fitted model, or record, of each kind; made once, before any fork."""
    makers = {
        "mix": lambda: cosep.mix(X, chosen()),
        "explanation": lambda: cosep.explain(fitted("mix"), X),
        "stability": lambda: cosep.stability(X, chosen(), method="spa", n_draws=2),
        "rank": lambda: cosep.choose_rank(X, [2, 3], method="spa"),
        "preselection": lambda: cosep.preselect(X, 5),
        "minimal": lambda: theory.minimal_coseparable(X),
        "to_cur": lambda: cosep.Factorization(
            np.ones((2, 2)), np.array([[1.0, 0.0], [0.0, 0.0]]), np.ones((2, 2)), cosep.Selection([0, 1], [0, 1])
        ),
        "CoSeparableNMF": lambda: cosep.CoSeparableNMF(3, 3, method="spa").fit(X),
        "SeparableNMF": lambda: cosep.SeparableNMF(3).fit(X),
        "HALSNMF": lambda: cosep.HALSNMF(3).fit(X),
        "MinVolNMF": lambda: cosep.MinVolNMF(3).fit(X),
        "BiorthogonalNMF": lambda: cosep.BiorthogonalNMF(3).fit(X),
        "TriSymmetricNMF": lambda: cosep.TriSymmetricNMF(3).fit(X),
        "GeneralizedSeparableNMF": lambda: cosep.GeneralizedSeparableNMF(3).fit(X),
        "CUR": lambda: cosep.CUR(3, 3).fit(X),
    }
    return makers[name]()


EXACT, EXACT_CHOICE = cosep.make_coseparable(9, 8, 3, 3, random_state=0)
FILES: dict[str, Path] = {}


def make_files(folder: Any) -> None:
    """Write files that the valid calls read; their paths are in ``FILES``."""
    folder.mkdir()
    (folder / "matrix.csv").write_text("name,a,b,c\nx,1,2,3\ny,3,4,5\n")
    (folder / "names.txt").write_text("a\nb\n")
    (folder / "labels.csv").write_text("name,label\na,1\nb,2\n")
    (folder / "texts.txt").write_text("the tea is hot\nhot tea and jam\njam and bread\n")
    np.save(folder / "matrix.npy", X)
    fitted("mix").save(folder / "model.npz")
    (folder / "folder").mkdir()
    (folder / "blocks").mkdir()
    np.save(folder / "blocks" / "a.npy", X[:6])
    np.save(folder / "blocks" / "b.npy", X[6:])
    FILES.update({path.name: path for path in folder.iterdir()})


class Raises:
    """Raises when it is looked at in one way."""

    def __init__(self, how: Any) -> None:
        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            msg = f"no {how}\nfor you \x1b[31m"
            raise RuntimeError(msg)

        self.how = refuse


def raising(*names: Any) -> Any:
    """Return an object whose special methods of these names raise."""

    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        msg = "no\nlook \x1b[31m"
        raise RuntimeError(msg)

    return type("Raising", (), dict.fromkeys(names, refuse))()


class Lying:
    """Says that it is a matrix, and is none."""

    shape, ndim, dtype = (12, 10), 2, np.dtype(np.float64)

    def __len__(self) -> Any:
        return 12


class LyingLength:
    def __len__(self) -> Any:
        return 3

    def __getitem__(self, i: Any) -> Any:
        if i > 0:
            raise IndexError(i)
        return i


class NegativeLength:
    def __len__(self) -> Any:
        return -1


class WrongArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return "no array"


class RaisingShape:
    @property
    def shape(self) -> Any:
        msg = "no\nshape"
        raise RuntimeError(msg)


class LongText(str):
    __slots__ = ()

    def __repr__(self) -> Any:
        return "a\nb" * 500


class RaisingPath:
    def __fspath__(self) -> Any:
        msg = "no\npath"
        raise RuntimeError(msg)


class WrongPath:
    def __fspath__(self) -> Any:
        return 3


class AnyAttribute:
    """Has every attribute, itself."""

    def __getattr__(self, name: Any) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class AlwaysUnequal:
    def __eq__(self, other: object) -> Any:
        msg = "no\ncomparison"
        raise RuntimeError(msg)

    __hash__ = None  # type: ignore[assignment]


def broken_csr(**parts: Any) -> Any:
    A = sp.csr_array(X)
    for name, value in parts.items():
        setattr(A, name, value)
    return A


def recursive() -> Any:
    nested: list[Any] = []
    nested.append(nested)
    return nested


def deep(depth: Any = 200) -> Any:
    nested: list[Any] = [1.0]
    for _ in range(depth):
        nested = [nested]
    return nested


def sparse_of(kind: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(sp, kind)(X)


def in_bits(dtype: Any) -> Any:
    return lambda: X.astype(dtype)


NUMBERS = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "numpy True": lambda: np.True_,
    "NotImplemented": lambda: NotImplemented,
    "Ellipsis": lambda: ...,
    "-1": lambda: -1,
    "0": lambda: 0,
    "1": lambda: 1,
    "2": lambda: 2,
    "-0.0": lambda: -0.0,
    "0.5": lambda: 0.5,
    "1.0": lambda: 1.0,
    "3.0": lambda: 3.0,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "5e-324": lambda: 5e-324,
    "1e-30": lambda: 1e-30,
    "1e308": lambda: 1e308,
    "-5": lambda: -5,
    "1000": lambda: 1000,
    "10**9": lambda: 10**9,
    "2**63": lambda: 2**63,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "10**5000": lambda: 10**5000,
    "np.int8(3)": lambda: np.int8(3),
    "np.uint64(3)": lambda: np.uint64(3),
    "np.float16(.5)": lambda: np.float16(0.5),
    "np.float32(nan)": lambda: np.float32("nan"),
    "np.longdouble": lambda: np.longdouble(0.25),
    "Decimal": lambda: decimal.Decimal("0.25"),
    "Decimal NaN": lambda: decimal.Decimal("NaN"),
    "Decimal sNaN": lambda: decimal.Decimal("sNaN"),
    "Fraction": lambda: fractions.Fraction(1, 3),
    "huge Fraction": lambda: fractions.Fraction(10**400, 3),
    "small Fraction": lambda: fractions.Fraction(1, 10**400),
    "1j": lambda: 1j,
    "np.complex128": lambda: np.complex128(1),
    "array of one": lambda: np.array(3),
    "array of one float": lambda: np.array(0.5),
    "array [3]": lambda: np.array([3]),
}
TEXTS = {
    "text": lambda: "spam",
    "empty text": lambda: "",
    "text of lines": lambda: "a\nb\x1b[31m\r\t\x00c",
    "long text": lambda: "x" * 100_000,
    "text of a number": lambda: "3",
    "surrogate": lambda: "\ud800",
    "sly text": lambda: LongText("spam"),
    "numpy text": lambda: np.str_("spam"),
    "bytes": lambda: b"spam",
    "no bytes": lambda: b"",
    "bytearray": lambda: bytearray(b"spam"),
    "memoryview": lambda: memoryview(b"spam"),
    "a path": lambda: Path("no such file"),
    "folder": lambda: FILES["folder"],
    "root": lambda: "/",
    "missing folder": lambda: "no/such/folder/file.csv",
    "null in path": lambda: "a\0b",
    "file as folder": lambda: FILES["names.txt"] / "x",
    "long path": lambda: "n" * 5000,
    "file of names": lambda: FILES["names.txt"],
    "model file": lambda: str(FILES["model.npz"]),
    "raising path": RaisingPath,
    "wrong path": WrongPath,
    "descriptor": lambda: 10**6,
}
DEVICES = {"/dev/null": lambda: "/dev/null", "/dev/zero": lambda: "/dev/zero"}
CONTAINERS = {
    "[]": list,
    "()": tuple,
    "{}": dict,
    "set()": set,
    "[None]": lambda: [None],
    "[1]": lambda: [1],
    "[0, 1]": lambda: [0, 1],
    "[0, 0]": lambda: [0, 0],
    "[-1]": lambda: [-1],
    "[1.5]": lambda: [1.5],
    "[10**9]": lambda: [10**9],
    "[10**400]": lambda: [10**400],
    "[True]": lambda: [True],
    "['a']": lambda: ["a"],
    "['a', 1]": lambda: ["a", 1],
    "[b'a']": lambda: [b"a"],
    "(1, 2, 3)": lambda: (1, 2, 3),
    "(2, None)": lambda: (2, None),
    "(2, 'a')": lambda: (2, "a"),
    "{'a': 1}": lambda: {"a": 1},
    "{1: [2]}": lambda: {1: [2]},
    "{1, 2}": lambda: {1, 2},
    "frozenset": lambda: frozenset({0, "a"}),
    "range": lambda: range(3),
    "huge range": lambda: range(10**18),
    "ragged": lambda: [[1.0], [2.0, 3.0]],
    "ragged text": lambda: [["a"], [1.0, None]],
    "nested": lambda: [[[1.0]]],
    "deep": deep,
    "recursive": recursive,
    "list of lists": X.tolist,
    "list of rows": lambda: list(X),
    "list of matrices": lambda: [X[:6], X[6:]],
    "tuple of matrices": lambda: (X[:6], X[:, :3]),
    "list of nothing": lambda: [[], []],
    "list of text": lambda: [["a", "b"], ["c", "d"]],
    "list of objects": lambda: [object(), object()],
    "many numbers": lambda: list(range(5000)),
    "many texts": lambda: ["word\n" * 30] * 500,
    "generator": lambda: (i for i in range(3)),
    "generator of rows": lambda: (row for row in X),
    "iterator": lambda: iter([1, 2]),
    "map": lambda: map(str, [1, 2]),
    "raising generator": lambda: (1 // (2 - i) for i in range(5)),
    "deque": lambda: collections.deque([1, 2]),
    "array.array": lambda: array.array("d", [1.0, 2.0]),
    "Counter": lambda: collections.Counter("abc"),
    "defaultdict": lambda: collections.defaultdict(list),
    "mappingproxy": lambda: type("A", (), {}).__dict__,
    "slice": lambda: slice(None),
    "slice of text": lambda: slice("a", "b"),
}
OBJECTS = {
    "object": object,
    "class": lambda: object,
    "type": lambda: type,
    "int class": lambda: int,
    "module": lambda: np,
    "file": lambda: std_io.StringIO("a,b\n1,2\n"),
    "bytes file": lambda: std_io.BytesIO(b"a"),
    "exception": lambda: ValueError("a\nb"),
    "len": lambda: len,
    "lambda": lambda: lambda: 1,
    "lambda of all": lambda: lambda *_args, **_kwargs: None,
    "lambda to selection": lambda: lambda *_args, **_kwargs: chosen(),
    "lambda to junk": lambda: lambda *_args, **_kwargs: "spam\nspam",
    "partial": lambda: functools.partial(pow, 2),
    "selector": lambda: cosep.spa,
    "both selector": lambda: cosep.faithful,
    "date": lambda: dt.datetime(2020, 1, 1),
    "duration": lambda: dt.timedelta(1),
    "np.datetime64": lambda: np.datetime64("2020-01-01"),
    "NaT": lambda: np.datetime64("NaT"),
    "pd.NaT": lambda: pd.NaT,
    "pd.NA": lambda: pd.NA,
    "np.dtype": lambda: np.dtype("f8"),
    "uuid": lambda: uuid.UUID(int=0),
    "regex": lambda: re.compile("a"),
    "raising repr": lambda: raising("__repr__"),
    "raising len": lambda: raising("__len__", "__repr__"),
    "raising array": lambda: raising("__array__"),
    "raising iter": lambda: raising("__iter__", "__len__"),
    "raising getitem": lambda: raising("__getitem__"),
    "raising float": lambda: raising("__float__", "__int__", "__index__"),
    "raising bool": lambda: raising("__bool__", "__eq__", "__hash__"),
    "raising call": lambda: raising("__call__"),
    "raising attributes": lambda: raising("__getattr__"),
    "raising shape": RaisingShape,
    "raising comparison": AlwaysUnequal,
    "lying matrix": Lying,
    "lying length": LyingLength,
    "negative length": NegativeLength,
    "wrong array": WrongArray,
    "any attribute": AnyAttribute,
}
RECORDS = {
    "Selection": chosen,
    "Selection of rows": lambda: cosep.Selection([0, 1], None),
    "Selection of none": lambda: cosep.Selection(None, None),
    "Selection too far": lambda: cosep.Selection([0, 500], [1, 700]),
    "Factorization": lambda: fitted("mix"),
    "bare Factorization": lambda: cosep.Factorization(np.ones((12, 1)), None, np.ones((1, 10))),
    "small Factorization": lambda: cosep.Factorization(np.ones((2, 1)), None, np.ones((1, 2))),
    "Scaling": lambda: cosep.Scaling("rows", np.ones(12), np.ones(10)),
    "Pool": lambda: cosep.Pool([0, 1, 2, 3, 4]),
    "Pool of one": lambda: cosep.Pool([0]),
    "Pool too far": lambda: cosep.Pool([0, 5000]),
    "Pool of junk": lambda: cosep.Pool("spam", {"a": 1}),
    "Pool of arrays": lambda: cosep.Pool(X, X),
    "Pool of objects": lambda: cosep.Pool([object()], object()),
    "Explanation": lambda: fitted("explanation"),
    "Stability": lambda: fitted("stability"),
    "RankChoice": lambda: fitted("rank"),
    "Preselection": lambda: fitted("preselection"),
    "junk Explanation": lambda: cosep.Explanation("a", None, [["a"]], object()),
    "junk Stability": lambda: cosep.Stability({}, {"index": "a"}, "n", None),
    "junk RankChoice": lambda: cosep.RankChoice("a", None, 3, {"n_rows": ["a"]}),
    "TextOptions": io.TextOptions,
    "NamedMatrix": lambda: io.NamedMatrix(np.eye(2), np.array(["a", "b"]), np.array(["c", "d"])),
    "RowBlocks": lambda: cosep.row_blocks(X),
    "estimator": lambda: fitted("HALSNMF"),
    "estimator class": lambda: cosep.HALSNMF,
    "fresh estimator": lambda: cosep.HALSNMF(3),
    "RandomState": lambda: np.random.RandomState(0),
    "Generator": lambda: np.random.default_rng(0),
}
DTYPES = ("?", "i1", "u1", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", "O", "U8", "S8", "m8[s]", "M8[s]", ">f8")
ARRAYS = {
    **{f"array {dtype}": in_bits(dtype) for dtype in DTYPES},
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
        kind: functools.partial(sparse_of, f"{kind}_{form}")
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
    "coo too far": lambda: _changed(sp.coo_array(X), coords=(np.array([99]), np.array([99])), data=np.ones(1)),
    "dia broken": lambda: _changed(sp.dia_array(np.eye(4)), offsets=np.array([0, 1, 2])),
    "lil broken": lambda: _changed(sp.lil_array(np.eye(4)), rows=np.array([[9], [9], [9], [9], 3], dtype=object)),
}


def _changed(A: Any, **parts: Any) -> Any:
    for name, value in parts.items():
        setattr(A, name, value)
    return A


def _polars(build: Any) -> Any:
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
    "polars frame": _polars(lambda pl: pl.DataFrame(X, schema=list("abcdefghij"))),
    "polars text": _polars(lambda pl: pl.DataFrame({"a": ["x"], "b": [None]})),
    "polars series": _polars(lambda pl: pl.Series([1.0, 2.0])),
    "polars lazy": _polars(lambda pl: pl.LazyFrame({"a": [1]})),
    "polars empty": _polars(lambda pl: pl.DataFrame()),
}


def _dask(build: Any) -> Any:
    def make() -> Any:
        import dask
        import dask.array

        dask.config.set(scheduler="synchronous")
        return build(dask)

    return make


def _adata(**parts: Any) -> Any:
    def make() -> Any:
        import anndata

        adata = anndata.AnnData(X.copy())
        for name, value in parts.items():
            setattr(adata, name, value)
        return adata

    return make


LAZY = {
    "dask array": _dask(lambda dask: dask.array.from_array(X, chunks=(4, 10))),
    "dask columns": _dask(lambda dask: dask.array.from_array(X, chunks=(4, 4))),
    "dask text": _dask(lambda dask: dask.array.from_array(np.array([["a", "b"]]), chunks=1)),
    "dask 1-d": _dask(lambda dask: dask.array.from_array(X[0])),
    "delayed": _dask(lambda dask: dask.delayed(int)()),
    "delayed list": _dask(lambda dask: [dask.delayed(X)]),
    "raising delayed": _dask(lambda dask: [dask.delayed(int)("a\nb")]),
    "AnnData": _adata(),
    "negative AnnData": _adata(X=-X),
    "functions": lambda: [lambda: X[:6], lambda: X[6:]],
    "raising functions": lambda: [lambda: 1 / 0],
}
WRONG = {
    **NUMBERS, **TEXTS, **DEVICES, **CONTAINERS, **OBJECTS, **RECORDS, **ARRAYS, **SPARSE, **FRAMES, **LAZY,
}  # fmt: skip

# Numbers of jobs that are valid, and would start processes.
JOBS = {"2", "1000", "10**9", "2**63", "10**400", "10**5000", "np.int8(3)", "np.uint64(3)", "descriptor", "-1", "-5"}
# Values that would harm the machine if they were written to.
NOT_WRITTEN = {*DEVICES, "root", "file of names", "model file", "folder"}
