"""The direction of imports: a file imports from its own room and from earlier rooms, and no two files in a circle."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import cosep

ROOMS = [
    *("utils", "kernels", "matrix", "records", "solve", "metrics", "select", "nmf", "fit", "assess", "theory"),
    *("datasets", "io", "findings", "plots", "report", "estimators", "cli"),
]
SOURCE = Path(cosep.__file__).parent
FILES = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in SOURCE.rglob("*.py")}


def imported(name):
    """Return the files of the package that a file imports, at any depth of its code."""
    modules = set()
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    ours = {module.removeprefix("cosep.") for module in modules if module.startswith("cosep.")}
    return {found for module in ours for found in (module, f"{module}.__init__") if found in FILES} - {name}


def room(name):
    return ROOMS.index(name.split(".")[0])


def test_every_folder_is_a_room():
    assert {name.split(".")[0] for name in FILES} == {*ROOMS, "__init__"}


@pytest.mark.parametrize("name", sorted(FILES.keys() - {"__init__"}))
def test_a_file_imports_only_from_its_own_room_and_from_earlier_ones(name):
    later = {other for other in imported(name) if room(other) > room(name)}
    assert not later, f"{name} imports {sorted(later)}, which are in later rooms"


def test_no_files_import_each_other_in_a_circle():
    order = [*TopologicalSorter({name: imported(name) for name in FILES}).static_order()]
    assert len(order) == len(FILES)


def test_kernels_import_nothing_of_other_rooms():
    kernels = [name for name in FILES if name.startswith("kernels.")]
    assert all(other.startswith("kernels.") for name in kernels for other in imported(name))


# Rooms that know how the entries of a matrix are stored, and files that hand them to a selector, which may be a user's,
# or to a model of another package.
STORAGE = ("matrix.", "io.")
HAND_OVER = {"assess.selecting", "findings.comparison", "fit.selector", "select.both_sides", "select.preselected"}


@pytest.mark.parametrize("name", sorted(name for name in FILES.keys() - HAND_OVER if not name.startswith(STORAGE)))
def test_only_the_room_of_matrices_reads_their_storage(name):
    tree = ast.parse(FILES[name].read_text(encoding="utf-8"))
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    anndata = {"raw"} if name in {"estimators.annotation", "utils.layers"} else set()
    assert not attributes & {"raw", "_values", "_exponent"} - anndata, f"{name} must ask a question of LocalMatrix"
