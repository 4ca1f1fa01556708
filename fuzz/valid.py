"""One valid call of every public function, estimator method and record: a function and its arguments by name."""

from typing import Any

import numpy as np
from sklearn.base import clone

import cosep
from cosep import datasets, io, metrics, plots, report, theory
from fuzz.values import EXACT, EXACT_CHOICE, FILES, FRAMES, X, _adata, chosen, fitted

# fmt: off

VALID: dict[str, tuple[Any, dict[str, Any]]] = {}
OUTPUTS = {
    ("Factorization.save", "path"), ("write_blocks", "path"), ("write_report", "path"),
    ("CoSeparableNMF.fit_blocks", "checkpoint"),
}


def call(name: Any, function: Any, /, **arguments: Any) -> None:
    """Register a valid call; an argument that is a function without parameters makes the value anew."""
    VALID[name] = (function, arguments)


def fresh(make: Any) -> Any:
    make.fresh = True
    return make


def register() -> None:
    pool = fresh(cosep.Pool)
    none = None
    for name in ("spa", "snpa"):
        call(name, getattr(cosep, name), X=X, r=3, normalize=True, tol=1e-9, pool=none)
    call("greedy", cosep.greedy, X=X, r=3, tol=1e-9, pool=none)
    call("xray", cosep.xray, X=X, r=3, criterion="dist", tol=1e-9, random_state=0, pool=none)
    call("fgm", cosep.fgm, X=X, r=3, solver="newton", postprocess="diagonal", trace=none, penalty=none, tol=1e-2,
         max_iter=20, pool=none, callback=none)
    call("fgm gradient", cosep.fgm, X=X, r=3, solver="fast-gradient", postprocess="spa", trace=3.0, penalty=none,
         tol=1e-2, max_iter=20, pool=pool, callback=none)
    call("cosfgm", cosep.cosfgm, X=X, n_rows=3, n_cols=3, solver="newton", start="spa", postprocess="diagonal",
         max_iter=3, row_pool=none, col_pool=none, callback=none)
    call("faithful", cosep.faithful, X=X, n_rows=3, n_cols=3, max_iter=2, row_pool=none, col_pool=none, callback=none)
    call("cur", cosep.cur, X=X, n_rows=3, n_cols=3, method="leverage")
    call("gspa", cosep.gspa, X=X, r=3, n_rows=none, n_cols=none, normalize=True, tol=1e-9)
    call("gsfgm", cosep.gsfgm, X=X, r=3, n_rows=none, n_cols=none, penalty=0.25, start="gspa", normalize=True,
         tol=1e-3, max_iter=20, callback=none)
    call("both_sides", lambda selector, X, n_rows, n_cols: cosep.both_sides(selector)(X, n_rows, n_cols),
         selector=fresh(lambda: cosep.spa), X=X, n_rows=3, n_cols=3)
    call("both_sides pools", lambda selector, row_pool, col_pool, callback: cosep.both_sides(selector)(
        X, 3, 3, row_pool=row_pool, col_pool=col_pool, callback=callback),
        selector=fresh(lambda: cosep.fgm), row_pool=none, col_pool=none, callback=none)
    call("preselected", lambda selector, rows, cols, X, n_rows, n_cols: cosep.preselected(selector, rows, cols)(
        X, n_rows, n_cols), selector=fresh(lambda: cosep.both_sides(cosep.spa)), rows=8, cols=8, X=X, n_rows=3,
        n_cols=3)
    call("preselected columns", lambda selector, cols, X, r: cosep.preselected(selector, None, cols)(X, r),
         selector=fresh(lambda: cosep.spa), cols=6, X=X, r=3)
    call("preselect", cosep.preselect, X=X, n=4, callback=none)
    call("Preselection.original", lambda positions: fitted("preselection").original(positions), positions=[0, 1])
    call("mix", cosep.mix, X=X, selection=fresh(chosen), max_iter=5, tol=1e-3, callback=none)
    call("mix_generalized", cosep.mix_generalized, X=X, selection=fresh(chosen), max_iter=5, tol=1e-3, callback=none)
    call("explain", cosep.explain, factorization=fresh(lambda: fitted("mix")), X=X, callback=none)
    call("stability", cosep.stability, X=X, selection=fresh(chosen), method="spa", n_draws=2, share=0.8, random_state=0,
         n_jobs=none, callback=none)
    call("choose_rank", cosep.choose_rank, X=X, ranks=[2], method="spa", random_state=0, n_jobs=none, callback=none)
    call("row_blocks", cosep.row_blocks, X=X, layer=none)
    call("row_blocks of a list", lambda first, second: cosep.row_blocks([first, second]), first=X[:6], second=X[6:])
    call("annotate", cosep.annotate, adata=fresh(_adata()), n_rows=3, n_cols=3, layer=none, key="cosep",
         row_pool=none, col_pool=none, method="spa", scaling=none, max_iter=5)
    _register_records()
    _register_estimators()
    _register_rest()


def _register_records() -> None:
    none = None
    call("Selection", cosep.Selection, row_indices=[0, 1], col_indices=[1], gap=0.1, n_iter=3, history=())
    call("Scaling", cosep.Scaling, name="rows", rows=np.ones(3), cols=np.ones(2))
    call("Pool", lambda candidates, include: cosep.spa(X, 3, pool=cosep.Pool(candidates, include)),
         candidates=[0, 1, 2, 3], include=[1])
    call("Pool by name", lambda candidates, include: cosep.CoSeparableNMF(2, 2, method="spa", max_iter=2,
         col_pool=cosep.Pool(candidates, include)).fit(FRAMES["DataFrame"]()), candidates=["a", "b", "c"],
         include=["b"])
    call("Factorization", cosep.Factorization, row_factor=np.ones((4, 2)), core=np.ones((2, 3)),
         col_factor=np.ones((3, 5)), selection=none, row_weights=np.ones((4, 2)), col_weights=np.ones((3, 5)),
         row_labels=[0, 1, 0, 1], col_labels=[0, 1, 2, 0, -1], row_names=list("abcd"), col_names=list("vwxyz"),
         scaling=none, meta={"a": 1})

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
    for method in ("relative_error", "row_errors", "fidelity"):
        call(f"Factorization.{method}", lambda X, method=method: getattr(fitted("mix"), method)(X), X=X)
    call("Factorization.reconstruct", lambda rows: fitted("mix").reconstruct(rows), rows=none)
    call("Factorization.save", lambda path: fitted("mix").save(path), path="saved.npz")
    call("Factorization.load", cosep.Factorization.load, path=fresh(lambda: FILES["model.npz"]))
    call("Planted", datasets.Planted, row_indices=[0], col_indices=[1], row_identifiable=[True],
         col_identifiable=[True])
    call("NamedMatrix", io.NamedMatrix, values=np.eye(2), row_names=["a", "b"], col_names=["c", "d"], texts=none,
         text_options=none, labels=none)


def _register_estimators() -> None:
    none = None
    parameters: dict[str, dict[str, Any]] = {
        "CoSeparableNMF": {"n_rows": 3, "n_cols": 3, "method": "spa", "scaling": none, "preselect": none,
                           "sample_size": none, "max_iter": 3, "tol": 1e-3, "random_state": none, "row_pool": none,
                           "col_pool": none, "callback": none, "checkpoint": none},
        "SeparableNMF": {"n_components": 3, "method": "spa", "axis": "columns", "preselect": none,
                         "random_state": none, "pool": none},
        "HALSNMF": {"n_components": 3, "max_iter": 3, "tol": 1e-3, "callback": none},
        "MinVolNMF": {"n_components": 3, "penalty": 0.1, "delta": 0.1, "max_iter": 3, "tol": 1e-3, "callback": none},
        "BiorthogonalNMF": {"n_components": 3, "max_iter": 3, "tol": 1e-3, "callback": none},
        "TriSymmetricNMF": {"n_components": 3, "pool": none, "max_iter": 3, "tol": 1e-3, "callback": none},
        "GeneralizedSeparableNMF": {"n_components": 3, "n_rows": none, "n_cols": none, "method": "gspa",
                                    "preselect": none, "max_iter": 3, "tol": 1e-3, "random_state": none,
                                    "callback": none},
        "CUR": {"n_rows": 3, "n_cols": 3, "method": "leverage", "link": "optimal", "random_state": none},
    }
    for name, settings in parameters.items():
        kind = getattr(cosep, name)

        def fit(X: Any, kind: Any = kind, **settings: Any) -> Any:
            return kind(**settings).fit(X)

        call(f"{name}.fit", fit, X=X, **settings)
        methods = {"transform": 10, "inverse_transform": 3, "score": 10, "complete": 3, "completion_score": 10,
                   "fit_transform": 10}
        new = kind(**settings)
        for method, width in methods.items():
            if hasattr(kind, method):
                def ask(X: Any, name: Any = name, method: Any = method, new: Any = new) -> Any:
                    model = fitted(name) if method != "fit_transform" else clone(new)
                    return getattr(model, method)(X)

                call(f"{name}.{method}", ask, X=X[:, :width])
        if hasattr(kind, "get_feature_names_out"):
            call(f"{name}.get_feature_names_out", lambda input_features, name=name: fitted(name).get_feature_names_out(
                input_features), input_features=none)

    def pandas_out(X: Any) -> Any:
        return cosep.HALSNMF(3, max_iter=3, tol=1e-3).set_output(transform="pandas").fit(X).transform(X)

    call("HALSNMF to pandas", pandas_out, X=X)
    call("HALSNMF.set_output", lambda transform: cosep.HALSNMF(3, max_iter=3).set_output(transform=transform)
         .fit(X).transform(X), transform="default")
    call("CoSeparableNMF.get_indices", lambda i: fitted("CoSeparableNMF").get_indices(i), i=1)

    def fit_blocks(X: Any, **settings: Any) -> Any:
        return cosep.CoSeparableNMF(**settings).fit(cosep.row_blocks(X))

    call("CoSeparableNMF.fit_blocks", fit_blocks, X=X, n_rows=3, n_cols=3, method="spa", scaling=none, preselect=none,
         sample_size=8, max_iter=3, tol=1e-3, random_state=none, row_pool=none, col_pool=none, callback=none,
         checkpoint=none)

    def named(first: Any, second: Any) -> Any:
        return cosep.HALSNMF(3, max_iter=3).fit(first).transform(second)

    call("fit then transform", named, first=fresh(FRAMES["DataFrame"]), second=fresh(FRAMES["DataFrame"]))


def _register_rest() -> None:
    none = None
    call("make_coseparable", cosep.make_coseparable, m=12, n=10, r1=3, r2=2, noise=0.0, protocol="scale-first",
         permute=True, random_state=0)
    call("load_documents", datasets.load_documents, name="k1b", n_words=10, home=fresh(lambda: FILES["folder"]))
    call("load_faces", datasets.load_faces, shape=(2, 2), home=fresh(lambda: FILES["folder"]))
    call("index_accuracy", metrics.index_accuracy, selection=fresh(chosen), truth=fresh(chosen))
    call("relative_approximation", metrics.relative_approximation, X=X, factorization=fresh(lambda: fitted("mix")))
    call("clustering_accuracy", metrics.clustering_accuracy, labels_true=[0, 1, 1], labels_pred=[1, 0, 0])
    call("read", io.read, path=fresh(lambda: FILES["matrix.csv"]), kind=none, text=none, layout=none, index=none,
         labels=none, variable=none, layer=none)
    call("read text", io.read, path=fresh(lambda: FILES["texts.txt"]), text=fresh(lambda: io.TextOptions(min_df=1)))
    call("read_blocks", io.read_blocks, path=fresh(lambda: FILES["blocks"]), layer=none)
    call("read_labels", io.read_labels, path=fresh(lambda: FILES["labels.csv"]), row_names=["a", "b"])
    call("read_names", io.read_names, path=fresh(lambda: FILES["names.txt"]))
    call("write_blocks", io.write_blocks, path="store.zarr", blocks=[X[:6], X[6:]])
    call("vectorise", io.vectorise, texts=["hot tea", "hot jam"], options=none)
    options = {"column": none, "stop_words": "english", "min_df": 1, "top_words": none, "lowercase": True,
               "vocabulary": none}
    call("TextOptions", lambda **options: io.vectorise(["hot tea", "hot jam"], io.TextOptions(**options)), **options)
    options_without_words = {name: value for name, value in options.items() if name != "vocabulary"}
    call("TextOptions.from_mapping", lambda settings, vocabulary: io.vectorise(["hot tea", "hot jam"],
         io.TextOptions.from_mapping(settings, vocabulary)), settings=options_without_words, vocabulary=["tea"])
    call("plots.core", plots.core, factorization=fresh(lambda: fitted("mix")))
    call("plots.matrix", plots.matrix, factorization=fresh(lambda: fitted("mix")), X=X)
    call("plots.errors", plots.errors, explanation=fresh(lambda: fitted("explanation")), row_names=none, col_names=none)
    call("plots.stability", plots.stability, result=fresh(lambda: fitted("stability")), row_names=none, col_names=none)
    call("plots.rank_curve", plots.rank_curve, choice=fresh(lambda: fitted("rank")))
    _register_fields()
    for name in ("is_coseparable", "is_generalized_separable", "to_cur", "compress"):
        call(f"theory.{name}", getattr(theory, name), X=EXACT, selection=fresh(lambda: EXACT_CHOICE), tol=1e-6)
    call("theory.is_separable", theory.is_separable, X=X, col_indices=[0, 1], tol=1e-6)
    call("theory.is_unique", theory.is_unique, X=EXACT, tol=1e-6)
    call("theory.minimal_coseparable", theory.minimal_coseparable, X=EXACT, tol=1e-6, callback=none)
    call("theory.extreme_rays", theory.extreme_rays, X=EXACT, tol=1e-6, callback=none)
    call("theory.from_cur", theory.from_cur, X=np.ones((2, 2)), cur=fresh(lambda: fitted("to_cur")), tol=1e-6)
    call("theory.from_biorthogonal", theory.from_biorthogonal, F=np.eye(4)[:, :2], S=np.ones((2, 2)),
         G=np.eye(4)[:2], tol=1e-9)
    call("MinimalCore.admits", lambda n_rows, n_cols: fitted("minimal").admits(n_rows, n_cols), n_rows=12, n_cols=10)


def _register_fields() -> None:
    """Register calls that take a record, with the fields of the record as arguments."""
    none = None

    def side(number: Any) -> Any:
        return {"index": np.arange(number), "frequency": np.ones(number), "similarity": np.ones(number)}

    call("plots.errors of", lambda row_errors, col_errors: plots.errors(cosep.Explanation({}, {}, row_errors,
         col_errors)), row_errors=np.ones(12), col_errors=np.ones(10))
    call("plots.stability of", lambda **fields: plots.stability(cosep.Stability(**fields)), rows=side(3), cols=side(2),
         n_draws=4, share=0.5)
    call("plots.stability of tables", lambda index, frequency, similarity: plots.stability(cosep.Stability(
         {"index": index, "frequency": frequency, "similarity": similarity}, side(2), 4, 0.5)), **side(3))
    table = {"n_rows": [2, 3], "n_cols": [2, 3], "error": [0.5, 0.4], "error_se": [0.1, 0.1], "stability": [1.0, 0.5]}
    call("plots.rank_curve of", lambda **fields: plots.rank_curve(cosep.RankChoice(**fields)), n_rows=2, n_cols=2,
         reason="it is", table=table)
    call("plots.rank_curve of table", lambda **table: plots.rank_curve(cosep.RankChoice(2, 2, "it is", table)), **table)
    call("write_report", report.write_report, path="report.html", factorization=fresh(lambda: fitted("mix")), X=X,
         explanation=none, stability=none, rank=none, texts=none, command=none)
    call("write_report of explanation", lambda rows, cols, row_errors, col_errors: report.write_report(
         "report.html", fitted("mix"), X, explanation=cosep.Explanation(rows, cols, row_errors, col_errors)),
         **{name: getattr(fitted("explanation"), name) for name in ("rows", "cols", "row_errors", "col_errors")})
    call("write_report of stability", lambda **fields: report.write_report("report.html", fitted("mix"), X,
         stability=cosep.Stability(**fields)), **{name: getattr(fitted("stability"), name) for name in
                                                  ("rows", "cols", "n_draws", "share")})
    call("write_report of rank", lambda **fields: report.write_report("report.html", fitted("mix"), X,
         rank=cosep.RankChoice(**fields)), n_rows=2, n_cols=2, reason="it is", table=table)
