"""Compilation of all kernels in advance."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cosep.cli import compiling
from cosep.cli.app import app

pytestmark = pytest.mark.slow


CODE = """
from cosep import compile_kernels
from cosep.estimators.compilation import kernels
print(compile_kernels())
print([name for name, kernel in kernels().items() if not kernel.signatures])
"""


@pytest.mark.subprocess
def test_all_kernels_are_compiled_and_kept(tmp_path):
    """With an empty cache: machine code from a full one includes that of kernels that are called by others."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    folder, uncompiled = ran.stdout.splitlines()
    assert uncompiled == "[]"
    assert Path(folder).is_relative_to(tmp_path)
    assert any(Path(folder).glob("*.nbi"))


def test_the_command_names_the_folder():
    result = CliRunner().invoke(app, ["compile"])
    assert result.exit_code == 0
    assert "Compiled in" in result.stdout


def test_the_command_says_what_to_do_if_nothing_can_be_kept(monkeypatch):
    monkeypatch.setattr(compiling, "compile_kernels", lambda: None)
    result = CliRunner().invoke(app, ["compile"])
    assert result.exit_code == 2
    assert "NUMBA_CACHE_DIR" in result.stderr
