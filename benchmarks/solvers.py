"""The convex model with a few hundred columns: the published fast gradient and Newton's method, to the same accuracy.

Each problem is the self-dictionary model with the lambda that is the multiplier of trace `r/2 + 1`. The clock of the
published solver stops when its objective is within the tolerance of the optimum, which the solver itself cannot know.
Ours stops when its duality gap proves this. The optimum is that of Newton's method with a relative gap of 1e-10.

The published arithmetic costs the same at every step (n x n Gram matrix, a sort for each of n rows), so 30 steps are
timed and multiplied by the number of steps needed. Each time we check that its objectives agree with those of our fast
gradient, which takes the same steps at lower cost. The bars are for the published solver; `ratio_own` is the ratio to
our own fast gradient.

Topics: Poisson counts of a random topic model. TDT2: 30 of the 1000 most frequent words, selected by SPA, in the 500
documents that use them most. Planted: a co-(10, 10)-separable matrix with one percent of noise. Faces: 40 pixels,
selected by SPA, of the 400 ORL faces.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.data import Block, documents, faces, topics
from benchmarks.harness import Bar, Row, race, say, warm
from benchmarks.published import fast_gradient, project
from cosep import make_coseparable, spa
from cosep.solve.fast_gradient import solve_fast_gradient
from cosep.solve.newton import solve_newton
from experiments.data import MissingDataError

# Numbers of steps of the fast gradient to try; if the last is too small, the ratio is a lower bound.
STEPS = (500, 1_500, 5_000)
TOLERANCES = (1e-4, 1e-6)


def planted(m: int, n: int) -> Block:
    """Return a co-(10, 10)-separable matrix with noise."""
    return make_coseparable(m, n, 10, 10, noise=0.01, random_state=0)[0]


def words() -> Block:
    """Return 30 words of TDT2 in 500 documents."""
    X = documents("TDT30").counts
    block = X[:, spa(X, 30, normalize=False).col_indices].toarray().T
    return np.ascontiguousarray(block[:, np.argsort(-block.sum(axis=0), kind="stable")[:500]])


def pixels() -> Block:
    """Return 40 pixels of the faces."""
    X = faces().pixels
    return X[spa(X.T, 40).col_indices]


# The function that makes the block, the rank, and the required speed-up of Newton's method.
PROBLEMS: dict[str, tuple[Callable[[], Block], int, float]] = {
    "topics 20 x 500": (partial(topics, 20, 500), 20, 50),
    "TDT2 30 x 500": (words, 30, 50),
    "planted 100 x 100": (partial(planted, 100, 100), 10, 50),
    "faces 40 x 400": (pixels, 40, 20),
}
TINY = {"planted 30 x 30": (partial(planted, 30, 30), 10, 50.0)}


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per problem and tolerance."""
    warm()
    for name, (make, r, _) in (TINY if tiny else PROBLEMS).items():
        say(f"  {name}")
        try:
            yield from ({"problem": name, **row} for row in compare(make(), r))
        except MissingDataError as missing:
            yield {"problem": name, "note": str(missing)}


def compare(B: Block, r: int) -> Iterator[Row]:
    """Yield one row per tolerance."""
    w = B.sum(axis=0)
    lam = solve_newton(B, w, r=r, trace=r / 2 + 1, tol=1e-10).penalty
    newton = partial(solve_newton, B, w, r=r, penalty=lam)
    gradient = partial(solve_fast_gradient, B, w, r=r, penalty=lam)
    optimum = newton(tol=1e-10).objective
    for most in STEPS:
        values = np.array([value for value, _, _ in gradient(tol=0.0, max_iter=most).history])
        if values.min() <= optimum * (1 + min(TOLERANCES)):
            break
    project(np.zeros((2, 2)), np.ones(2))
    few = min(30, len(values))
    np.testing.assert_allclose(fast_gradient(B, w, lam, few), values[:few], rtol=1e-7)
    for tol in TOLERANCES:
        reached = values <= optimum * (1 + tol)
        steps = int(reached.argmax()) + 1 if reached.any() else len(values)
        times = race(
            published=partial(fast_gradient, B, w, lam, few),
            gradient=partial(gradient, tol=0.0, max_iter=steps),
            newton=partial(newton, tol=tol),
        )
        yield {
            "tolerance": tol,
            "steps": steps,
            "published_s": times["published"].seconds * steps / few,
            "gradient_s": times["gradient"].seconds,
            "newton_s": times["newton"].seconds,
            "ratio": times["published"].seconds * steps / few / times["newton"].seconds,
            "ratio_own": times["gradient"].seconds / times["newton"].seconds,
            "gap": times["newton"].answer.relative_gap,
            "note": "" if reached.any() else f"not reached in {len(values)} steps",
        }


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the ratios at the smaller tolerance with their limits."""
    finest = min(TOLERANCES)
    ratios = {row["problem"]: row["ratio"] for row in rows if row.get("tolerance") == finest}
    return [
        Bar(
            f"speed-up over the published solver, tolerance {finest:g}, {name}",
            ratios.get(name),
            limit,
            at_least=True,
        )
        for name, (_, _, limit) in PROBLEMS.items()
    ]
