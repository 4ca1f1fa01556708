"""The pipeline from a matrix to a fitted model, in memory and in blocks of rows."""
