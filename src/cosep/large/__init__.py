"""Matrices too large for memory: a few passes over blocks of rows, and a small weighted problem in between."""
