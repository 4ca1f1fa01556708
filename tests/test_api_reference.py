"""The API reference is complete: it has every public name, and every parameter of each is documented."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import cosep

ROOT = Path(__file__).parents[1]
MODULES = ("datasets", "io", "metrics", "plots", "report", "theory")
# Names that other packages give their parameters and methods, which they document themselves.
INHERITED = {"self", "cls"}


def public():
    """Return every public object by the name that the reference lists it under."""
    names = {name: getattr(cosep, name) for name in cosep.__all__ if name not in {*MODULES, "__version__"}}
    for module in MODULES:
        for name in import_module(f"cosep.{module}").__all__:
            value = getattr(import_module(f"cosep.{module}"), name)
            if names.get(name) is not value:
                names[f"{module}.{name}"] = value
    return names


def listed():
    """Return the entries of the lists on the page of the reference."""
    text = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")
    return re.findall(r"^   ([\w.]+)$", text, re.MULTILINE)


def described(document, sections):
    """Return the names that the given sections of a docstring in the style of numpydoc describe."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(document), flags=re.MULTILINE)
    texts = [text for title, text in zip(parts[1::2], parts[2::2], strict=True) if title in sections]
    heads = re.findall(r"^([\w*][^:\n]*?)(?: :.*)?$", "\n".join(texts), re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def documented(value):
    """Return what has a docstring of ours, by name: an object, and the methods of a class."""
    found = {"": value}
    if inspect.isclass(value):
        for name, member in inspect.getmembers(value, callable):
            ours = (getattr(member, "__module__", None) or "").startswith("cosep")
            if ours and not name.startswith("_") and not inspect.isclass(member):
                found[f".{name}"] = member
    return found


def test_the_reference_lists_every_public_name_once():
    entries = listed()
    assert len(entries) == len(set(entries))
    inside = [entry for entry in entries if entry.split(".")[0] not in MODULES and "." in entry]
    assert set(entries) - set(inside) == set(public())
    for entry in inside:
        module, _, name = entry.rpartition(".")
        assert inspect.isclass(getattr(import_module(f"cosep.{module}"), name)), entry


@pytest.mark.parametrize("name", public())
def test_every_parameter_is_documented(name):
    value = public()[name]
    for suffix, member in documented(value).items():
        if inspect.isclass(member) and issubclass(member, Warning):
            continue
        document = inspect.getdoc(member)
        assert document, name + suffix
        sections = {"Parameters", "Attributes"} if inspect.isclass(member) else {"Parameters"}
        parameters = set(inspect.signature(member).parameters) - INHERITED
        assert parameters <= described(document, sections), name + suffix
