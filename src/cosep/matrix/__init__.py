"""What may be asked of a data matrix, wherever it is: in memory, in blocks of rows, or on Dask.

`validation.as_matrix` checks raw input once and returns a `local.LocalMatrix`; `to_row_blocks.row_blocks` returns a
`row_blocks.RowBlocks` or a `dask.DaskBlocks`. Other rooms ask these for answers. How the entries are stored, and the
power of two that very large or small data are divided by, stay in this room.

A new backend implements one of two classes:

- a new place for blocks of rows: a subclass of `RowBlocks` with its own ``_reduced`` (evaluate a function for several
  blocks, and merge the answers in the order of `merging.tree`) and ``map_rows`` (the same for results with one row per
  row of the data), as in `DaskBlocks`;
- a new kind of array in memory: a subclass of `LocalMatrix` that answers from its own storage the questions in
  `STORED_QUESTIONS`; the other answers follow from these. `gram.GramMatrix`, which stores nothing, is an example. The
  function `validation.as_matrix` must return it for raw input of its kind.
"""

# The questions of a `LocalMatrix` that read its stored entries.
STORED_QUESTIONS = (
    *("shape", "dtype", "is_sparse", "T", "raw", "mantissa", "in_data_units"),
    *("dot", "cross", "between", "gram", "take", "dense_blocks", "to_arrays"),
    *("rows", "columns", "part", "scaled", "stored_by_rows", "stored_per_row"),
    *("largest", "smallest", "count_nonzero", "filled_columns", "counts", "squared_lengths", "largest_differences"),
)
