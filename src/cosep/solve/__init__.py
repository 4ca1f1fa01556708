"""Nonnegative least squares and the alternations built on it."""
