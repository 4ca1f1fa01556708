"""The direction of imports: a file may import only from files that stand before it in this list."""

import ast
from pathlib import Path

import cosep

ORDER = [
    "messages",
    "atomic",
    "limits",
    "columns",
    "paths",
    "kernels/__init__",
    "kernels/compile",
    "kernels/projections",
    "kernels/cholesky",
    "kernels/quadratic",
    "kernels/bounded",
    "kernels/box",
    "matrix/__init__",
    "matrix/local",
    "matrix/gram",
    "matrix/leading",
    "matrix/checks",
    "matrix/blocks",
    "matrix/dask",
    "matrix/cutting",
    "ties",
    "archive",
    "factorization",
    "filled",
    "scaling",
    "mixing",
    "generalized",
    "membership",
    "linking",
    "metrics",
    "select/method",
    "select/pool",
    "select/turns",
    "select/rays",
    "select/spa",
    "select/snpa",
    "select/xray",
    "select/greedy",
    "select/gspa",
    "select/selfdict",
    "select/fastgradient",
    "select/scores",
    "select/newton",
    "select/fgm",
    "select/gsfgm",
    "nmf/__init__",
    "nmf/start",
    "nmf/record",
    "nmf/extrapolated",
    "nmf/ahals",
    "nmf/minvol",
    "nmf/biorthogonal",
    "nmf/trisymmetric",
    "nmf/rank2",
    "clusters",
    "preselection",
    "select/both_sides",
    "select/preselected",
    "select/cosfgm",
    "select/faithful",
    "select/cur",
    "select/__init__",
    "large/__init__",
    "large/statistics",
    "large/candidates",
    "large/factors",
    "large/checkpoint",
    "large/passes",
    "large/choice",
    "large/fit",
    "explanation",
    "resampling",
    "rank",
    "theory/balancing",
    "theory/cone",
    "theory/separability",
    "theory/rays",
    "theory/coseparability",
    "theory/uniqueness",
    "theory/generalized",
    "theory/biorthogonal",
    "theory/cur",
    "theory/__init__",
    "estimators/base",
    "estimators/coseparable",
    "estimators/separable",
    "estimators/hals",
    "estimators/minvol",
    "estimators/biorthogonal",
    "estimators/trisymmetric",
    "estimators/generalized",
    "estimators/cur",
    "estimators/__init__",
    "annotation",
    "datasets/synthetic",
    "datasets/docstrings",
    "datasets/home",
    "datasets/documents",
    "datasets/faces",
    "datasets/__init__",
    "io/extras",
    "io/source",
    "io/record",
    "io/blocks",
    "io/counts",
    "io/text",
    "io/triplets",
    "io/layout",
    "io/records",
    "io/comma",
    "io/parquet",
    "io/tables",
    "io/market",
    "io/arrays",
    "io/matlab",
    "io/child",
    "io/hdf5",
    "io/cells",
    "io/names",
    "io/reading",
    "io/codecs",
    "io/zarr",
    "io/files",
    "io/stores",
    "io/writing",
    "io/__init__",
    "wording",
    "topics",
    "overview",
    "drawing",
    "plots",
    "report/cards",
    "report/findings",
    "report/page",
    "report/__init__",
    "cli/process",
    "cli/endings",
    "cli/lock",
    "cli/folder",
    "cli/inputs",
    "cli/tables",
    "cli/watching",
    "cli/turns",
    "cli/summary",
    "cli/fit",
    "cli/blocks",
    "cli/demo",
    "cli/ranks",
    "cli/transform",
    "cli/compare",
    "cli/app",
    "cli/__init__",
    "__init__",
]
SOURCE = Path(cosep.__file__).parent


def imported_files(path):
    """Return the files of the package that ``path`` imports, at any depth of its code."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    names = {module.removeprefix("cosep").lstrip(".").replace(".", "/") for module in modules if is_ours(module)}
    return {name for name in names if (SOURCE / f"{name}.py").exists()} | {
        f"{name}/__init__".lstrip("/") for name in names if (SOURCE / name / "__init__.py").exists()
    }


def is_ours(module):
    return module is not None and module.split(".")[0] == "cosep"


def test_every_file_stands_in_the_list():
    files = {str(path.relative_to(SOURCE).with_suffix("")) for path in SOURCE.rglob("*.py")}
    assert files == set(ORDER)


def test_files_import_only_from_earlier_ones():
    for position, name in enumerate(ORDER):
        later = imported_files(SOURCE / f"{name}.py") - set(ORDER[:position])
        # A package's own folder is named by every import from inside it; it carries no code.
        assert later <= {"__init__"}, f"{name} imports {sorted(later)}, which come later"


def test_kernels_know_nothing_else_of_the_package():
    for name in ORDER:
        if name.startswith("kernels/"):
            assert all(other.startswith("kernels/") for other in imported_files(SOURCE / f"{name}.py"))
