"""What a new backend must implement: the two methods of blocks of rows, and the questions about stored entries."""

import ast
import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from cosep import CoSeparableNMF
from cosep.matrix import STORED_QUESTIONS
from cosep.matrix.local import LocalMatrix
from cosep.matrix.merging import chains, merged, tree
from cosep.matrix.row_blocks import RowBlocks, ask, ask_next, typed
from in_blocks import DATA, cut, lengths_of, local

X = DATA["counts"]


class ThreadBlocks(RowBlocks):
    """Blocks of rows that threads evaluate: the smallest backend."""

    def _reduced(self, task, state, asked, progress):
        runs = chains(asked)

        def leaf(k):
            part = None
            for i in runs[k]:
                part = ask_next(part, task, state, list(self.groups[i]), self.slots[i])
            return part

        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(leaf, range(len(runs))))
        if progress is not None:
            progress(len(asked), len(asked))
        return tree(range(len(runs)), parts.__getitem__, merged)

    def map_rows(self, task, state, columns):
        with ThreadPoolExecutor(4) as pool:
            parts = list(
                pool.map(lambda i: ask(task, state, list(self.groups[i]), self.slots[i]), range(len(self.groups)))
            )
        return tuple(np.concatenate(arrays) for arrays in zip(*(typed(part, columns) for part in parts), strict=True))


def test_blocks_of_a_new_backend_are_fitted_to_the_same_bits():
    lengths = lengths_of(len(X), 11, ragged=True)
    ours = CoSeparableNMF(4, 3).fit(ThreadBlocks(cut(X, lengths), lengths, X.shape[1]))
    theirs = CoSeparableNMF(4, 3).fit(local(X, lengths))
    np.testing.assert_array_equal(ours.row_indices_, theirs.row_indices_)
    np.testing.assert_array_equal(ours.col_indices_, theirs.col_indices_)
    np.testing.assert_array_equal(ours.row_labels_, theirs.row_labels_)
    np.testing.assert_array_equal(ours.core_, theirs.core_)


def test_the_list_of_questions_about_stored_entries_is_complete():
    (body,) = ast.parse(inspect.getsource(LocalMatrix)).body
    reading = {
        method.name
        for method in body.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_")
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and node.attr.lstrip("_") == "values"
    }
    assert reading <= {*STORED_QUESTIONS}
