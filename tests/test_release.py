"""What a release states in several files agrees, and its checks call targets that exist."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import cosep

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_has_one_source_that_citation_and_changelog_follow():
    assert "version" in PROJECT["dynamic"]
    cited = dict(re.findall(r"^(version|date-released): (.+)$", text_of("CITATION.cff"), re.MULTILINE))
    assert cited["version"] == cosep.__version__
    assert f"\n## {cosep.__version__} - {cited['date-released']}\n" in text_of("CHANGELOG.md")


def test_addresses_are_those_of_the_project():
    source, site = PROJECT["urls"]["Source"], PROJECT["urls"]["Documentation"]
    assert f'repository-code: "{source}"' in text_of("CITATION.cff")
    assert f'url: "{site}"' in text_of("CITATION.cff")
    assert f"git clone {source}\n" in text_of("docs/install.md")


def test_every_extra_is_described():
    described = set(re.findall(r"^\| `(\w+)` \|", text_of("docs/install.md"), re.MULTILINE))
    assert described == set(PROJECT["optional-dependencies"])


def test_every_target_that_is_named_exists():
    targets = {name for line in re.findall(r"^([a-z ]+):", text_of("Makefile"), re.MULTILINE) for name in line.split()}
    pages = ["README.md", "CONTRIBUTING.md", "RELEASING.md", "docs/install.md", ".pre-commit-config.yaml"]
    for page in pages:
        assert set(re.findall(r"(?:^ +|`|entry: )make (\w+)", text_of(page), re.MULTILINE)) <= targets, page
    hosted = "".join(path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    steps = re.findall(r"run: make ([a-z ]+)", hosted)
    assert steps
    assert {name for step in steps for name in step.split()} <= targets


def test_the_sdist_has_every_file_of_the_project():
    kept = tomllib.loads(text_of("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: which files belong to the project is not known")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = {line.partition("/")[0] for line in listed.splitlines()}
    by_the_build = {"pyproject.toml", ".gitignore", "LICENSE"}
    assert names - by_the_build - {".ci"} == {name.strip("/") for name in kept}
