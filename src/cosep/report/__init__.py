"""A factorization enters, one HTML page for a reader leaves."""

from cosep.report.page import write_report

__all__ = ["write_report"]
