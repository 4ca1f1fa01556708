"""Table of the claims that the document experiment tests, and their outcomes."""

from benchmarks.harness import Bar, Row
from benchmarks.page import table
from experiments.document_results import APPROXIMATION, DOCUMENTS, WORDS, Results, mean

LEAST_SETS = 12


def promises(results: Results) -> str:
    """Return the table of promises."""
    lines: list[Row] = [
        {
            "what": bar.what,
            "figure": "" if bar.figure is None else f"{bar.figure:.4g}",
            "bar": f"{'at least' if bar.at_least else 'at most'} {bar.limit:.4g}",
            "verdict": "**missed**" if bar.verdict == "missed" else bar.verdict,
        }
        for bar in (*of_the_paper(results), *of_the_default(results))
    ]
    return (
        "### What was to be shown\n\n"
        f"Over {len(results.sets)} sets; shares and multiples are those of averages. Greedy is the best known choice "
        f"of rows alone and of columns alone.\n\n{table(lines)}"
    )


def of_the_paper(results: Results) -> list[Bar]:
    """Hold CoS-FGM, as printed, against the print: in the digits that are printed."""
    pairs = results.pairs("CoS-FGM", APPROXIMATION)
    reached = sum(ours >= theirs for ours, theirs in pairs.values()) if pairs else None
    bars = [
        Bar(
            f"sets, of {len(pairs)}, where CoS-FGM reaches the printed approximation",
            reached,
            LEAST_SETS,
            at_least=True,
        )
    ]
    for part in (DOCUMENTS, WORDS):
        limit = rounded(results.printed_mean("CoS-FGM", part))
        if limit is not None:
            ours = rounded(results.mean("CoS-FGM", part.figure))
            bars.append(Bar(f"accuracy of CoS-FGM, {part.short}, percent; bar: as printed", ours, limit, at_least=True))
    return bars


def of_the_default(results: Results) -> list[Bar]:
    """Hold faithful against greedy, itself and NMF, and the clusters and seconds of the default against their bars."""

    def share(figure: str, reference: float | None, method: str = "faithful") -> float | None:
        ours = results.mean(method, figure)
        return None if ours is None or not reference else round(ours / reference, 4)

    sides = zip(*(results.column("faithful", f"{side}_fidelity_pct") for side in ("row", "column")), strict=True)
    weaker = mean(None if None in pair else min(pair) for pair in sides)
    return [
        *(
            Bar(
                f"fidelity of faithful's {side}s, as a share of greedy's",
                share(f"{side}_fidelity_pct", results.mean("greedy", f"{side}_fidelity_pct")),
                0.98,
                at_least=True,
            )
            for side in ("row", "column")
        ),
        Bar("of its core, as a share of the weaker side's", share("core_fidelity_pct", weaker), 0.95, at_least=True),
        Bar(
            "its approximation, refitted, as a share of NMF's",
            share(APPROXIMATION.figure, results.mean("NMF", APPROXIMATION.figure)),
            0.99,
            at_least=True,
        ),
        *(
            Bar(
                f"accuracy of the labels of the default, {part.short}, percent",
                rounded(results.mean("default", part.own)),
                65,
                at_least=True,
            )
            for part in (DOCUMENTS, WORDS)
        ),
        Bar("its seconds, as a multiple of NMF's", share("seconds", results.mean("NMF", "seconds"), "default"), 2),
    ]


def rounded(value: float | None) -> float | None:
    """Return as many digits as are printed."""
    return None if value is None else round(value, 2)
