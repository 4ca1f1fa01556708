"""The command on blocks of rows: what it writes of all rows is true of all rows, and what cannot be is refused."""

import csv
import errno
import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr
from typer.testing import CliRunner

import cosep.cli.block_source
import cosep.findings.block_groups
import cosep.fit.checkpoint
import cosep.fit.column_factors
import cosep.fit.in_blocks
import cosep.fit.sample_selection
import cosep.matrix.row_blocks
from cosep import CoSeparableNMF, Factorization, Selection, make_coseparable
from cosep.cli.app import app
from cosep.findings.topics import topics_of
from cosep.io import read_blocks, write_blocks

M, N, R, SAMPLE = 300, 24, 4, 60
SIZES = ("--rows", R, "--cols", R, "--sample", SAMPLE)
FILES = ["columns.csv", "core.csv", "model.npz", "report.html", "rows.zarr", "summary.json"]


def invoke(*words):
    """Run the command in this process, without a terminal."""
    return CliRunner().invoke(app, list(map(str, words)))


def refused(result, *parts):
    """Ask for exit code 2 and one sentence."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr


def table(text):
    return list(csv.DictReader(text.splitlines()))


def same_tables(one, other):
    """Ask for equal names, and for numbers that differ by rounding alone."""
    rows = [[[*row.values()] for row in table(text)] for text in (one, other)]
    assert [row[:2] for row in rows[0]] == [row[:2] for row in rows[1]]
    numbers = [[[float(value or "nan") for value in row[2:]] for row in some] for some in rows]
    np.testing.assert_allclose(*numbers, rtol=1e-9, atol=1e-9)


@pytest.fixture(scope="module")
def counts():
    planted, _ = make_coseparable(M, N, R, R, noise=0.3, random_state=0)
    planted[:, 5] = 0
    planted[7] = 0
    return scipy.sparse.csr_array(np.round(20 * planted))


@pytest.fixture(scope="module")
def home(counts, tmp_path_factory):
    """Return a folder with a store, and what the command makes of it in some turns of some blocks."""
    home = tmp_path_factory.mktemp("blocks")
    write_blocks(home / "it.zarr", [counts[:100], counts[100:]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cosep.matrix.row_blocks, "MOST_ROWS", 32)
        patch.setattr(cosep.findings.block_groups, "MOST_NUMBERS", 70 * (2 * R + 1))
        result = invoke("fit", home / "it.zarr", *SIZES, "--json", "--out", home / "out", "--checkpoint", home / "kept")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    (home / "said.json").write_text(result.stdout)
    return home


@pytest.fixture(scope="module")
def said(home):
    return json.loads((home / "said.json").read_text())


@pytest.fixture(scope="module")
def rows(home):
    store = zarr.open_group(home / "out" / "rows.zarr", mode="r")
    return [store[name][:] for name in ("row_factor", "row_weights", "row_labels")]


def test_all_files_are_there_and_nothing_else(home):
    assert sorted(file.name for file in (home / "out").iterdir()) == FILES
    assert sorted(file.name for file in home.iterdir()) == ["it.zarr", "out", "said.json"]


def test_rows_are_those_of_the_estimator(home, rows, said):
    model = CoSeparableNMF(R, R, sample_size=SAMPLE).fit(read_blocks(home / "it.zarr"))
    np.testing.assert_allclose(rows[0], np.asarray(model.row_factor_), atol=1e-8)
    np.testing.assert_allclose(rows[1], np.asarray(model.row_weights_), atol=1e-8)
    np.testing.assert_array_equal(rows[2], np.asarray(model.row_labels_))
    assert [one["index"] for one in said["selected_rows"]] == model.row_indices_.tolist()
    assert [one["index"] for one in said["selected_cols"]] == model.col_indices_.tolist()
    assert said["fidelity"]["rows"] == pytest.approx(model.row_fidelity_)
    assert said["fidelity"]["refitted"] == pytest.approx(model.refitted_fidelity_)
    assert said["bound"]["refitted"] == pytest.approx(model.fidelity_bound_.refitted)
    assert said["scaling"] == "degree"
    assert said["n_passes"] == model.n_passes_
    assert said["n_sampled"] == len(model.sample_indices_) < M
    assert said["shape"] == [M, N]


def degree_factors(X):
    """Return the factors of rows and columns by their definition."""
    factors = []
    for sums in (X.sum(axis=1), X.sum(axis=0)):
        mean = sums.sum() / np.count_nonzero(sums)
        factors.append(np.where(sums > 0, (sums + 0.2 * mean) ** -0.5, 1.0))
    return factors


def test_the_summary_is_of_all_rows(counts, home, rows, said):
    chosen = [one["index"] for one in said["selected_rows"]]
    dense, record = counts.toarray(), Factorization.load(home / "out" / "model.npz")
    D, E = degree_factors(dense)
    norms = np.linalg.norm(dense * E, axis=1)
    parts = rows[0] * np.linalg.norm(record.core @ record.col_factor * E, axis=1)
    clusters = np.where(norms > 0, parts.argmax(axis=1), -1)
    np.testing.assert_array_equal(clusters, rows[2])
    for k, topic in enumerate(said["topics"]):
        assert topic["row"] == f"row {chosen[k]}"
        assert topic["size"] == (clusters == k).sum()
        ours = [i for i in np.flatnonzero(clusters == k) if i != chosen[k]]
        best = sorted(ours, key=lambda i: (-round(parts[i, k] / norms[i], 9), i))[:3]
        assert topic["others"] == [f"row {i}" for i in best]
    scaled = D[:, None] * dense * E
    for part, product in (("rows", rows[1] @ dense[chosen]), ("refitted", rows[0] @ record.core @ record.col_factor)):
        error = np.linalg.norm(scaled - D[:, None] * product * E) / np.linalg.norm(scaled)
        assert said["fidelity"][part] == pytest.approx(1 - error**2)


def test_columns_are_measured_on_all_rows(counts, home, rows, said):
    found = table((home / "out" / "columns.csv").read_text())
    record = Factorization.load(home / "out" / "model.npz")
    dense, topics = counts.toarray(), topics_of(record)
    D = degree_factors(dense)[0][:, None]
    left = np.linalg.norm(D * (dense - rows[0] @ record.core @ record.col_factor), axis=0)
    lengths = np.linalg.norm(D * dense, axis=0)
    for j, row in enumerate(found):
        assert row["name"] == f"column {j}"
        if lengths[j] == 0:
            assert (row["explained"], row["cluster"], row["representative"]) == ("", "-1", "")
        else:
            assert abs(float(row["explained"]) - 1 + (left[j] / lengths[j]) ** 2) < 1e-4
        assert (row["explains"] != "") == (row["selected"] == "1") == (j in topics.cols)
    shares = [float(found[j]["explains"]) for j in topics.cols]
    assert sum(shares) == pytest.approx(said["fidelity"]["refitted"], abs=1e-3)


def test_the_page_says_which_rows_it_shows(home, said):
    page = (home / "out" / "report.html").read_text(encoding="utf-8")
    assert f"This page shows {said['n_sampled']} rows sampled from {M}" in page


def test_new_rows_are_explained_block_by_block(counts, home, monkeypatch, tmp_path):
    np.savez(tmp_path / "whole.npz", counts.toarray())
    whole = invoke("transform", home / "out", tmp_path / "whole.npz")
    monkeypatch.setattr(cosep.matrix.row_blocks, "MOST_ROWS", 32)
    monkeypatch.setattr(cosep.findings.block_groups, "MOST_NUMBERS", 16 * 70 * (R + 1))
    found = invoke("transform", home / "out", home / "it.zarr").stdout
    same_tables(found, whole.stdout)
    assert invoke("transform", home / "out", home / "it.zarr", "--out", tmp_path / "rows.csv").stdout == ""
    assert (tmp_path / "rows.csv").read_text() == found


def test_new_rows_get_the_numbers_of_the_library(counts, home):
    model = CoSeparableNMF(R, R, sample_size=SAMPLE).fit(read_blocks(home / "it.zarr"))
    found = table(invoke("transform", home / "out", home / "it.zarr").stdout)
    ours = np.array([[float(value) for value in [*row.values()][5:]] for row in found])
    # Two fits in different blocks, whose sums are rounded differently.
    np.testing.assert_allclose(ours, np.asarray(model.transform(counts)), rtol=1e-9, atol=1e-9)


def test_names_of_tables_are_used_in_any_order(counts, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    frame = pd.DataFrame(counts.toarray(), [f"cell {i}" for i in range(M)], [f"gene {j}" for j in range(N)])
    frame[:150].to_parquet(folder / "part1.parquet")
    frame[150:].to_parquet(folder / "part2.parquet")
    result = invoke("fit", folder, *SIZES, "--no-report", "--quiet", "--out", tmp_path / "out")
    assert (result.exit_code, result.output) == (0, "")
    said = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert all(one["name"] == f"cell {one['index']}" for one in said["selected_rows"])
    turned = tmp_path / "turned"
    turned.mkdir()
    frame[frame.columns[::-1]].to_parquet(turned / "a.parquet")
    told = [invoke("transform", tmp_path / "out", path).stdout for path in (folder, turned)]
    same_tables(*told)
    assert table(told[0])[3]["name"] == "cell 3"


def test_a_later_answer_replaces_the_former_whatever_it_was(counts, home, tmp_path):
    scipy.sparse.save_npz(tmp_path / "one.npz", counts)
    words = ("--rows", R, "--cols", R, "--no-report", "--quiet", "--out", tmp_path / "out")
    for _ in range(2):
        for source, own in ((home / "it.zarr", "rows.zarr"), (tmp_path / "one.npz", "rows.csv")) * 2:
            assert invoke("fit", source, *words).exit_code == 0
            assert sorted(file.name for file in (tmp_path / "out").glob("rows*")) == [own]
        assert invoke("fit", home / "it.zarr", *words).exit_code == 0


def test_whatever_ends_the_work_leaves_nothing(home, monkeypatch, tmp_path):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cosep.cli.block_source, "describe_blocks", stop)
    result = invoke("fit", home / "it.zarr", *SIZES, "--out", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (130, "Stopped by Ctrl-C.\n")
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_stopped_goes_on(home, said, monkeypatch, tmp_path):
    def stop(*_):
        raise KeyboardInterrupt

    kept = tmp_path / "kept"
    words = (
        "fit",
        home / "it.zarr",
        *SIZES,
        "--no-report",
        "--json",
        f"--out={tmp_path / 'out'}",
        "--checkpoint",
        kept,
    )
    with monkeypatch.context() as patch:
        patch.setattr(cosep.fit.in_blocks, "fit_columns", stop)
        assert invoke(*words).exit_code == 130
    assert [path.name for path in kept.glob("statistics-*")]
    with monkeypatch.context() as patch:
        patch.setattr(cosep.fit.in_blocks, "statistics", stop)
        patch.setattr(cosep.fit.sample_selection, "candidates", stop)
        found = json.loads(invoke(*words).stdout)
    assert not kept.exists()
    for name in ("shape", "selected_rows", "selected_cols", "n_passes", "n_sampled"):
        assert found[name] == said[name]
    check_same_topics(found, said)


def check_same_topics(found, said):
    """Check that two summaries have the same topics; sums over blocks are taken in any order."""
    for one, other in zip(found["topics"], said["topics"], strict=True):
        assert one.pop("explains") == pytest.approx(other["explains"], abs=1e-9)
        assert one == {name: part for name, part in other.items() if name != "explains"}


@pytest.mark.parametrize("stage", ["describe_blocks", "write_page"])
def test_a_checkpoint_is_kept_until_everything_is_written(stage, home, said, monkeypatch, tmp_path):
    """A stop after the fit, in the pass that explains all rows or in what is written, costs no pass of the fit."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    kept = tmp_path / "kept"
    words = ("fit", home / "it.zarr", *SIZES, "--json", "--out", tmp_path / "out", "--checkpoint", kept)
    with monkeypatch.context() as patch:
        patch.setattr(cosep.cli.block_source, stage, stop)
        assert invoke(*words).exit_code == 130
    assert list(kept.glob("outcome-*"))
    with monkeypatch.context() as patch:
        for module, task in (
            (cosep.fit.in_blocks, "statistics"),
            (cosep.fit.sample_selection, "candidates"),
            (cosep.fit.column_factors, "factor_sums"),
            (cosep.fit.in_blocks, "outcome"),
        ):
            patch.setattr(module, task, stop)
        found = json.loads(invoke(*words).stdout)
    assert not kept.exists()
    check_same_topics(found, said)


def test_a_full_disk_of_the_checkpoint_is_not_blamed_on_the_answer(home, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cosep.fit.checkpoint, "write_arrays", full)
    words = ("fit", home / "it.zarr", *SIZES, "--out", tmp_path / "out", "--checkpoint", tmp_path / "kept")
    refused(invoke(*words), f"--checkpoint='{tmp_path / 'kept'}' cannot be written to (No space left on device)")
    assert not (tmp_path / "out").exists()


def test_names_that_cannot_be_read_are_told_before_the_fit(home, monkeypatch, tmp_path):
    def names_of(positions):
        if 250 in positions:
            msg = "the names are damaged"
            raise ValueError(msg)
        return np.char.add("row ", positions.astype(np.str_))

    blocks = read_blocks(home / "it.zarr")
    blocks.row_names = names_of
    monkeypatch.setattr(cosep.cli.block_source, "read_blocks", lambda *_, **__: blocks)
    monkeypatch.setattr(cosep.cli.block_source, "CoSeparableNMF", None)
    refused(invoke("fit", home / "it.zarr", *SIZES, "--out", tmp_path / "out"), "the names are damaged")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "option",
    [
        *("--choose-rank", "--stability=3", "--labels=a", "--label-column=a", "--kind=csv", "--layout=wide"),
        *("--index=a", "--variable=a", "--text-column=a", "--stop-words=none", "--min-df=3", "--top-words=3"),
    ],
)
def test_options_that_say_nothing_of_blocks_are_refused(option, home):
    refused(invoke("fit", home / "it.zarr", option), option.split("=")[0], "does not apply to blocks of rows")


@pytest.mark.parametrize("option", ["--checkpoint=a", "--sample=30", "--scheduler=tcp://127.0.0.1:8786"])
def test_options_of_blocks_are_refused_elsewhere(option, tmp_path):
    np.save(tmp_path / "a.npy", np.eye(5))
    refused(invoke("fit", tmp_path / "a.npy", option), option.split("=")[0], "is for blocks of rows")


def test_answers_that_cannot_be_written_block_by_block_are_refused(home):
    refused(invoke("transform", home / "out", home / "it.zarr", "--json"), "--json", "does not apply to blocks of rows")


@pytest.mark.parametrize("decoder", ["ridge", "nonnegative", "weights"])
def test_blocks_of_selected_columns_are_completed_as_in_memory(decoder, counts, home, tmp_path, monkeypatch):
    monkeypatch.setattr(cosep.findings.block_groups, "MOST_NUMBERS", 70 * 16 * N)
    record = Factorization.load(home / "out" / "model.npz")
    model = CoSeparableNMF(R, R, method=lambda *_sizes: Selection(np.arange(R), record.selection.col_indices))
    model.fit(counts)
    for name in ("means", "spreads", "correlations", "largest"):
        np.testing.assert_allclose(getattr(record.panel, name), getattr(model.factorization_.panel, name), atol=1e-12)
    file = tmp_path / "errors.csv"
    said = invoke("transform", home / "out", home / "it.zarr", "--complete", "--decoder", decoder, "--errors", file)
    assert said.exit_code == 0
    full = pd.read_csv(StringIO(said.stdout), index_col=0)
    cols = record.selection.col_indices
    expected = model.complete(counts[:, cols], decoder=decoder)
    np.testing.assert_allclose(full.to_numpy(), expected, rtol=1e-6, atol=1e-8)
    errors = pd.read_csv(file)
    assert errors["column"].tolist() == full.columns.tolist()
    assert np.flatnonzero(errors["selected"]).tolist() == sorted(cols.tolist())
    assert (errors["error"][errors["selected"] == 1] == 0).all()


def test_what_is_wished_wrongly_is_refused(home, tmp_path):
    words = ("--out", tmp_path / "out")
    refused(invoke("fit", home / "it.zarr", "--rows", M + 1, *words), f"--rows={M + 1} must be at most")
    refused(invoke("fit", home / "it.zarr", "--sample", 3, *words), "--sample=3 must be at least")
    refused(invoke("fit", home / "it.zarr", "--layer", "a", *words), "--layer='a'")
    refused(invoke("fit", home / "it.zarr", "--scaling", "sinkhorn", *words), "--scaling='sinkhorn'")
    refused(invoke("fit", home / "it.zarr", "--scheduler", "nowhere", *words), "--scheduler='nowhere'")
    refused(invoke("fit", home / "it.zarr", "--out", home / "it.zarr" / "out"), "part of it")
    refused(invoke("transform", home / "out", home / "out" / "rows.zarr" / "row_factor"), "lacks")
    assert not (tmp_path / "out").exists()


def test_texts_stay_texts(tmp_path):
    """A folder with texts is one of texts, whatever else is in it."""
    np.save(tmp_path / "a.npy", np.eye(5))
    for i, text in enumerate(["fish boat", "fish water", "oven bread", "oven boat bread"]):
        (tmp_path / f"{i}.txt").write_text(text)
    result = invoke("fit", tmp_path, "--rows=2", "--cols=2", "--no-report", "--json", f"--out={tmp_path / 'out'}")
    assert json.loads(result.stdout)["shape"][0] == 4


def test_a_folder_without_texts_says_where_blocks_go(home):
    refused(invoke("rank", home / "it.zarr"), "cosep fit")
