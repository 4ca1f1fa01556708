"""Nonnegative matrix factorizations that select no rows or columns: one published algorithm per file."""
