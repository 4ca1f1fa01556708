"""The title of an answer, what its rows and columns are called, and the lines of a comparison as they come."""

import io
import json

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from cosep import Factorization
from cosep.cli import compare
from cosep.cli.app import app
from cosep.findings.comparison import compare_methods

X = np.kron(np.eye(3), np.ones((4, 3))) + 0.1


def fitted(tmp_path, source, *words):
    result = CliRunner().invoke(
        app,
        ["fit", str(source), "--rows", "2", "--cols", "2", "--stability", "0", "--out", str(tmp_path / "out"), *words],
    )
    assert result.exit_code == 0, result.output
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    return result.stdout, json.loads((tmp_path / "out" / "summary.json").read_text()), page


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "x.csv"
    np.savetxt(path, X, delimiter=",", header=",".join("abcdefghi"), comments="")
    return path


def test_a_table_has_its_file_name_rows_and_columns(tmp_path, table):
    said, summary, page = fitted(tmp_path, table)
    assert said.startswith("2 of 12 rows were selected, one for each topic, and 2 of 9 columns")
    assert summary["title"] == "x.csv"
    assert "nouns" not in summary
    assert "<h1><bdi>x.csv</bdi></h1>" in page


def test_titles_and_nouns_can_be_given_and_stay_with_the_model(tmp_path, table):
    words = ("--title", "Trade <of> 2000", "--row-noun", "country", "--col-noun", "product")
    said, summary, page = fitted(tmp_path, table, *words)
    assert said.startswith("2 of 12 countries were selected, one for each topic, and 2 of 9 products")
    assert summary["nouns"] == ["country", "product"]
    assert "<h1><bdi>Trade &lt;of&gt; 2000</bdi></h1>" in page
    assert "12 countries \u00d7 9 products" in page
    assert dict(Factorization.load(tmp_path / "out" / "model.npz").meta)["nouns"] == ["country", "product"]


def test_texts_are_documents_and_words(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("apple pear plum\npear plum\nnut bolt screw\nbolt screw\n" * 3)
    said, summary, page = fitted(tmp_path, path)
    assert summary["nouns"] == ["document", "word"]
    assert "documents" in said
    assert "Find a document or a word" in page


def test_cells_and_genes_are_called_so(tmp_path):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(X).write_h5ad(tmp_path / "x.h5ad")
    _, summary, page = fitted(tmp_path, tmp_path / "x.h5ad")
    assert summary["nouns"] == ["cell", "gene"]
    assert "Find a cell or a gene" in page


@pytest.mark.parametrize("option", ["title", "row-noun", "col-noun"])
def test_an_empty_word_is_refused(tmp_path, table, option):
    result = CliRunner().invoke(app, ["fit", str(table), f"--{option}", " ", "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert result.stderr == f"--{option} is empty; pass a word, or leave it out.\n"
    assert not (tmp_path / "out").exists()


def test_methods_appear_as_they_finish():
    out = io.StringIO()
    labels = np.repeat(["a", "b", "c"], 4)
    answer = {"shape": [12, 9], "n_rows": 3, "n_cols": 3, "accuracy_of_one_cluster": 0.3}
    names = ["faithful", "sklearn-nmf", "sklearn-cocluster"]
    table = compare.MethodTable(answer, names, Console(file=out, width=100))
    heights = [len(out.getvalue().splitlines())]
    for line in compare_methods(X, 3, 3, names, labels, seconds=60):
        table.print_method(line)
        heights.append(len(out.getvalue().splitlines()))
    assert np.diff(heights).tolist() == [1, 1, 1]
    last = out.getvalue().splitlines()[-1].split()
    assert last[0] == "sklearn-cocluster"
    head, titles = out.getvalue().splitlines()[2:4]
    ends = {len(row) for row in out.getvalue().splitlines()[3:]}
    assert len(head) <= len(titles)
    assert ends == {len(titles)}
    assert " 1.000 " in out.getvalue()
    table.print_method({"method": "hals", "note": "it failed"})
    table.finish()
    assert "hals: it failed" in out.getvalue()


@pytest.mark.filterwarnings("ignore:Writing zarr v2 data:UserWarning")
def test_a_store_of_an_anndata_has_cells_and_genes(tmp_path):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(X).write_zarr(tmp_path / "cells.zarr")
    result = CliRunner().invoke(
        app, ["fit", str(tmp_path / "cells.zarr"), "--rows", "2", "--cols", "2", "--out", str(tmp_path / "out")]
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("2 of 12 cells were selected, one for each topic, and 2 of 9 genes")
    assert "Find a cell or a gene" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
