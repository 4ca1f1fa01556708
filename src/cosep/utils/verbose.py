"""Progress as plain lines, for models with ``verbose=True``."""

import math
from collections.abc import Callable

import numpy as np

from cosep.utils.messages import shown
from cosep.utils.types import Callback

# A stage of more steps than this is reported at about this many of them.
MOST_REPORTS = 10


def with_verbose(callback: Callback | None, verbose: object) -> Callback | None:
    """Return a callback that also prints the progress if ``verbose`` is true.

    Examples
    --------
    >>> from cosep.utils.verbose import with_verbose
    >>> with_verbose(None, True)("mix", 1, 100, 0.25)
    [cosep] mix: 1 of at most 100, relative error 0.25
    """
    if not isinstance(verbose, (bool, int, np.bool_, np.integer)):
        msg = f"verbose={shown(verbose)} must be True or False."
        raise ValueError(msg)
    if not verbose or not (callback is None or callable(callback)):
        return callback  # what cannot be called is refused where the progress is reported
    if callback is None:
        return printing()
    report, own = printing(), callback

    def both(stage: str, step: int, n_steps: int, value: float) -> None:
        report(stage, step, n_steps, value)
        own(stage, step, n_steps, value)

    return both


def printing(write: Callable[[str], None] = print) -> Callback:
    """Return a callback that writes a line for the first step of each stage, and for about every tenth of them."""
    last: dict[str, int] = {}

    def report(stage: str, step: int, n_steps: int, value: float) -> None:
        part = step * MOST_REPORTS // max(n_steps, 1)
        if last.get(stage) == part and step > 1:
            return
        last[stage] = part
        # The convex models measure how far they are from solved.
        what = "relative gap" if stage == "solve" else "relative error"
        number = "" if math.isnan(value) else f", {what} {value:.4g}"
        write(f"[cosep] {stage}: {step} of at most {n_steps}{number}")

    return report
