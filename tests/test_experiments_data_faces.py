"""The faces come in their order, at the size asked for, and from nothing but the published archive."""

import doctest
import gzip
import hashlib
import io
import re
import tarfile

import numpy as np
import pytest

from experiments.data import MissingDataError, faces, load_faces


def pgm(pixels):
    return faces.HEADER + np.asarray(pixels, dtype=np.uint8).tobytes()


def images():
    """Return names and contents of 400 images; the gray value tells which one it is, and its first pixel the number."""
    for subject in range(1, 41):
        for number in range(1, 11):
            pixels = np.full(faces.STORED, 2 * subject)
            pixels[0, 0] = number
            yield f"orl_faces/s{subject}/{number}.pgm", pgm(pixels)


def packed(members):
    """Return the bytes of an archive; a content that is a TarInfo is the member itself."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in members:
            if isinstance(content, bytes):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
            else:
                archive.addfile(content, io.BytesIO(b"0\n".ljust(content.size, b"\0")))
    return gzip.compress(buffer.getvalue(), compresslevel=1, mtime=0)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A function that puts an archive into a data home of its own and makes its checksum the expected one."""
    path = tmp_path / faces.ARCHIVE
    path.parent.mkdir()

    def put(content):
        path.write_bytes(content)
        monkeypatch.setattr(faces, "CHECKSUM", hashlib.sha256(content).hexdigest())
        return tmp_path

    return put


def other(kind, name, target=""):
    """Return a member that is no regular file."""
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return name, member


def test_images_come_by_subject_and_number_and_not_by_name(store):
    home = store(packed(sorted(images())))
    read = load_faces(shape=None, home=home)
    assert read.images.shape == (400, 112, 92)
    np.testing.assert_array_equal(read.labels, np.repeat(np.arange(40), 10))
    np.testing.assert_array_equal(np.rint(255 * read.images[:, 0, 0]), np.tile(np.arange(1, 11), 40))
    np.testing.assert_array_equal(np.rint(255 * read.images[:, 1, 1]), 2 * (read.labels + 1))


def test_shrinking_keeps_flat_images_and_the_mean(store):
    random = np.random.default_rng(0)
    smooth = 100 + 50 * np.outer(np.sin(np.arange(112) / 20), np.cos(np.arange(92) / 20))
    contents = dict(images())
    contents["orl_faces/s1/1.pgm"] = pgm(np.rint(smooth))
    contents["orl_faces/s1/2.pgm"] = pgm(random.choice([0, 255], size=(112, 92)))
    home = store(packed(contents.items()))
    for shape in ((23, 19), (1, 1), [np.int64(7), 92]):
        read = load_faces(shape=shape, home=home)
        assert read.images.shape == (400, *shape)
        assert read.shape == tuple(shape)
        assert read.pixels.shape == (shape[0] * shape[1], 400)
        assert read.pixels.min() >= 0
        assert read.pixels.max() <= 1
        np.testing.assert_allclose(255 * read.pixels, np.rint(255 * read.pixels), atol=1e-9)
        assert 255 * read.images[0].mean() == pytest.approx(smooth.mean(), abs=2)
        np.testing.assert_allclose(read.images[-1, -1, -1], 80 / 255, atol=1 / 255)
    np.testing.assert_array_equal(faces._bicubic(92, 92), np.eye(92))


def test_results_are_not_shared(store):
    home = store(packed(images()))
    load_faces(home=home).pixels[:] = 7
    assert load_faces(home=home).pixels.max() <= 1


@pytest.mark.parametrize(
    "shape",
    [(0, 5), (-1, 5), (113, 5), (5, 93), (5,), (5, 5, 5), (2.5, 3), (True, True), "ab", 5, ("5", "5"), (np.nan, 1), []],
)
def test_bad_shapes_are_refused_before_anything_is_read(shape, tmp_path):
    with pytest.raises(ValueError, match=re.escape(f"shape={shape!r} must be height and width, two whole numbers")):
        load_faces(shape=shape, home=tmp_path)


def test_a_missing_archive_is_described(tmp_path):
    with pytest.raises(MissingDataError, match=r"faces/orl_faces\.tar\.gz, which is the ORL.*400 PGM.*sha256 e07ac1b"):
        load_faces(home=tmp_path)


def test_an_archive_with_another_checksum_is_not_unpacked(store, monkeypatch):
    content = packed(images())
    home = store(content)
    (home / faces.ARCHIVE).write_bytes(content[:-1])
    monkeypatch.setattr(gzip, "open", None)
    with pytest.raises(MissingDataError, match="cut short"):
        load_faces(home=home)


BLANK = pgm(np.zeros(faces.STORED))
FIRST = "orl_faces/s1/1.pgm"
SPARSE = tarfile.TarInfo(FIRST)
SPARSE.size = 512
SPARSE.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9" * 15}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it cannot be read"),
        (b"no archive", "it cannot be read"),
        (gzip.compress(b"no archive"), "it cannot be read"),
        (gzip.compress(b""), "it cannot be read"),
        (packed(images())[:20000], "it cannot be read"),
        (gzip.compress(gzip.decompress(packed(images()))[:20000]), "it cannot be read"),
        (gzip.compress(bytes(faces.MOST_BYTES + 1)), "it unpacks to more than"),
        (packed([]), "it has 0 images"),
        (packed([(FIRST, BLANK)]), "it has 1 images"),
        (packed([*images(), ("orl_faces/s41/1.pgm", BLANK)]), "it has 401 images"),
        (packed([("../orl_faces/s1/1.pgm", BLANK), ("/orl_faces/s1/1.pgm", BLANK)]), "it has 0 images"),
        (packed([(FIRST, BLANK[:-1])]), "not an image"),
        (packed([(FIRST, BLANK + b"0")]), "not an image"),
        (packed([(FIRST, bytes(len(BLANK)))]), "not an image"),
        (packed([other(tarfile.SYMTYPE, FIRST, "/etc/passwd")]), "not an image"),
        (packed([("other", BLANK), other(tarfile.LNKTYPE, FIRST, "other")]), "not an image"),
        (packed([other(tarfile.CHRTYPE, FIRST)]), "not an image"),
        (packed([(FIRST, SPARSE)]), "not an image"),
        (packed([other(tarfile.FIFOTYPE, FIRST)]), "not an image"),
        (packed([other(tarfile.DIRTYPE, FIRST)]), "not an image"),
    ],
    ids=lambda value: value if isinstance(value, str) else "archive",
)
def test_a_hostile_archive_is_refused_and_writes_nothing(content, reason, store):
    home = store(content)
    before = sorted(home.rglob("*"))
    with pytest.raises(MissingDataError, match=rf"faces/orl_faces\.tar\.gz is not the ORL.*: .*{reason}.*; replace it"):
        load_faces(home=home)
    assert sorted(home.rglob("*")) == before


def test_names_that_lead_elsewhere_are_passed_over(store):
    strange = [("../../outside", b"x"), ("/outside", b"x"), other(tarfile.SYMTYPE, "orl_faces/link", "/etc")]
    home = store(packed([*strange, *images()]))
    assert load_faces(home=home).pixels.shape == (437, 400)
    assert [path.name for path in home.rglob("*") if path.is_file()] == ["orl_faces.tar.gz"]
    assert not (home.parent / "outside").exists()


def test_the_published_faces_make_the_matrix_of_the_paper(data_home):
    read = load_faces(home=data_home)
    assert read.pixels.shape == (437, 400)
    assert read.pixels.dtype == np.float64
    assert 0 <= read.pixels.min() < 0.1
    assert 0.8 < read.pixels.max() <= 1
    assert len(np.unique(read.pixels, axis=1).T) == 400
    # Images of one person are more alike than images of two.
    alike = np.corrcoef(read.pixels.T)
    same = read.labels[:, None] == read.labels
    assert alike[same].mean() > alike[~same].mean() + 0.2


def test_bicubic_agrees_with_pillow(data_home):
    image = pytest.importorskip("PIL.Image")
    full, small = load_faces(shape=None, home=data_home), load_faces(home=data_home)
    for k in (0, 123, 399):
        picture = image.fromarray(np.rint(255 * full.images[k]).astype(np.uint8))
        theirs = np.asarray(picture.resize((19, 23), image.Resampling.BICUBIC), dtype=float)
        assert np.abs(255 * small.images[k] - theirs).max() <= 1


def test_the_stored_checksum_is_that_of_the_file(data_home):
    assert f"{faces.CHECKSUM}  {faces.ARCHIVE}" in (data_home / "SHA256SUMS").read_text().splitlines()


def test_the_example_that_needs_data_runs(data_home, monkeypatch):
    monkeypatch.setenv("COSEP_DATA", str(data_home))
    text = re.sub(r"# doctest: \+SKIP", "", load_faces.__doc__)
    test = doctest.DocTestParser().get_doctest(text, {}, "load_faces", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0
