"""The warning for a core that explains far less than the refitted factors."""

from cosep.fit.result import FitResult
from cosep.records.selection import SelectionWarning
from cosep.utils.warn import warn

# A core that explains less than this share of what the refitted factors explain is worth a warning.
MIN_CORE_SHARE = 0.8


def warn_if_unfaithful(result: FitResult) -> None:
    """Warn if the core is a permuted diagonal matrix and explains far less than the refitted factors."""
    rows, cols, core, explained = (share or 0.0 for share in result.fidelity)
    if result.core_diagnosis.permuted_diagonal and core < MIN_CORE_SHARE * explained:
        warn(
            "The core is a permuted diagonal matrix: each selected row meets one selected column. The refitted "
            f"factors are then those of plain NMF, whatever was selected: they explain {explained:.1%} of X, "
            f"the selected rows themselves {rows:.1%}, the columns {cols:.1%}, the core {core:.1%}. Read row_weights_ "
            "and col_weights_ instead, or select more rows and columns.",
            SelectionWarning,
        )
