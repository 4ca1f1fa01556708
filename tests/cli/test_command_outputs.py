"""What the command writes: never over an input, whole, exactly the names that it read; and how it ends."""

import csv
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import cosep.cli.fit
import cosep.cli.matrix_source
import cosep.cli.ranks
import cosep.cli.transform
from cosep import make_coseparable
from cosep.cli.app import app
from cosep.cli.parsing import quoted
from cosep.cli.tables import formula_warning
from cosep.io import read, write_blocks

COSEP = Path(sys.executable).with_name("cosep")
posix = pytest.mark.skipif(sys.platform == "win32", reason="of POSIX")
SMALL = ("--rows", 2, "--cols", 2)
X = np.round(50 * make_coseparable(12, 8, 2, 2, noise=0.05, random_state=0)[0]) + 1


def invoke(*words):
    """Run the command in this process, without a terminal."""
    return CliRunner().invoke(app, list(map(str, words)))


def refused(result, *parts):
    """Ask for exit code 2 and one sentence."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr


def contents(folder):
    """Return the bytes of every file in a folder, and where links point to."""
    return {
        path.relative_to(folder): path.readlink() if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with matrices, texts, classes, stores and what cosep fit made of two of them."""
    home = tmp_path_factory.mktemp("fitted")
    np.save(home / "X.npy", X)
    pd.DataFrame(X, [f"r{i}" for i in range(12)], [f"column {j}" for j in range(8)]).to_csv(home / "wide.csv")
    (home / "classes.txt").write_text("a\nb\n" * 6)
    write_blocks(home / "store.zarr", [X])
    (home / "blocks").mkdir()
    np.save(home / "blocks" / "1.npy", X)
    (home / "texts").mkdir()
    for i, text in enumerate(["fish boat", "fish water", "oven bread", "oven boat bread"]):
        (home / "texts" / f"{i}.txt").write_text(text)
    for source, out in (("X.npy", "M"), ("store.zarr", "L")):
        assert invoke("fit", home / source, *SMALL, "--no-report", "--quiet", "--out", home / out).exit_code == 0
    shutil.copy(home / "M" / "model.npz", home / "other.npz")
    return home


@pytest.fixture
def home(fitted, tmp_path, monkeypatch):
    """A copy of it to try things in, with links of both kinds."""
    home = tmp_path / "home"
    shutil.copytree(fitted, home)
    monkeypatch.chdir(home)
    for name, goal in {"soft.npy": "X.npy", "core": "M/core.csv", "folder": ".", "soft.txt": "texts/0.txt"}.items():
        Path(name).symlink_to(goal)
    Path("hard.npy").hardlink_to("X.npy")
    Path("hard.csv").hardlink_to("M/core.csv")
    return home


@posix
@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("transform M X.npy --out X.npy", "--out='X.npy'"),
        ("transform M X.npy --out soft.npy", "--out='soft.npy'"),
        ("transform M soft.npy --out X.npy", "--out='X.npy'"),
        ("transform M X.npy --out hard.npy", "--out='hard.npy'"),
        ("transform M X.npy --out folder/X.npy", "--out='folder/X.npy'"),
        ("transform M X.npy --out M/model.npz", "--out='M/model.npz'"),
        ("transform M/model.npz X.npy --out folder/M/model.npz", "--out='folder/M/model.npz'"),
        ("transform M X.npy --out M/rows.csv", "--out='M/rows.csv'"),
        ("transform L X.npy --out L/rows.csv", "--out='L/rows.csv'"),
        ("transform other.npz X.npy --out other.npz", "--out='other.npz'"),
        ("transform M store.zarr --out store.zarr/zarr.json", "--out='store.zarr/zarr.json'"),
        ("transform M store.zarr --out store.zarr/new.csv", "--out='store.zarr/new.csv'"),
        ("transform M blocks --out blocks/2.npy", "--out='blocks/2.npy'"),
        ("transform M texts --out texts/0.txt", "--out='texts/0.txt'"),
        ("transform M texts --out texts/new.txt", "--out='texts/new.txt'"),
        ("transform M texts --out soft.txt", "--out='soft.txt'"),
        ("rank X.npy --plot X.npy", "--plot='X.npy'"),
        ("rank X.npy --plot hard.npy", "--plot='hard.npy'"),
        ("rank texts --plot texts/1.txt", "--plot='texts/1.txt'"),
        ("fit core --out M", "--out='M'"),
        ("fit hard.csv --out M", "--out='M'"),
        ("fit M/core.csv --out folder/M", "--out='folder/M'"),
        ("fit wide.csv --labels M/rows.csv --out M", "--out='M'"),
        ("fit wide.csv --labels core --out M", "--out='M'"),
        ("fit L/rows.zarr/row_factor --out L", "--out='L'"),
        ("fit store.zarr --out store.zarr", "--out='store.zarr'"),
        ("fit store.zarr --out folder/store.zarr/out", "--out='folder/store.zarr/out'"),
        ("fit blocks --out blocks", "--out='blocks'"),
        ("fit blocks --checkpoint blocks", "--checkpoint='blocks'"),
        ("fit store.zarr --checkpoint store.zarr/kept", "--checkpoint='store.zarr/kept'"),
        ("fit store.zarr --out L --checkpoint L/rows.zarr/kept", "--checkpoint='L/rows.zarr/kept'"),
    ],
)
def test_an_output_that_is_an_input_is_refused_before_any_work(words, option, home, monkeypatch):
    before = contents(home)
    for work in (cosep.cli.fit, cosep.cli.ranks, cosep.cli.transform):
        monkeypatch.setattr(work, "run", None)
    monkeypatch.setattr(cosep.cli.transform, "run_blocks", None)
    refused(invoke(*words.split()), option, "itself, or be part of it")
    assert contents(home) == before


@posix
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("streams", "out", "source", "said"),
    [
        (">> wide.csv", None, "wide.csv", "Standard output is INPUT itself"),
        ("< wide.csv", "wide.csv", "-", "out='wide.csv' would replace INPUT itself"),
        ("< wide.csv >> wide.csv", "new.csv", "-", "Standard output is INPUT itself"),
    ],
)
def test_standard_streams_that_are_the_input_are_refused(streams, out, source, said):
    code = (
        "from pathlib import Path; from cosep.cli.inputs import refuse_inputs\n"
        f"refuse_inputs('out', {out!r} and Path({out!r}), {{'INPUT': [Path({source!r})]}})"
    )
    script = f"{sys.executable} -c {shlex.quote(code)} {streams}"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert said in result.stderr.splitlines()[-1]


@pytest.mark.usefixtures("home")
def test_outputs_beside_the_inputs_are_fine():
    told = (invoke("transform", "M", "wide.csv", "--out", "M/new.csv") for _ in range(2))
    assert [result.exit_code for result in told] == [0, 0]
    assert invoke("fit", "texts", *SMALL, "--no-report", "--out", "texts/out").exit_code == 0
    Path("M/mine.csv").hardlink_to("wide.csv")
    assert invoke("fit", "M/mine.csv", *SMALL, "--no-report", "--out", "M").exit_code == 0
    assert Path("M/mine.csv").read_bytes() == Path("wide.csv").read_bytes()


# Every character that a table could take for something else, at the ends of a name and within it.
MARKS = [chr(i) for i in [*range(1, 32), 127, 0x85, 0x2028]] + list("\"',;=+-@#") + ["\r\n", '""', "\t\r"]


def named_matrix(path, names):
    """Write a square matrix that has these names, of rows and of columns, to a Parquet file."""
    n = len(names)
    values = np.eye(n) * 10 + np.arange(n * n).reshape(n, n) % 7
    frame = pd.DataFrame(values, columns=names)
    frame.insert(0, "row", names)
    frame.to_parquet(path, index=False)


def test_names_with_any_character_come_back_from_the_tables(tmp_path):
    names = [f"{mark}a{mark}{i}{mark}" for i, mark in enumerate(MARKS)]
    named_matrix(tmp_path / "it.parquet", names)
    size = ("--rows", len(names), "--cols", len(names))
    words = ("--index", "row", "--layout", "wide", *size, "--no-report", "--method", "spa", "--out", tmp_path / "out")
    result = invoke("fit", tmp_path / "it.parquet", *words, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    core = read(tmp_path / "out" / "core.csv", layout="wide")
    assert sorted(core.row_names) == sorted(names)
    assert sorted(core.col_names) == sorted(names)
    for table in ("rows.csv", "columns.csv"):
        frame = pd.read_csv(tmp_path / "out" / table, keep_default_na=False)
        assert frame["name"].tolist() == names
        with (tmp_path / "out" / table).open(newline="", encoding="utf-8") as file:
            assert [row["name"] for row in csv.DictReader(file)] == names
    words = ("transform", tmp_path / "out", tmp_path / "it.parquet", "--index", "row", "--layout", "wide")
    assert invoke(*words, "--complete", "--out", tmp_path / "full.csv").exit_code == 0
    full = read(tmp_path / "full.csv", index="name", layout="wide")
    assert full.row_names.tolist() == full.col_names.tolist() == names


def test_names_with_a_zero_byte_are_refused_before_the_fit(tmp_path, monkeypatch):
    """No table can hold them: readers take them for binary data."""
    named_matrix(tmp_path / "it.parquet", ["a", "b\0b", "c"])
    monkeypatch.setattr(cosep.cli.matrix_source, "CoSeparableNMF", None)
    words = ("--index", "row", "--layout", "wide", "--out", tmp_path / "out")
    refused(invoke("fit", tmp_path / "it.parquet", *words), r"the name 'b\x00b' has a zero byte")


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-log10p", "@user", "\t=1", "\r=1", "=", "-2x"]
PLAIN = ["a=1", "+1", "-1.5e-3", "- 2", "", "1-2", "'=1", " =1", "a@b"]


def test_names_that_a_spreadsheet_runs_are_kept_and_told(tmp_path):
    assert [name for name in FORMULAS if not formula_warning([name])] == []
    assert [name for name in PLAIN if formula_warning([name])] == []
    names = [*FORMULAS, "plain"]
    named_matrix(tmp_path / "it.parquet", names)
    reading = ("--index", "row", "--layout", "wide")
    result = invoke("fit", tmp_path / "it.parquet", *reading, *SMALL, "--stability", 0, "--out", tmp_path / "out")
    assert result.exit_code == 0
    (told,) = json.loads((tmp_path / "out" / "summary.json").read_text())["warnings"]
    assert told.startswith("16 names begin as formulas do, such as '=1+1'")
    assert told in " ".join(result.stdout.split())
    assert "16 names begin as formulas do" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert pd.read_csv(tmp_path / "out" / "rows.csv", keep_default_na=False)["name"].tolist() == names
    result = invoke("transform", tmp_path / "out", tmp_path / "it.parquet", *reading)
    assert result.exit_code == 0
    assert "names begin as formulas do" in result.stderr
    assert result.stderr.count("\n") == 1
    assert invoke("transform", tmp_path / "out", tmp_path / "it.parquet", *reading, "--json").stderr == ""


def test_an_exchange_that_would_improve_the_selection_is_a_warning_of_the_report_and_of_the_command(tmp_path):
    np.savetxt(tmp_path / "table.csv", X, delimiter=",", header=",".join("abcdefgh"), comments="")
    run = ("fit", tmp_path / "table.csv", *SMALL, "--stability", 0, "--method", "spa", "--out")
    result = invoke(*run, tmp_path / "spa")
    assert result.exit_code == 0, result.output
    (told,) = json.loads((tmp_path / "spa" / "summary.json").read_text())["warnings"]
    assert told.startswith("Replacing the selected row \u201c")
    assert "Replacing the selected row" in result.stdout
    assert told in (tmp_path / "spa" / "report.html").read_text(encoding="utf-8")
    invoke(*run, tmp_path / "short", "--no-report")
    assert json.loads((tmp_path / "short" / "summary.json").read_text())["warnings"] == []


@posix
@pytest.mark.usefixtures("home")
def test_paths_that_are_not_unicode_work_from_end_to_end(monkeypatch):
    odd = os.fsdecode(b"caf\xe9's")
    for source in ("wide.csv", "store.zarr"):
        name = f"{odd} {source}"
        Path(source).rename(name)
        words = ["fit", name, *map(str, SMALL)]
        monkeypatch.setattr(sys, "argv", ["cosep", *words])
        result = invoke(*words, "--json")
        assert result.exit_code == 0, result.output
        out = Path(f"{Path(name).stem}-cosep")
        said, kept = json.loads(result.stdout), json.loads((out / "summary.json").read_text(encoding="utf-8"))
        assert {Path(file) for file in said["files"]} == set(out.iterdir())
        script = kept["command"].replace("cosep", r"printf '%s\n'", 1)
        echoed = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout
        assert echoed.split(b"\n")[:2] == [b"fit", os.fsencode(name)]
        assert "caf\\xe9" in (out / "report.html").read_text(encoding="utf-8")
        assert invoke("transform", out, name, "--out", f"{odd}.csv").exit_code == 0
        assert len(Path(f"{odd}.csv").read_text().splitlines()) == 13
    refused(invoke("fit", f"{odd} absent.csv"), "caf")
    words = [COSEP, "fit", f"{odd} wide.csv", "--rows=2", "--cols=2", "--no-report"]
    read_by_people = subprocess.run(words, capture_output=True, check=False)
    assert (read_by_people.returncode, read_by_people.stderr) == (0, b"")
    assert b"caf?'s wide-cosep/model.npz" in read_by_people.stdout


def test_words_are_quoted_for_the_shell():
    assert quoted("plain.csv") == "plain.csv"
    assert quoted("two words") == "'two words'"
    assert quoted(os.fsdecode(b"\xff'\\ \n")) == r"$'\xff\x27\x5c \x0a'"


@posix
@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("fit - --kind csv <&-", 2, "standard input: is empty"),
        ("transform M X.npy >&-", 2, "Standard output is closed"),
        ("--help >&-", 2, "Standard output is closed"),
        ("fit X.npy --rows 2 --cols 2 --no-report --quiet --out M <&- >&- 2>&-", 0, ""),
        ("fit nothing.csv 2>/dev/full", 2, ""),
        ("fit --nonsense 2>/dev/full", 2, ""),
        ("--help | sleep 0; exit ${PIPESTATUS[0]}", 0, ""),
    ],
)
def test_closed_and_full_streams_are_no_traceback(script, code, said, home):
    result = subprocess.run(["bash", "-c", f"{COSEP} {script}"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (code, "")
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == bool(said)
    assert not [path for path in home.rglob(".*") if path.name.startswith((".part", ".cosep"))]


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_to_end_are_exceptions_unless_they_are_ignored(number):
    code = (
        "import signal; from cosep.cli.process import Terminated, catch_signals\n"
        "catch_signals()\n"
        "try:\n"
        f"    signal.raise_signal({int(number)})\n"
        "    print('ignored')\n"
        "except Terminated as end:\n"
        "    print(end.name, end.exit_code)"
    )
    for action, said in ((signal.SIG_DFL, f"{number.name} {128 + number}"), (signal.SIG_IGN, "ignored")):
        told = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            preexec_fn=lambda action=action: signal.signal(number, action),
        )
        assert told.stdout == f"{said}\n"


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_destructor_is_not_lost(number):
    code = (
        "import signal, time; from cosep.cli.process import Terminated, catch_signals\n"
        "catch_signals()\n"
        "class Slow:\n"
        f"    def __del__(self): signal.raise_signal({int(number)})\n"
        "try:\n"
        "    thing = Slow()\n"
        "    del thing\n"
        "    time.sleep(10)\n"
        "    print('lost')\n"
        "except (KeyboardInterrupt, Terminated) as end:\n"
        "    print(type(end).__name__)"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    assert completed.stdout == ("KeyboardInterrupt\n" if number == signal.SIGINT else "Terminated\n")
    assert completed.stderr == ""


@posix
def test_a_signal_to_end_cleans_up(home):
    np.save("large.npy", np.random.default_rng(0).random((600, 500)))
    before = contents(home)
    words = [COSEP, "fit", "large.npy", "--rows", "60", "--cols", "60", "--out", "M"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not list(Path("M").glob(".part-*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (143, "", "Stopped by SIGTERM.\n")
    assert contents(home) == before
    assert not list(Path("M").glob(".*"))


@posix
@pytest.mark.usefixtures("home")
def test_what_a_killed_run_left_is_cleaned_up_by_the_next():
    np.save("large.npy", np.random.default_rng(0).random((600, 500)))
    process = subprocess.Popen([COSEP, "fit", "large.npy", "--rows", "60", "--cols", "60", "--out", "M"])
    while process.poll() is None and not list(Path("M").glob(".part-*/new")):
        time.sleep(0.01)
    busy = invoke("fit", "X.npy", "--out", "M")
    process.kill()
    process.wait(timeout=60)
    refused(busy, "--out='M' is being written by another run of cosep")
    assert list(Path("M").glob(".part-*"))
    assert invoke("transform", "M", "X.npy").exit_code == 0
    assert invoke("fit", "X.npy", *SMALL, "--no-report", "--quiet", "--out", "M").exit_code == 0
    assert sorted(path.name for path in Path("M").iterdir()) == [
        *("columns.csv", "core.csv", "model.npz", "rows.csv", "summary.json")
    ]


@pytest.mark.usefixtures("home")
def test_a_model_whose_folder_was_left_half_published_is_found():
    """As after a kill between two renames: the old files are aside, the new ones come, the model last."""
    part = Path("M/.part-abcdefgh")
    for name in ("old", "ready"):
        (part / name).mkdir(parents=True)
    for file in ("model.npz", "rows.csv"):
        shutil.copy(f"M/{file}", part / "old" / file)
    Path("M/model.npz").rename(part / "ready" / "model.npz")
    assert invoke("transform", "M", "X.npy").exit_code == 0
    assert sorted(path.name for path in Path("M").iterdir()) == [
        *("columns.csv", "core.csv", "model.npz", "rows.csv", "summary.json")
    ]
