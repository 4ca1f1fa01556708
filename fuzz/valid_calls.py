"""One valid call of every public function, estimator method and record."""

from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

import cosep
from cosep import datasets, io, metrics, plots, report, theory
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS, EITHER_SELECTORS
from fuzz.example_data import EXACT_SELECTION, EXACT_X, FILES, X, fitted, some_selection
from fuzz.wrong_arrays import FRAMES, as_anndata

# fmt: off

VALID_CALLS: dict[str, tuple[Any, dict[str, Any]]] = {}
OUTPUT_ARGUMENTS = {
    ("Factorization.save", "path"), ("write_blocks", "path"), ("write_report", "path"),
    ("CoSeparableNMF.fit_blocks", "checkpoint"),
}


def call(name: Any, function: Any, /, **arguments: Any) -> None:
    """Register a valid call by name."""
    VALID_CALLS[name] = (function, arguments)


def fresh(make: Any) -> Any:
    """Mark a function that makes an argument again for every call."""
    make.fresh = True
    return make


def quick(selector: Any) -> dict[str, Any]:
    """Return arguments of a selector: three of each side, few iterations, and otherwise the defaults."""
    few = {"X": X, "r": 3, "max_iter": 3, "random_state": 0}
    return {
        name: few.get(name, 3 if parameter.default is parameter.empty else parameter.default)
        for name, parameter in signature(selector).parameters.items()
    }


def register_calls() -> None:
    """Register all calls in ``VALID_CALLS``."""
    pool = fresh(cosep.Pool)
    for name in {**COLUMN_SELECTORS, **EITHER_SELECTORS, **BOTH_SELECTORS}:
        call(name, getattr(cosep, name), **quick(getattr(cosep, name)))
    call("fgm gradient", cosep.fgm, X=X, r=3, solver="fast-gradient", postprocess="spa", trace=3.0, penalty=None,
         tol=1e-2, max_iter=20, pool=pool, callback=None)
    call("both_sides", lambda selector, X, n_rows, n_cols: cosep.both_sides(selector)(X, n_rows, n_cols),
         selector=fresh(lambda: cosep.spa), X=X, n_rows=3, n_cols=3)
    call("both_sides pools", lambda selector, row_pool, col_pool, callback: cosep.both_sides(selector)(
        X, 3, 3, row_pool=row_pool, col_pool=col_pool, callback=callback),
        selector=fresh(lambda: cosep.fgm), row_pool=None, col_pool=None, callback=None)
    call("preselected", lambda selector, rows, cols, X, n_rows, n_cols: cosep.preselected(selector, rows, cols)(
        X, n_rows, n_cols), selector=fresh(lambda: cosep.both_sides(cosep.spa)), rows=8, cols=8, X=X, n_rows=3,
        n_cols=3)
    call("preselected columns", lambda selector, cols, X, r: cosep.preselected(selector, None, cols)(X, r),
         selector=fresh(lambda: cosep.spa), cols=6, X=X, r=3)
    call("preselect", cosep.preselect, X=X, n=4, callback=None)
    call("Preselection.original", lambda positions: fitted("preselection").original(positions), positions=[0, 1])
    call("mix", cosep.mix, X=X, selection=fresh(some_selection), scaling=None, sample_weight=None, max_iter=5, tol=1e-3,
         callback=None)
    call("mix_generalized", cosep.mix_generalized, X=X, selection=fresh(some_selection), max_iter=5, tol=1e-3,
         callback=None)
    call("explain", cosep.explain, factorization=fresh(lambda: fitted("mix")), X=X, callback=None)
    call("stability", cosep.stability, X=X, selection=fresh(some_selection), method="spa", scaling=None,
         sample_weight=None, n_draws=2, share=0.8, random_state=0, n_jobs=None, callback=None)
    call("selection_path", cosep.selection_path, X=X, n_rows=3, n_cols=2, factorization=None, method="spa",
         scaling=None, sample_weight=None, callback=None)
    call("selection_path of factors", cosep.selection_path, X=X, n_rows=None, n_cols=None,
         factorization=fresh(lambda: fitted("mix")))
    call("SelectionPath.n_needed", lambda share, part, of: fitted("path").n_needed(share, part=part, of=of), share=0.9,
         part="core", of="bound")
    call("choose_rank", cosep.choose_rank, X=X, ranks=[2], method="spa", scaling=None, sample_weight=None,
         random_state=0, n_jobs=None, callback=None)
    call("row_blocks", cosep.row_blocks, X=X, layer=None)
    call("row_blocks of a list", lambda first, second: cosep.row_blocks([first, second]), first=X[:6], second=X[6:])
    call("annotate", cosep.annotate, adata=fresh(as_anndata()), n_rows=3, n_cols=3, layer=None, key="cosep",
         row_pool=None, col_pool=None, method="spa", scaling=None, max_iter=5)
    _register_norms()
    _register_records()
    _register_estimators()
    _register_rest()


def _register_norms() -> None:
    """Register calls with the factors of a norm, and with weights of rows, as arguments."""

    def fit(X: Any, row_factors: Any, col_factors: Any, sample_weight: Any) -> Any:
        return cosep.CoSeparableNMF(3, 3, method="spa", scaling=(row_factors, col_factors), max_iter=3).fit(
            X, sample_weight=sample_weight)

    def used(scaling: Any, sample_weight: Any) -> Any:
        model = cosep.CoSeparableNMF(3, 3, method="spa", scaling=scaling, max_iter=3)
        record = model.fit(X, sample_weight=sample_weight).factorization_
        return cosep.describe(X, record), cosep.explain(X, record), model.transform(X), model.score(X)

    factors = {"row_factors": np.linspace(1, 2, 12), "col_factors": np.linspace(1, 2, 10), "sample_weight": None}
    call("CoSeparableNMF of factors", fit, X=X, **factors)
    call("CoSeparableNMF of factors in blocks", lambda X, **rest: fit(cosep.row_blocks(X), **rest), X=X, **factors)
    call("CoSeparableNMF in a norm used", used, scaling="degree", sample_weight=None)
    call("CoSeparableNMF.score weighted", lambda X, sample_weight: fitted("CoSeparableNMF").score(
         X, sample_weight=sample_weight), X=X, sample_weight=np.arange(1.0, 13.0))


def _register_records() -> None:
    call("Selection", cosep.Selection, row_indices=[0, 1], col_indices=[1], gap=0.1, n_iter=3, history=())
    call("Scaling", cosep.Scaling, name="rows", rows=np.ones(3), cols=np.ones(2))
    call("Pool", lambda candidates, include: cosep.spa(X, 3, pool=cosep.Pool(candidates, include)),
         candidates=[0, 1, 2, 3], include=[1])
    call("Pool by name", lambda candidates, include: cosep.CoSeparableNMF(2, 2, method="spa", max_iter=2,
         col_pool=cosep.Pool(candidates, include)).fit(FRAMES["DataFrame"]()), candidates=["a", "b", "c"],
         include=["b"])
    call("Factorization", cosep.Factorization, row_factor=np.ones((4, 2)), core=np.ones((2, 3)),
         col_factor=np.ones((3, 5)), selection=None, row_weights=np.ones((4, 2)), col_weights=np.ones((3, 5)),
         row_labels=[0, 1, 0, 1], col_labels=[0, 1, 2, 0, -1], row_names=list("abcd"), col_names=list("vwxyz"),
         scaling=None, meta={"a": 1})

    def used(**parts: Any) -> Any:
        made = cosep.Factorization(**parts)
        made.reconstruct()
        made.relative_error(np.ones((4, 5)))
        made.row_errors(np.ones((4, 5)))
        made.T.diagnose_core()
        made.save("used.npz")
        return cosep.Factorization.load("used.npz")

    call("Factorization used", used, row_factor=np.ones((4, 2)), core=np.ones((2, 3)),
         col_factor=np.ones((3, 5)), row_labels=[0, 1, 0, 1], row_names=list("abcd"), meta={"a": 1})

    def measured(name: Any, rows: Any, cols: Any) -> Any:
        made = replace(fitted("mix"), scaling=cosep.Scaling(name, rows, cols))
        return made.relative_error(X), made.T.row_errors(X.T), made.fidelity(X), cosep.describe(X, made)

    call("Factorization in a norm", measured, name="rows", rows=np.linspace(1, 2, 12), cols=np.linspace(1, 2, 10))
    for method in ("relative_error", "row_errors", "fidelity"):
        call(f"Factorization.{method}", lambda X, method=method: getattr(fitted("mix"), method)(X), X=X)
    call("Factorization.reconstruct", lambda rows: fitted("mix").reconstruct(rows), rows=None)
    call("Factorization.save", lambda path: fitted("mix").save(path), path="saved.npz")
    call("Factorization.load", cosep.Factorization.load, path=fresh(lambda: FILES["model.npz"]))
    call("Planted", datasets.Planted, row_indices=[0], col_indices=[1], row_identifiable=[True],
         col_identifiable=[True])
    call("NamedMatrix", io.NamedMatrix, values=np.eye(2), row_names=["a", "b"], col_names=["c", "d"], texts=None,
         text_options=None, labels=None)


# Valid parameters of every estimator.
PARAMETERS: dict[str, dict[str, Any]] = {
    "CoSeparableNMF": {"n_rows": 3, "n_cols": 3, "method": "spa", "scaling": None, "preselect": None,
                       "sample_size": None, "max_iter": 3,
                       "tol": 1e-3, "random_state": None, "row_pool": None, "col_pool": None, "callback": None,
                       "checkpoint": None},
    "SeparableNMF": {"n_components": 3, "method": "spa", "axis": "columns", "preselect": None, "random_state": None,
                     "pool": None},
    "HALSNMF": {"n_components": 3, "max_iter": 3, "tol": 1e-3, "callback": None},
    "MinVolNMF": {"n_components": 3, "penalty": 0.1, "delta": 0.1, "max_iter": 3, "tol": 1e-3, "callback": None},
    "BiorthogonalNMF": {"n_components": 3, "max_iter": 3, "tol": 1e-3, "callback": None},
    "TriSymmetricNMF": {"n_components": 3, "pool": None, "max_iter": 3, "tol": 1e-3, "callback": None},
    "GeneralizedSeparableNMF": {"n_components": 3, "n_rows": None, "n_cols": None, "method": "gspa",
                                "preselect": None, "max_iter": 3, "tol": 1e-3, "random_state": None,
                                "callback": None},
    "CUR": {"n_rows": 3, "n_cols": 3, "method": "leverage", "link": "optimal", "random_state": None},
}
# Methods of estimators that take a matrix, and its number of columns.
METHODS = {"transform": 10, "inverse_transform": 3, "score": 10, "complete": 3, "completion_score": 10,
           "fit_transform": 10}


def _register_estimator(name: str, parameters: dict[str, Any]) -> None:
    kind = getattr(cosep, name)
    new = kind(**parameters)

    def fit(X: Any, sample_weight: Any = None, **parameters: Any) -> Any:
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return kind(**parameters).fit(X, **weights)

    def apply(X: Any, method: Any) -> Any:
        model = fitted(name) if method != "fit_transform" else clone(new)
        return getattr(model, method)(X)

    weighted = {"sample_weight": None} if "sample_weight" in signature(kind.fit).parameters else {}
    call(f"{name}.fit", fit, X=X, **weighted, **parameters)
    for method, n_cols in METHODS.items():
        if hasattr(kind, method):
            call(f"{name}.{method}", lambda X, method=method: apply(X, method), X=X[:, :n_cols])
    if hasattr(kind, "get_feature_names_out"):
        call(f"{name}.get_feature_names_out", lambda input_features: fitted(name).get_feature_names_out(input_features),
             input_features=None)


def _register_estimators() -> None:
    for name, parameters in PARAMETERS.items():
        _register_estimator(name, parameters)

    def pandas_out(X: Any) -> Any:
        return cosep.HALSNMF(3, max_iter=3, tol=1e-3).set_output(transform="pandas").fit(X).transform(X)

    call("HALSNMF to pandas", pandas_out, X=X)
    call("HALSNMF.set_output", lambda transform: cosep.HALSNMF(3, max_iter=3).set_output(transform=transform)
         .fit(X).transform(X), transform="default")
    call("CoSeparableNMF.grow", lambda X, n_rows, n_cols, sample_weight: fitted("CoSeparableNMF").grow(
         X, n_rows, n_cols, sample_weight=sample_weight), X=X, n_rows=4, n_cols=5, sample_weight=None)
    call("SeparableNMF.grow", lambda X, n_components: fitted("SeparableNMF").grow(X, n_components), X=X, n_components=4)
    call("CoSeparableNMF.get_indices", lambda i: fitted("CoSeparableNMF").get_indices(i), i=1)

    def fit_blocks(X: Any, sample_weight: Any, **parameters: Any) -> Any:
        return cosep.CoSeparableNMF(**parameters).fit(cosep.row_blocks(X), sample_weight=sample_weight)

    call("CoSeparableNMF.fit_blocks", fit_blocks, X=X, sample_weight=None,
         **PARAMETERS["CoSeparableNMF"] | {"sample_size": 8})

    def fit_then_transform(first: Any, second: Any) -> Any:
        return cosep.HALSNMF(3, max_iter=3).fit(first).transform(second)

    call("fit then transform", fit_then_transform, first=fresh(FRAMES["DataFrame"]), second=fresh(FRAMES["DataFrame"]))


def _register_rest() -> None:
    call("make_coseparable", cosep.make_coseparable, m=12, n=10, r1=3, r2=2, noise=0.0, protocol="scale-first",
         permute=True, random_state=0)
    call("index_accuracy", metrics.index_accuracy, selection=fresh(some_selection), truth=fresh(some_selection))
    call("relative_approximation", metrics.relative_approximation, X=X, factorization=fresh(lambda: fitted("mix")))
    call("clustering_accuracy", metrics.clustering_accuracy, labels_true=[0, 1, 1], labels_pred=[1, 0, 0])
    call("read", io.read, path=fresh(lambda: FILES["matrix.csv"]), kind=None, text=None, sep=None,
         decimal=None, sheet=None, columns=None, drop=None, layout=None, index=None,
         labels=None, variable=None, layer=None)
    call("read text", io.read, path=fresh(lambda: FILES["texts.txt"]), text=fresh(lambda: io.TextOptions(min_df=1)))
    call("read_blocks", io.read_blocks, path=fresh(lambda: FILES["blocks"]), layer=None)
    call("read_labels", io.read_labels, path=fresh(lambda: FILES["labels.csv"]), row_names=["a", "b"])
    call("read_names", io.read_names, path=fresh(lambda: FILES["names.txt"]))
    call("write_blocks", io.write_blocks, path="store.zarr", blocks=[X[:6], X[6:]])
    call("vectorise", io.vectorise, texts=["hot tea", "hot jam"], options=None)
    options = {"column": None, "stop_words": "english", "min_df": 1, "top_words": None, "lowercase": True,
               "vocabulary": None}
    call("TextOptions", lambda **options: io.vectorise(["hot tea", "hot jam"], io.TextOptions(**options)), **options)
    options_without_words = {name: value for name, value in options.items() if name != "vocabulary"}
    call("TextOptions.from_mapping", lambda settings, vocabulary: io.vectorise(["hot tea", "hot jam"],
         io.TextOptions.from_mapping(settings, vocabulary)), settings=options_without_words, vocabulary=["tea"])
    call("plots.core", plots.core, factorization=fresh(lambda: fitted("mix")))
    call("plots.matrix", plots.matrix, factorization=fresh(lambda: fitted("mix")), X=X)
    call("plots.errors", plots.errors, explanation=fresh(lambda: fitted("explanation")), row_names=None, col_names=None)
    call("plots.stability", plots.stability, result=fresh(lambda: fitted("stability")), row_names=None, col_names=None)
    call("plots.selection_path", plots.selection_path, path=fresh(lambda: fitted("path")), row_names=None,
         col_names=None)
    call("plots.rank_curve", plots.rank_curve, choice=fresh(lambda: fitted("rank")))
    _register_fields()
    for name in ("is_coseparable", "is_generalized_separable", "to_cur", "compress"):
        call(f"theory.{name}", getattr(theory, name), X=EXACT_X, selection=fresh(lambda: EXACT_SELECTION), tol=1e-6)
    call("theory.is_separable", theory.is_separable, X=X, col_indices=[0, 1], tol=1e-6)
    call("theory.is_unique", theory.is_unique, X=EXACT_X, tol=1e-6)
    call("theory.minimal_coseparable", theory.minimal_coseparable, X=EXACT_X, tol=1e-6, callback=None)
    call("theory.extreme_rays", theory.extreme_rays, X=EXACT_X, tol=1e-6, callback=None)
    call("theory.from_cur", theory.from_cur, X=np.ones((2, 2)), cur=fresh(lambda: fitted("to_cur")), tol=1e-6)
    call("theory.from_biorthogonal", theory.from_biorthogonal, F=np.eye(4)[:, :2], S=np.ones((2, 2)),
         G=np.eye(4)[:2], tol=1e-9)
    call("MinimalCore.admits", lambda n_rows, n_cols: fitted("minimal").admits(n_rows, n_cols), n_rows=12, n_cols=10)


def _register_fields() -> None:
    """Register calls that take a record, with the fields of the record as arguments."""

    def side(number: Any) -> Any:
        return {"index": np.arange(number), "frequency": np.ones(number), "similarity": np.ones(number)}

    call("plots.errors of", lambda row_errors, col_errors: plots.errors(cosep.Explanation({}, {}, row_errors,
         col_errors, 0.5)), row_errors=np.ones(12), col_errors=np.ones(10))
    call("plots.stability of", lambda **fields: plots.stability(cosep.Stability(**fields)), rows=side(3), cols=side(2),
         n_draws=4, share=0.5)
    call("plots.stability of tables", lambda index, frequency, similarity: plots.stability(cosep.Stability(
         {"index": index, "frequency": frequency, "similarity": similarity}, side(2), 4, 0.5)), **side(3))
    table = {"n_rows": [2, 3], "n_cols": [2, 3], "error": [0.5, 0.4], "error_se": [0.1, 0.1], "stability": [1.0, 0.5]}
    call("plots.rank_curve of", lambda **fields: plots.rank_curve(cosep.RankChoice(**fields)), n_rows=2, n_cols=2,
         reason="it is", table=table)
    call("plots.rank_curve of table", lambda **table: plots.rank_curve(cosep.RankChoice(2, 2, "it is", table)), **table)
    call("write_report", report.write_report, path="report.html", factorization=fresh(lambda: fitted("mix")), X=X,
         explanation=None, stability=None, rank=None, selection_path=None, texts=None, command=None)
    call("write_report of explanation", lambda **fields: report.write_report(X, fitted("mix"), "report.html",
         explanation=cosep.Explanation(**fields)), **{name: getattr(fitted("explanation"), name) for name in
                                                      ("rows", "cols", "row_errors", "col_errors", "sum_of_errors")})
    call("write_report of stability", lambda **fields: report.write_report(X, fitted("mix"), "report.html",
         stability=cosep.Stability(**fields)), **{name: getattr(fitted("stability"), name) for name in
                                                  ("rows", "cols", "n_draws", "share")})
    call("write_report of path", lambda **fields: report.write_report(X, fitted("mix"), "report.html",
         selection_path=cosep.SelectionPath(**fields)), **{name: getattr(fitted("path"), name) for name in
                                                           ("row_indices", "col_indices", "rows", "cols", "core",
                                                            "bound")})
    call("write_report of rank", lambda **fields: report.write_report(X, fitted("mix"), "report.html",
         rank=cosep.RankChoice(**fields)), n_rows=2, n_cols=2, reason="it is", table=table)
