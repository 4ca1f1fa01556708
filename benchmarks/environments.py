"""Python environments for packages that are not installed beside `cosep`: made when needed, kept in ``.venv/peers``."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import THREADS, say

ENVIRONMENTS = Path(__file__).parents[1] / ".venv" / "peers"
# Seconds for an installation.
INSTALL_LIMIT = 900.0


class RivalError(Exception):
    """A package has not done what it was asked for; the message says why."""


class Environment(NamedTuple):
    """A package, its version, and what else has to be installed with it, as requirements of pip."""

    package: str
    pinned: str
    requires: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """Return the name of the package with its version."""
        return f"{self.package} {self.pinned}"

    @property
    def requirements(self) -> tuple[str, ...]:
        """Return what is given to pip."""
        return (f"{self.package}=={self.pinned}", *self.requires)

    def python(self) -> Path:
        """Return the interpreter of the environment, which is made if there is none with these requirements."""
        folder = ENVIRONMENTS / f"{self.package}-{self.pinned}"
        python, ready = folder / "bin" / "python", folder / "ready"
        wanted = "\n".join(self.requirements)
        if not ready.exists() or ready.read_text(encoding="utf-8") != wanted:
            say(f"    installing {self.package}")
            shutil.rmtree(folder, ignore_errors=True)
            why = f"{self.version} cannot be installed"
            run([sys.executable, "-m", "venv", folder], why)
            pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            run([python, *pip, *self.requirements], why, INSTALL_LIMIT)
            ready.write_text(wanted, encoding="utf-8")
        return python


# What the functions of `benchmarks.peers.calls` need besides; pinned, so that all environments compute alike.
NUMERICS = ("numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1")
FASTCAN = Environment("fastcan", "0.6.0", NUMERICS)
SCIKIT_MATTER = Environment("skmatter", "0.4.1", (*NUMERICS[:2], "scikit-learn==1.8.0"))


def run(command: list[str | Path], why: str, seconds: float | None = None) -> None:
    """Run a command on one thread; raise RivalError if it fails or takes too long."""
    limits = dict.fromkeys(THREADS, "1")
    try:
        subprocess.run(  # noqa: S603 - our own commands
            command, check=True, capture_output=True, text=True, timeout=seconds, env=os.environ | limits
        )
    except subprocess.TimeoutExpired as late:
        msg = f"{why} within {seconds:g} s"
        raise RivalError(msg) from late
    except (OSError, subprocess.CalledProcessError) as failed:
        lines = str(getattr(failed, "stderr", "") or failed).strip().splitlines()
        msg = f"{why}: {lines[-1] if lines else failed}"
        raise RivalError(msg) from failed
