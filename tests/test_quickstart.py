"""The quickstart does what it says when it is copied and pasted."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "quickstart.md"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pasted(title):
    """Return the program of one section: its blocks in order, without installing anything."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = []
    for language, block in BLOCK.findall(section[1]):
        if language == "python":
            lines.append(f"python - <<'PASTED'\n{block}PASTED\n")
        else:
            lines += [line for line in block.splitlines(keepends=True) if not line.startswith("pip install")]
    return "".join(lines)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the blocks are for a shell")
@pytest.mark.parametrize(
    ("title", "made"),
    [
        ("A table", ["wine-cosep/report.html", "mixtures.csv", "completed.csv", "wines.html"]),
        ("Texts", ["numpy-cosep/report.html"]),
        ("Cells and genes", ["cells.png"]),
    ],
)
def test_every_section_ends_in_a_picture_or_a_page(tmp_path, title, made):
    if title == "Cells and genes" and find_spec("scanpy") is None:
        pytest.skip("scanpy is not installed, which ships the cells")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "MPLBACKEND": "agg", "PYTHONWARNINGS": "default"}
    subprocess.run(["bash", "-ec", pasted(title)], cwd=tmp_path, env=environment, check=True, capture_output=True)
    for name in made:
        assert (tmp_path / name).stat().st_size > 10_000 or name.endswith(".csv"), name
        assert (tmp_path / name).stat().st_size > 0
