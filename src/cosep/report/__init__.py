"""The report on a factorization, as one HTML page."""

from cosep.report.page import write_report

__all__ = ["write_report"]
