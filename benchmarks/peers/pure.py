"""Pure components: the spectra that all pixels of an image are mixtures of.

Planted mixtures: 1000 pixels x 100 bands (200 x 50 in the first set), k smooth spectra, shares from a Dirichlet
distribution. `pure` has a pixel of each spectrum alone, `nearly pure` at most 90 % of it and `mixed` at most 70 %;
Gaussian noise of 1 or 5 percent of the mean entry, and negative entries set to 0. The figure is the mean angle between
the true spectra and those found, each matched to one, in degrees: 0 is exact, less is better.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.data import Block
from benchmarks.harness import Row
from benchmarks.peers.cells import answers, averaged, of_tools, tool_with
from benchmarks.peers.process import Call
from benchmarks.peers.tools import PYSPTOOLS, Tool, archetypes, medoids, ours, scikit_learn, scikit_matter

MAIN = "angle"
TOOLS = (
    ours(),
    ours("SPA, rows only", "one_side", method="spa"),
    ours("SNPA, rows only", "one_side", method="snpa"),
    ours("CoS-FGM", method="cosfgm"),
    ours("MinVolNMF", "minimum_volume"),
    scikit_learn("NMF", "default", "nmf", init="nndsvda", max_iter=500),
    archetypes("AA", "default"),
    archetypes("AA", "furthest sum, 5 starts", init="furthest_sum", n_init=5),
    archetypes("ADA", "default"),
    Tool("pysptools ATGP", "default", Call("spectra", "endmembers", PYSPTOOLS, {"kind": "ATGP"})),
    Tool("pysptools N-FINDR", "default", Call("spectra", "endmembers", PYSPTOOLS, {"kind": "NFINDR"})),
    scikit_matter("FPS", "default"),
    scikit_matter("CUR", "default"),
    medoids("default"),
)


class Scene(NamedTuple):
    """Pixels, bands, spectra, the largest share of a spectrum in any pixel, and the noise."""

    m: int
    n: int
    k: int
    purest: float
    noise: float


SCENES = {
    "small": Scene(200, 50, 3, 1.0, 0.01),
    "pure": Scene(1000, 100, 6, 1.0, 0.01),
    "pure, noisy": Scene(1000, 100, 6, 1.0, 0.05),
    "nearly pure": Scene(1000, 100, 6, 0.9, 0.01),
    "nearly pure, noisy": Scene(1000, 100, 6, 0.9, 0.05),
    "mixed": Scene(1000, 100, 6, 0.7, 0.01),
}
SHORT_SCENES = ("small", "pure", "mixed")
COPIES = 3


def cells(*, full: bool) -> Iterator[Row]:
    """Yield the keys: all tools on all scenes."""
    for name in SCENES if full else SHORT_SCENES:
        yield from of_tools(TOOLS, set=name)


def tool_of(key: Row) -> Tool:
    """Return the tool of a key."""
    return tool_with(TOOLS, key)


def measure(key: Row, *, full: bool) -> Row:
    """Return the figures of one tool on some copies of a scene."""
    scene, tool = SCENES[key["set"]], tool_of(key)
    copies = [image(key["set"], seed) for seed in range(COPIES)]
    runs = answers(tool, [X for X, _ in copies], scene.k, full=full)
    seeds = len(runs) // COPIES
    figures = [{"angle": angle(copies[at // seeds], run.answer)} for at, run in enumerate(runs)]
    return {"k": scene.k, "rows": scene.m, **averaged(runs, figures, MAIN), "seeds": seeds}


@lru_cache(maxsize=8)
def image(name: str, seed: int) -> tuple[Block, Block]:
    """Return the pixels of a scene, and its spectra."""
    scene, random = SCENES[name], np.random.default_rng(seed)
    bands, centres = np.linspace(0, 1, scene.n), random.uniform(0, 1, (scene.k, 4))
    widths, heights = random.uniform(0.05, 0.25, (scene.k, 4)), random.uniform(0.2, 1.0, (scene.k, 4))
    bumps = heights[..., None] * np.exp(-(((bands - centres[..., None]) / widths[..., None]) ** 2))
    spectra = 0.1 + bumps.sum(axis=1)
    shares = random.dirichlet(np.full(scene.k, 0.5), 50 * scene.m)
    shares = shares[shares.max(axis=1) <= scene.purest][: scene.m]
    rest = (1.0 - scene.purest) / (scene.k - 1)
    shares[: scene.k] = rest + (scene.purest - rest) * np.eye(scene.k)
    X = shares @ spectra
    return np.maximum(X + scene.noise * X.mean() * random.standard_normal(X.shape), 0.0), spectra


def angle(copy: tuple[Block, Block], answer: dict[str, Any]) -> float:
    """Return the mean angle between spectra, in degrees; a tool that finds too few is 90 degrees off the rest."""
    X, spectra = copy
    found = np.asarray(answer["components"] if "components" in answer else X[np.asarray(answer["rows"], dtype=int)])
    true, found = (A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300) for A in (spectra, found))
    angles = np.degrees(np.arccos(np.clip(true @ found.T, -1.0, 1.0)))
    matched = angles[linear_sum_assignment(angles)]
    return float((matched.sum() + 90.0 * (len(true) - len(matched))) / len(true))
