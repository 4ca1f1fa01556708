"""Plant a few rows and columns in a matrix, hide them, and let cosep find them again."""

import time

import cosep

X, truth = cosep.make_coseparable(m=300, n=200, r1=8, r2=8, noise=1e-4, random_state=0)
start = time.perf_counter()
found = cosep.cosfgm(X, n_rows=8, n_cols=8)
factors = cosep.mix(X, found)
seconds = time.perf_counter() - start

print(f"A {X.shape[0]} x {X.shape[1]} matrix, mixed from 8 of its rows and 8 of its columns, with a little noise.")
print(f"Rows found:    {sorted(found.row_indices.tolist())}")
print(f"Columns found: {sorted(found.col_indices.tolist())}")
print(f"These are {cosep.index_accuracy(found, truth):.0%} of the planted ones.")
print(f"The 8 x 8 core explains {cosep.relative_approximation(X, factors):.2%} of the matrix (in {seconds:.1f} s).")
