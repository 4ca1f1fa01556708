"""A file of published data is used only if it is there and is the expected one."""

import hashlib
import os
import re
from pathlib import Path

import pytest

from experiments.data import MissingDataError, home

WHAT = "a file of five letters"


@pytest.fixture
def stored(tmp_path):
    """A small file below a data home, and its checksum."""
    path = tmp_path / "texts" / "word.txt"
    path.parent.mkdir()
    path.write_bytes(b"hello")
    return path, hashlib.sha256(b"hello").hexdigest()


@pytest.fixture
def hashed(monkeypatch):
    """The files that are hashed from here on."""
    files = []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda file, kind: files.append(file.name) or digest(file, kind))
    home._sha256.cache_clear()
    return files


def complaint(folder, checksum):
    with pytest.raises(MissingDataError) as error:
        home.verified(folder, "texts/word.txt", checksum, WHAT)
    assert all(part in str(error.value) for part in ("texts/word.txt", WHAT, checksum))
    return str(error.value)


def test_the_home_is_the_argument_or_else_what_the_environment_names(tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv("COSEP_DATA", str(tmp_path))
    assert home.data_home() == tmp_path
    assert home.data_home(other) == other
    assert home.data_home(str(other)) == other
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert home.data_home("~/other") == other


@pytest.mark.parametrize("named", [None, ""])
def test_without_a_home_the_error_says_how_to_name_one_and_what_to_put_there(named, monkeypatch):
    monkeypatch.delenv("COSEP_DATA", raising=False)
    if named is not None:
        monkeypatch.setenv("COSEP_DATA", named)
    assert "pass home, or set the environment variable COSEP_DATA" in complaint(None, "0")
    assert "pass home" in complaint("", "0")


@pytest.mark.parametrize("named", ["nowhere", "~nobody-of-that-name/data"])
def test_a_home_that_is_no_folder_is_named(named, monkeypatch):
    assert f"home={named!r} is not a folder" in complaint(named, "0")
    monkeypatch.setenv("COSEP_DATA", named)
    assert f"COSEP_DATA={named!r} is not a folder" in complaint(None, "0")


def test_a_home_that_no_folder_can_be_called_is_refused():
    with pytest.raises(ValueError, match=r"home='a\\x00b' is not a name that a file can have"):
        home.verified("a\0b", "texts/word.txt", "0", WHAT)


@pytest.mark.parametrize("wrong", [3, b"data", ["data"], True])
def test_a_home_must_be_a_path(wrong):
    with pytest.raises(ValueError, match=re.escape(f"home={wrong!r} must be the path of a folder")):
        home.data_home(wrong)


def test_a_file_with_the_expected_checksum_is_found(stored, tmp_path):
    path, checksum = stored
    assert home.verified(tmp_path, "texts/word.txt", checksum, WHAT) == path


def test_a_missing_file_and_a_folder_in_its_place_are_refused(stored, tmp_path):
    path, checksum = stored
    path.unlink()
    assert f"There is no file texts/word.txt in {tmp_path}" in complaint(tmp_path, checksum)
    path.mkdir()
    assert "There is no file" in complaint(tmp_path, checksum)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes on this system")
def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(stored, tmp_path):
    path, checksum = stored
    path.unlink()
    os.mkfifo(path)
    assert "There is no file" in complaint(tmp_path, checksum)


@pytest.mark.parametrize("content", [b"", b"hell", b"hello!", b"jello"])
def test_another_content_is_refused_with_both_checksums(stored, tmp_path, content):
    path, checksum = stored
    path.write_bytes(content)
    message = complaint(tmp_path, checksum)
    assert f"its sha256 is {hashlib.sha256(content).hexdigest()}" in message
    assert "replace it" in message


def test_a_file_that_cannot_be_opened_is_missing_data_too(stored, tmp_path, monkeypatch):
    path, checksum = stored

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    home._sha256.cache_clear()
    assert f"{path} cannot be read (Permission denied)" in complaint(tmp_path, checksum)


def test_a_file_is_hashed_again_only_after_a_change(stored, tmp_path, hashed):
    path, checksum = stored
    for _ in range(3):
        home.verified(tmp_path, "texts/word.txt", checksum, WHAT)
    assert hashed == [str(path)]
    path.write_bytes(b"jello")
    os.utime(path, ns=(0, 0))
    complaint(tmp_path, checksum)
    complaint(tmp_path, checksum)
    assert hashed == [str(path)] * 2
