"""Benchmarks of `cosep` and its peers, measured in one run: the code, the results as CSV files, and one page."""
