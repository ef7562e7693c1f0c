"""A bundle as a ZIP: the same bytes every time, nothing foreign in it, and no way to do harm."""

from __future__ import annotations

import contextlib
import copy
import io
import stat
import struct
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BundleFolder, review
from hypothesis import given
from hypothesis import strategies as st
from small_site import open_bundle

from touchstone.bundle import Bundle, find_bundles, write_bundle
from touchstone.bundle.archive import is_archive, pack_bundle, unpack_bundle
from touchstone.bundle.reading import is_bundle_file
from touchstone.bundle_check import check_archive, check_bundle
from touchstone.errors import BundleError

ROOT = Path(__file__).parents[1]
BUNDLES = find_bundles(ROOT / "bundles")
MANIFEST_ENTRY = ("tiny/bundle.yaml", b"format: 1\nid: tiny\nsuite: {id: x}\nmodels: []\n")
FOREIGN = [
    ".touchstone.lock",
    ".answers.jsonl.x1.tmp",
    "notes.txt",
    "bundle.yaml.bak",
    "raw/.hidden.txt",
    "raw/picture.png",
    "raw/sub/x.txt",
    "exchange/thesis.md",
    "other/answers.jsonl",
]
OURS = [
    "answers.jsonl",
    "bundle.yaml",
    "exchange/judge_request.alpha--default.md",
    "exchange/judge_response.alpha--default.yaml",
    "judge_meta_request.a.md",
    "judge_meta_request.md",
    "judge_meta_response.ada.a.yaml",
    "judge_meta_response.yaml",
    "judge_probes.jsonl",
    "judge_quality.json",
    "judge_quality.md",
    "raw/alpha--default.E1.1.txt",
    "reports.jsonl",
    "reviews.jsonl",
    "suite.yaml",
    "verdicts.jsonl",
]


def put(folder: Path, name: str, content: bytes = b"x") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


@pytest.fixture
def full(tmp_path: Path) -> Bundle:
    """A bundle that has every kind of file, among files that are none of its own."""
    bundle = open_bundle(tmp_path)
    for name in (*OURS, *FOREIGN):
        if not (bundle.path / name).exists():
            put(bundle.path, name)
    (bundle.path / "raw/link.1.txt").symlink_to("/etc/hostname")
    return bundle


def names(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


# --- what belongs to a bundle --------------------------------------------------------------


def test_a_bundles_files_are_those_of_the_format_and_nothing_else(full: Bundle) -> None:
    assert full.files() == OURS


@pytest.mark.parametrize("path", BUNDLES, ids=[path.name for path in BUNDLES])
def test_every_file_of_a_bundle_that_ships_belongs_to_it(path: Path) -> None:
    there = {one.relative_to(path).as_posix() for one in path.rglob("*") if one.is_file()}
    assert set(Bundle.open(path).files()) == there


def test_a_linked_folder_of_replies_is_not_the_bundles(folder: BundleFolder) -> None:
    put(folder.path.parent, "elsewhere/alpha--default.E1.1.txt")
    (folder.path / "raw").symlink_to(folder.path.parent / "elsewhere")
    assert folder.open().files() == ["bundle.yaml", "suite.yaml"]


@pytest.mark.parametrize(
    "name", ["", "/bundle.yaml", "../bundle.yaml", "raw/../bundle.yaml", "raw\\x.txt", "raw/é.txt"]
)
def test_a_name_that_leads_elsewhere_is_no_name_of_a_bundles_file(name: str) -> None:
    assert not is_bundle_file(name)


# --- packing -------------------------------------------------------------------------------


def test_an_archive_holds_the_bundles_files_sorted_in_one_folder(
    full: Bundle, tmp_path: Path
) -> None:
    pack_bundle(full, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        entries = archive.infolist()
        assert archive.testzip() is None
        assert archive.read("tiny/suite.yaml") == (full.path / "suite.yaml").read_bytes()
    assert [entry.filename for entry in entries] == [f"tiny/{name}" for name in OURS]
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {stat.filemode(entry.external_attr >> 16) for entry in entries} == {"-rw-r--r--"}


def test_two_archives_of_one_bundle_are_byte_identical_whatever_the_files_dates(
    full: Bundle, tmp_path: Path
) -> None:
    pack_bundle(full, tmp_path / "a.zip")
    for name in OURS:
        (full.path / name).chmod(0o600)
        (full.path / name).touch()
    pack_bundle(Bundle.open(full.path), tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_bundle_whose_id_is_no_file_name_is_whole_when_unpacked(tmp_path: Path) -> None:
    folder = BundleFolder(tmp_path / "Büro, 1.")
    text = 'format: 1\nid: "Büro, 1."\nsuite: {id: small}\nmodels: [model: alpha]\n'
    folder.write("bundle.yaml", text)
    pack_bundle(folder.open(), tmp_path / "bundle.zip")
    assert all(name.startswith("Buro-1-") for name in names(tmp_path / "bundle.zip"))
    assert check_archive(tmp_path / "bundle.zip").problems == ()


def test_a_linked_file_that_the_bundle_needs_is_refused_by_name(
    full: Bundle, tmp_path: Path
) -> None:
    real = (full.path / "answers.jsonl").rename(tmp_path / "answers.jsonl")
    (full.path / "answers.jsonl").symlink_to(real)
    with pytest.raises(BundleError, match=r"answers\.jsonl is a link"):
        pack_bundle(Bundle.open(full.path), tmp_path / "a.zip")


# --- unpacking -----------------------------------------------------------------------------


def test_what_was_packed_comes_out_byte_for_byte(full: Bundle, tmp_path: Path) -> None:
    pack_bundle(full, tmp_path / "a.zip")
    (tmp_path / "out").mkdir()
    unpacked = unpack_bundle(tmp_path / "a.zip", tmp_path / "out")
    bundle = Bundle.open(unpacked.folder)
    assert (unpacked.folder.name, unpacked.foreign) == ("tiny", ())
    assert bundle.files() == full.files()
    assert all((bundle.path / one).read_bytes() == (full.path / one).read_bytes() for one in OURS)
    assert bundle.sha256 == full.sha256


@pytest.mark.parametrize("path", BUNDLES, ids=[path.name for path in BUNDLES])
def test_a_bundle_that_ships_is_found_the_same_in_its_archive(path: Path, tmp_path: Path) -> None:
    pack_bundle(Bundle.open(path), tmp_path / "a.zip")
    findings = check_archive(tmp_path / "a.zip")
    assert findings == check_bundle(path)
    assert findings.checked == check_bundle(path).checked


def zipped(path: Path, *entries: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def test_an_archive_made_by_hand_may_hold_other_files_which_are_noted(
    folder: BundleFolder, tmp_path: Path
) -> None:
    files = [(one, (folder.path / one).read_bytes()) for one in folder.open().files()]
    extra = [("__MACOSX/tiny/._bundle.yaml", b"x"), ("tiny/.DS_Store", b"x"), ("tiny/raw/", b"")]
    path = zipped(tmp_path / "a.zip", *[(f"tiny/{one}", data) for one, data in files], *extra)
    findings = check_archive(path)
    assert findings.ok
    assert [one.message for one in findings.notes if one.code == "foreign_file"] == [
        "holds __MACOSX/tiny/._bundle.yaml, which belongs to no bundle",
        "holds tiny/.DS_Store, which belongs to no bundle",
    ]


def test_an_archive_without_a_folder_is_named_by_its_file(
    folder: BundleFolder, tmp_path: Path
) -> None:
    files = [(one, (folder.path / one).read_bytes()) for one in folder.open().files()]
    assert check_archive(zipped(tmp_path / "tiny.zip", *files)).ok
    (found,) = check_archive(zipped(tmp_path / "big.zip", *files)).problems
    assert found.code == "id_mismatch"


def test_decisions_and_a_running_writer_do_not_matter(folder: BundleFolder, tmp_path: Path) -> None:
    folder.answers("E1")
    folder.write_lines("reviews.jsonl", review("E1", "accept"))
    with write_bundle(folder.path):
        pack_bundle(folder.open(), tmp_path / "a.zip")
    assert names(tmp_path / "a.zip") == [
        f"tiny/{one}" for one in ("answers.jsonl", "bundle.yaml", "reviews.jsonl", "suite.yaml")
    ]


def link_entry() -> tuple[zipfile.ZipInfo, bytes]:
    entry = zipfile.ZipInfo("tiny/answers.jsonl")
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry, b"/etc/passwd"


def encrypted(path: Path) -> Path:
    zipped(path, MANIFEST_ENTRY)
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    path.write_bytes(data)
    return path


def packed_with_lzma(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr(*MANIFEST_ENTRY)
    return path


def with_link(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(*MANIFEST_ENTRY)
        archive.writestr(*link_entry())
    return path


def bomb(path: Path) -> Path:
    """Let 40 names share the same packed 32 MB of zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(*MANIFEST_ENTRY)
        archive.writestr("tiny/raw/0.txt", bytes(32 << 20))
        for number in range(1, 40):
            entry = copy.copy(archive.filelist[1])
            entry.filename = entry.orig_filename = f"tiny/raw/{number}.txt"
            archive.filelist.append(entry)
    assert path.stat().st_size < 100_000
    return path


def boasting(path: Path) -> Path:
    """Declare a size of 4 GB in the directory for a file of two bytes."""
    zipped(path, MANIFEST_ENTRY, ("tiny/answers.jsonl", b"\n\n"))
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<L", 0xFFFFFFFE)
    path.write_bytes(data)
    return path


def cut(path: Path) -> Path:
    data = zipped(path, MANIFEST_ENTRY).read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return path


def flipped(path: Path) -> Path:
    data = bytearray(zipped(path, MANIFEST_ENTRY, ("tiny/suite.yaml", b"a" * 500)).read_bytes())
    data[data.index(b"suite.yaml") + 11] ^= 0xFF
    path.write_bytes(data)
    return path


def entries(*more: tuple[str, bytes]) -> Callable[[Path], Path]:
    return lambda path: zipped(path, *more)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (entries(MANIFEST_ENTRY, ("../evil.txt", b"x")), "names a place outside"),
        (entries(MANIFEST_ENTRY, ("tiny/../../evil.txt", b"x")), "names a place outside"),
        (entries(MANIFEST_ENTRY, ("/tmp/evil.txt", b"x")), "names a place outside"),
        (entries(MANIFEST_ENTRY, ("C:evil.txt", b"x")), "names a place outside"),
        (entries(MANIFEST_ENTRY, ("tiny\\evil.txt", b"x")), "names a place outside"),
        (entries(MANIFEST_ENTRY, ("tiny/BUNDLE.yaml", b"x")), "stands there twice"),
        (with_link, "is a link or device"),
        (encrypted, "is encrypted"),
        (packed_with_lzma, "packed in an uncommon way"),
        (bomb, "no bundle does that"),
        (boasting, "no bundle does that"),
        (cut, "damaged or no ZIP"),
        (flipped, "damaged or no ZIP"),
        (entries(), "holds no bundle"),
        (entries(("a/b/bundle.yaml", b"")), "holds no bundle"),
        (entries(("a/bundle.yaml", b""), ("b/bundle.yaml", b"")), "holds several bundles"),
        (entries((f"{'x' * 300}/bundle.yaml", b"")), "can't be unpacked: File name too long"),
        (entries(("./bundle.yaml", b"")), "can't be unpacked: File exists"),
    ],
)
def test_an_archive_that_means_harm_is_refused_and_leaves_nothing(
    tmp_path: Path, make: Callable[[Path], Path], words: str
) -> None:
    (tmp_path / "out").mkdir()
    path = make(tmp_path / "a.zip")
    with pytest.raises(BundleError, match=words) as caught:
        unpack_bundle(path, tmp_path / "out")
    (found,) = caught.value.problems
    assert (found.code, found.where) == ("bundle_unreadable", "a.zip")
    assert words in found.message
    assert {one.name for one in tmp_path.iterdir()} == {"out", "a.zip"}


def test_an_archive_of_too_many_files_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", MANIFEST_ENTRY, ("tiny/a", b""), ("tiny/b", b""))
    with pytest.raises(BundleError, match="holds 3 files"):
        unpack_bundle(path, tmp_path, most_files=2)
    assert unpack_bundle(path, tmp_path, most_files=3).foreign == ("tiny/a", "tiny/b")


def test_a_nul_in_a_name_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", MANIFEST_ENTRY, ("tiny/evil.txt_", b"x"))
    path.write_bytes(path.read_bytes().replace(b"evil.txt_", b"evil\0txt_"))
    with pytest.raises(BundleError, match="names a place outside"):
        unpack_bundle(path, tmp_path)


def _small_archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(*MANIFEST_ENTRY)
        archive.writestr("tiny/suite.yaml", b"format: 1\n" * 20)
    return buffer.getvalue()


SMALL = _small_archive()


@given(
    st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 255)), min_size=1, max_size=6)
)
def test_whatever_bytes_are_changed_an_archive_is_unpacked_or_refused(
    changes: list[tuple[int, int]],
) -> None:
    data = bytearray(SMALL)
    for at, byte in changes:
        data[at] = byte
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "a.zip", Path(folder) / "out"
        path.write_bytes(data)
        out.mkdir()
        with contextlib.suppress(BundleError):
            assert unpack_bundle(path, out).folder.parent == out
        assert {one.name for one in Path(folder).iterdir()} == {"a.zip", "out"}


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.zip", b"", True),
        ("a.ZIP", b"x", True),
        ("data", SMALL, True),
        ("suite.yaml", b"format: 1\n", False),
    ],
)
def test_an_archive_is_known_by_its_name_or_its_first_bytes(
    tmp_path: Path, name: str, content: bytes, found: bool
) -> None:
    (tmp_path / name).write_bytes(content)
    assert is_archive(tmp_path / name) is found
    assert not is_archive(tmp_path)


def test_files_are_packed_and_unpacked_in_pieces(folder: BundleFolder, tmp_path: Path) -> None:
    line = bytes(range(256)) * 4
    with (folder.path / "answers.jsonl").open("wb") as stream:
        for _ in range(40_000):
            stream.write(line)
    tracemalloc.start()
    pack_bundle(folder.open(), tmp_path / "a.zip")
    (tmp_path / "out").mkdir()
    unpack_bundle(tmp_path / "a.zip", tmp_path / "out")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12_000_000
