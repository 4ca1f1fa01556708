"""Inner loops compiled by numba, from arrays to arrays."""
