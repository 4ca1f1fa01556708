"""One file per package: functions ``(X, k, seed, **options) -> dict`` of arrays.

The arrays are ``rows`` and ``cols`` (positions of what is selected), ``row_labels`` and ``col_labels`` (clusters),
``topics`` (weights of the columns in each topic) and ``components`` (components in the units of the columns). These
files run in environments that need not have `cosep`: they import nothing of it, except `ours`.
"""
