"""Factorizations that choose nothing: one published algorithm per file."""
