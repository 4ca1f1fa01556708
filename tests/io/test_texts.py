"""Texts have names, the options of word counts are respected, and new texts are counted by the same words."""

import csv
import json
import os
import string

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cosep.io.word_counts
from cosep.io import TextOptions, read, read_labels, vectorise
from cosep.io.word_counts import count_words

ALL = TextOptions(min_df=1, stop_words=None)


def test_a_folder_of_texts(tmp_path):
    (tmp_path / "b").mkdir()
    for name, text in (
        ("b/two.txt", "red fish"),
        ("b/<i>.TXT", "ﬁsh"),
        ("a.txt", ""),
        ("b.txt", "\ufeffred"),
        ("c.md", "no"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    matrix = read(tmp_path, text=ALL)
    assert matrix.row_names.tolist() == ["a", "b", "b/<i>", "b/two"]
    assert matrix.texts == ("", "red", "ﬁsh", "red fish")
    assert matrix.col_names.tolist() == ["fish", "red", "ﬁsh"]
    assert matrix.values.toarray().tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]
    (tmp_path / "d.txt").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"d.txt: expected text in UTF-8, but byte 0xff"):
        read(tmp_path, text=ALL)
    (tmp_path / "d.txt").unlink()
    os.mkfifo(tmp_path / "d.txt")
    with pytest.raises(ValueError, match=r"d.txt is not a regular file"):
        read(tmp_path)


def test_a_link_out_of_a_folder_of_texts_raises(tmp_path):
    (tmp_path / "texts" / "inner").mkdir(parents=True)
    (tmp_path / "texts" / "a.txt").write_text("red fish")
    (tmp_path / "texts" / "inner" / "b.txt").symlink_to("../a.txt")
    (tmp_path / "link").symlink_to("texts")
    assert read(tmp_path / "link").row_names.tolist() == ["a", "inner/b"]
    (tmp_path / "secret").write_text("blue fish")
    (tmp_path / "texts" / "inner" / "c.txt").symlink_to(tmp_path / "secret")
    for folder in ("texts", "link"):
        with pytest.raises(ValueError, match=r"inner/c\.txt is a link to something outside the folder; replace it"):
            read(tmp_path / folder)


@settings(deadline=None)
@given(
    st.lists(st.text(alphabet="aAbB _9é.\n"), min_size=1, max_size=8),
    st.booleans(),
    st.sampled_from([None, "english"]),
    st.sampled_from([1, 2, 0.5]),
    st.integers(1, 3),
)
def test_words_that_are_found_bit_by_bit_are_the_same(texts, lowercase, stop_words, min_df, ngrams):
    options = TextOptions(lowercase=lowercase, stop_words=stop_words, min_df=min_df, ngrams=ngrams)
    answers = []
    for check, short in ((None, 9), (lambda *_: None, 9), (lambda *_: None, 999)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cosep.io.word_counts, "MAX_SHORT_TEXT", short)
            patch.setattr(cosep.io.word_counts, "WORDS_AT_ONCE", 2)
            try:
                found = count_words([*texts, "the aa aB aa aB"], options, check)
                answers.append((found.values.toarray().tolist(), found.words.tolist()))
            except ValueError as error:
                answers.append(str(error))
    assert answers[0] == answers[1] == answers[2]


def test_one_text_per_line_counts_lines_from_one(tmp_path):
    (tmp_path / "x.txt").write_bytes(b"\xef\xbb\xbfred fish\r\n\r\n  blue, fish  \n\nold fish")
    matrix = read(tmp_path / "x.txt", text=ALL)
    assert matrix.row_names.tolist() == ["line 1", "line 3", "line 5"]
    assert matrix.texts == ("red fish", "blue, fish", "old fish")
    assert matrix.col_names.tolist() == ["blue", "fish", "old", "red"]
    assert matrix.text_options == ALL.to_mapping()


def test_json_lines(tmp_path):
    records = [
        {"id": "007", "text": "red fish", "body": "old", "of": "NA"},
        {"id": 8, "text": "<b> fish", "body": "x1", "of": None},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("\n\n".join(map(json.dumps, records)))
    matrix = read(path, text=ALL, labels="of")
    assert matrix.row_names.tolist() == ["007", "8"]
    assert matrix.labels.tolist() == ["NA", "null"]
    assert matrix.texts == ("red fish", "<b> fish")
    matrix = read(path, text=TextOptions(column="body", min_df=1), index="of")
    assert (matrix.row_names.tolist(), matrix.col_names.tolist()) == (["NA", "null"], ["old", "x1"])
    path.write_text('{"text": "red fish"}\n')
    assert read(path, text=ALL).row_names.tolist() == ["line 1"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_the_text_column_of_a_table(suffix, tmp_path):
    frame = pd.DataFrame({"key": ["007", "NA"], "say": ['red, "old"\nfish', "NA fish"], "n": [1, 2], "of": ["a", "b"]})
    path = tmp_path / f"x.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="," if suffix == "csv" else "\t")
    options = TextOptions(column="say", min_df=1, lowercase=False)
    matrix = read(path, text=options, index="key", labels="of")
    assert matrix.row_names.tolist() == ["007", "NA"]
    assert matrix.texts == tuple(frame["say"])
    assert matrix.labels.tolist() == ["a", "b"]
    assert matrix.col_names.tolist() == ["NA", "fish", "old", "red"]
    assert read(path, text=options).row_names.tolist() == ["row 0", "row 1"]
    with pytest.raises(
        ValueError, match="column='nope': there is no column of this name; the columns are 'key', 'say'"
    ):
        read(path, text=TextOptions(column="nope"))


def test_stop_words_and_rare_words_are_left_out():
    texts = ["The fish and the sea", "the fish", "Fish of the moon"]
    assert vectorise(texts)[1].tolist() == ["fish"]
    assert vectorise(texts, TextOptions(stop_words=None))[1].tolist() == ["fish", "the"]
    assert vectorise(texts, TextOptions(min_df=1, lowercase=False))[1].tolist() == [
        "Fish",
        "The",
        "fish",
        "moon",
        "sea",
    ]
    assert vectorise(texts, TextOptions(min_df=1.0))[1].tolist() == ["fish"]
    for options in (TextOptions(min_df=4), TextOptions(min_df=3, stop_words="english", lowercase=False)):
        with pytest.raises(ValueError, match=r"no word of the 3 texts remains.*lower min_df"):
            vectorise(texts, options)


@settings(deadline=None)
@given(texts=st.lists(st.text("abc ", min_size=1), min_size=1, max_size=6), count=st.integers(1, 9))
def test_the_most_frequent_words_are_kept_and_ties_go_by_the_alphabet(texts, count):
    texts = [*texts, "aa bb"]
    everything, words = vectorise(texts, ALL)
    totals = dict(zip(words.tolist(), everything.sum(axis=0).tolist(), strict=True))
    expected = sorted(totals, key=lambda word: (-totals[word], word))[:count]
    counts, kept = vectorise(texts, TextOptions(min_df=1, stop_words=None, top_words=count))
    assert kept.tolist() == sorted(expected)
    assert counts.sum(axis=0).tolist() == [totals[word] for word in kept]


@settings(deadline=None)
@given(texts=st.lists(st.text(string.ascii_letters + " ."), max_size=5), lowercase=st.booleans())
def test_new_texts_are_counted_by_the_stored_words(texts, lowercase):
    texts = [*texts, "aa BB cc the"]
    options = TextOptions(min_df=1, lowercase=lowercase)
    counts, words = vectorise(texts, options)
    stored = json.loads(json.dumps(options.to_mapping()))
    again = TextOptions.from_mapping(stored, words)
    assert again.to_mapping() == options.to_mapping()
    recounted, same = vectorise(texts, again)
    assert same.tolist() == words.tolist()
    np.testing.assert_array_equal(recounted.toarray(), counts.toarray())
    assert vectorise(["éé été éé"], again)[0].toarray().tolist() == [[0.0] * len(words)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"column": 3},
        {"stop_words": "klingon"},
        {"stop_words": [3]},
        {"stop_words": ()},
        {"min_df": 0},
        {"min_df": -0.5},
        {"min_df": 1.5},
        {"min_df": float("nan")},
        {"min_df": "2"},
        {"min_df": True},
        {"max_df": 0},
        {"max_df": 0.0},
        {"max_df": 1.5},
        {"max_df": "all"},
        {"ngrams": 0},
        {"ngrams": 6},
        {"ngrams": True},
        {"ngrams": (1, 2)},
        {"tfidf": "yes"},
        {"sublinear": 1},
        {"idf": (1.0, 2.0)},
        {"idf": (0.0,), "vocabulary": ("a",)},
        {"top_words": 0},
        {"top_words": True},
        {"lowercase": 1},
        {"vocabulary": ()},
        {"vocabulary": ("a", "a")},
    ],
    ids=str,
)
def test_bad_options_are_named(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}.* must "):
        TextOptions(**wrong)


def test_settings_of_another_kind_raise():
    for wrong in ({"token": 1}, 3, None, {"vocabulary": ("a",)}):
        with pytest.raises(
            ValueError, match=r"settings=.* must be a mapping with keys among column, idf, lowercase, max_df, min_df"
        ):
            TextOptions.from_mapping(wrong)


@pytest.mark.parametrize("row", [0, 150])
def test_a_text_may_be_long_in_any_column(row, tmp_path):
    texts = ["red fish"] * 200
    texts[row] = "blue fish " * 20_000
    before = csv.field_size_limit()
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *enumerate(texts)])
    table = read(tmp_path / "a.csv", text=TextOptions(column="text", max_df=1.0), index="id")
    assert table.texts[row] == texts[row]
    assert table.values.sum(axis=0).tolist() == [20_199.0, 199.0]
    assert csv.field_size_limit() == before
    with (tmp_path / "b.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "label"], ["0", texts[row]]])
    assert read_labels(tmp_path / "b.csv", ["0"]).tolist() == [texts[row]]
