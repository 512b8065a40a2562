"""Original data at rest: sealed, named by keyed digest, and refused when anything about it was changed."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import PlatformError
from domain.model import canonical
from store.keys import KEY_BYTES, Keys
from store.people import CohortPeople
from store.sealing import CHUNK, open_sealed, open_stream, seal, seal_stream
from store.snapshots import VERSION, SnapshotArea

KEYS, OTHER_KEYS = Keys(b"k" * KEY_BYTES), Keys(b"o" * KEY_BYTES)
KEY = KEYS.snapshots
SECRET = b"participant_id\tage\nsub-01\t41\n"
LARGE = os.urandom(3 * CHUNK + 17)


@pytest.fixture
def area(tmp_path):
    return SnapshotArea(tmp_path, KEYS)


def file(content):
    return lambda: io.BytesIO(content)


def write(area, *, table=SECRET, image=LARGE):
    people = {"sub-01": {"a.nii": file(image), "empty": file(b"")}, "sub-02": {}}
    return area.write(tables={"participants.tsv": file(table)}, people=people)


def blobs(root: Path) -> list[Path]:
    return sorted((path for path in root.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)


def stream(content, *, key=KEY, context="here", step=CHUNK):
    sealed = b"".join(seal_stream([content], key=KEY, context="here"))
    return opened(sealed, key=key, context=context, step=step)


def opened(sealed, *, key=KEY, context="here", step=CHUNK):
    parts = (sealed[start : start + step] for start in range(0, len(sealed), step))
    return b"".join(open_stream(parts, key=key, context=context))


def test_a_stream_of_any_length_opens_again(subtests):
    for size in (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, len(LARGE)):
        with subtests.test(msg=size):
            assert stream(LARGE[:size]) == LARGE[:size]


@given(st.lists(st.binary(max_size=50), max_size=5), st.integers(1, 100))
def test_a_stream_opens_however_it_was_cut(parts, step):
    sealed = b"".join(seal_stream(parts, key=KEY, context="here"))
    assert opened(sealed, step=step) == b"".join(parts)


def test_a_stream_opens_only_under_its_key_and_in_its_place(subtests):
    for wrong in ({"key": OTHER_KEYS.snapshots}, {"context": "elsewhere"}):
        for content in (b"", SECRET, LARGE):
            refused = pytest.raises(PlatformError, match="wrong key, wrong place, or changed bytes")
            with subtests.test(msg=f"another {next(iter(wrong))}, {len(content)} bytes"), refused:
                stream(content, **wrong)


def test_a_truncated_stream_is_refused(subtests):
    sealed = b"".join(seal_stream([LARGE], key=KEY, context="here"))
    for kept in (0, 1, 23, 24, 25, 41, CHUNK, CHUNK + 41, 2 * CHUNK + 58, -1, -18):
        with subtests.test(msg=kept), pytest.raises(PlatformError):
            opened(sealed[:kept])


def test_a_stream_with_bytes_after_its_end_is_refused(subtests):
    sealed = b"".join(seal_stream([SECRET], key=KEY, context="here"))
    for extra in (b"\0", b"x" * (CHUNK + 17)):
        with subtests.test(msg=len(extra)), pytest.raises(PlatformError):
            opened(sealed + extra)


@given(st.data())
def test_any_flipped_bit_is_refused(data):
    sealed = bytearray(b"".join(seal_stream([SECRET], key=KEY, context="here")))
    bit = data.draw(st.integers(0, len(sealed) * 8 - 1))
    sealed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(PlatformError):
        opened(bytes(sealed))


def test_swapped_chunks_are_refused():
    sealed = b"".join(seal_stream([LARGE], key=KEY, context="here"))
    piece = CHUNK + 17
    first, second = sealed[24 : 24 + piece], sealed[24 + piece : 24 + 2 * piece]
    with pytest.raises(PlatformError):
        opened(sealed[:24] + second + first + sealed[24 + 2 * piece :])


def test_a_message_opens_only_under_its_key_and_in_its_place():
    sealed = seal(SECRET, key=KEY, context="here")
    assert open_sealed(sealed, key=KEY, context="here") == SECRET
    assert SECRET not in sealed
    for key, context, content in [
        (OTHER_KEYS.snapshots, "here", sealed),
        (KEY, "there", sealed),
        (KEY, "here", sealed[:-1]),
        (KEY, "here", b""),
        (KEY, "here", bytes([sealed[0] ^ 1]) + sealed[1:]),
    ]:
        with pytest.raises(PlatformError):
            open_sealed(content, key=key, context=context)


def read(stored):
    with stored.open() as opened_file:
        return opened_file.read()


def test_a_snapshot_reads_back(area):
    snapshot = area.open(write(area))
    assert snapshot.people == ["sub-01", "sub-02"]
    assert snapshot.table("participants.tsv") == SECRET
    files = snapshot.files_of("sub-01")
    assert {path: (found.size, read(found)) for path, found in files.items()} == {
        "a.nii": (len(LARGE), LARGE),
        "empty": (0, b""),
    }
    assert snapshot.files_of("sub-02") == {}


def test_files_for_everybody_and_checksums_are_sealed_with_it(area):
    openers = {"stimuli/a.png": file(LARGE)}
    name = area.write(tables={}, people={}, shared=openers, checksums=b"sums")
    snapshot = area.open(name)
    assert {path: (found.size, read(found)) for path, found in snapshot.shared.items()} == {
        "stimuli/a.png": (len(LARGE), LARGE)
    }
    assert snapshot.checksums() == b"sums"
    assert area.open(write(area)).checksums() is None


def test_a_snapshot_of_the_first_version_reads_as_ever(area):
    table, empty, large = (area._blobs.write(file(content)) for content in (SECRET, b"", LARGE))
    files = {"sub-01/a.nii": large[0], "sub-01/empty": empty[0]}
    manifest = {"tables": {"participants.tsv": table[0]}, "people": {"sub-01": files, "sub-02": {}}}
    snapshot = area.open("keyed:" + area._manifests.write_bytes(canonical(manifest)))
    assert snapshot.people == ["sub-01", "sub-02"]
    assert snapshot.table("participants.tsv") == SECRET
    files = snapshot.files_of("sub-01")
    assert {path: (found.size, read(found)) for path, found in files.items()} == {
        "sub-01/a.nii": (len(LARGE), LARGE),
        "sub-01/empty": (0, b""),
    }
    assert snapshot.shared == {}
    assert snapshot.checksums() is None


def test_a_snapshot_of_a_newer_version_is_refused(area):
    name = "keyed:" + area._manifests.write_bytes(canonical({"version": VERSION + 1}))
    with pytest.raises(PlatformError, match="newer version"):
        area.open(name)


def test_people_of_several_pages(area, monkeypatch):
    monkeypatch.setattr("store.snapshots.PEOPLE_PER_PAGE", 3)
    people: dict = {f"sub-{number}": {} for number in range(8)}
    assert area.open(area.write(tables={}, people=people)).people == list(people)


def test_a_file_that_changes_while_it_is_sealed_is_refused(area, tmp_path):
    contents = iter([b"first", b"second"])
    with pytest.raises(PlatformError, match="changed while it was sealed"):
        area.write(tables={"a.tsv": lambda: io.BytesIO(next(contents))}, people={})
    assert blobs(tmp_path) == []


def test_equal_content_is_one_snapshot_and_stored_once(area, tmp_path):
    name = write(area)
    before = [(path, path.stat().st_ino) for path in blobs(tmp_path / "blobs")]
    assert write(area) == name
    assert [(path, path.stat().st_ino) for path in blobs(tmp_path / "blobs")] == before
    assert write(area, table=SECRET + b"sub-02\t\n") != name


def test_nothing_on_disk_tells_of_the_data(area, tmp_path):
    write(area)
    for path in blobs(tmp_path):
        assert b"sub-0" not in path.read_bytes()
        assert "sub-0" not in str(path.relative_to(tmp_path))
        assert path.stat().st_mode & 0o077 == 0


def test_names_differ_under_another_key(area, tmp_path):
    other = tmp_path / "other"
    other_area = SnapshotArea(other, OTHER_KEYS)
    name = write(area)
    names = {path.name for path in blobs(tmp_path)}
    assert write(other_area) != name
    assert names.isdisjoint(path.name for path in blobs(other))


def test_a_snapshot_does_not_open_under_another_key(area, tmp_path):
    name = write(area)
    assert SnapshotArea(tmp_path, OTHER_KEYS).has(name)
    with pytest.raises(PlatformError):
        SnapshotArea(tmp_path, OTHER_KEYS).open(name)


def test_swapped_blobs_are_refused(area, tmp_path):
    name = write(area)
    largest, next_largest = blobs(tmp_path / "blobs")[:-3:-1]
    shutil.copy(next_largest, largest)
    snapshot = area.open(name)
    with pytest.raises(PlatformError, match="wrong place"):
        read(snapshot.files_of("sub-01")["a.nii"])


def test_a_missing_or_cut_blob_is_refused(area, tmp_path):
    name = write(area)
    largest = blobs(tmp_path / "blobs")[-1]
    with largest.open("r+b") as handle:
        handle.truncate(2 * CHUNK + 58)
    with pytest.raises(PlatformError, match="ends too early"):
        read(area.open(name).files_of("sub-01")["a.nii"])
    largest.unlink()
    with pytest.raises(PlatformError, match="a part of a snapshot is missing"):
        read(area.open(name).files_of("sub-01")["a.nii"])


def test_a_write_that_fails_leaves_nothing(area, tmp_path):
    def broken():
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        area.write(tables={"a.tsv": broken}, people={})
    assert blobs(tmp_path) == []


def test_a_name_of_another_form_is_refused(area, subtests):
    for name in ("", "keyed:", "sha256:" + "0" * 64, "keyed:" + "../" * 21 + "a", "keyed:" + "G" * 64):
        for call in (area.has, area.open):
            refused = pytest.raises(PlatformError, match="unknown form")
            with subtests.test(msg=f"{call.__name__} {name[:12]}"), refused:
                call(name)


def test_a_snapshot_that_is_not_here(area):
    absent = "keyed:" + "0" * 64
    assert not area.has(absent)
    with pytest.raises(PlatformError, match="missing"):
        area.open(absent)


def test_people_of_another_cohort_are_noticed(tmp_path):
    people = CohortPeople(tmp_path, KEYS)
    people.add(["sub-01", "sub-02"], cohort="town")
    people.add(["sub-03"], cohort="town")
    assert people.overlapping(["sub-03", "sub-09"], cohorts=["village", "town"]) == "town"
    assert people.overlapping(["sub-09"], cohorts=["village", "town"]) is None
    assert people.overlapping(["sub-01"], cohorts=["village"]) is None
    assert b"sub-0" not in (tmp_path / "town").read_bytes()


def test_a_cohort_moved_to_another_name_is_refused(tmp_path):
    people = CohortPeople(tmp_path, KEYS)
    people.add(["sub-01"], cohort="town")
    (tmp_path / "town").rename(tmp_path / "village")
    with pytest.raises(PlatformError):
        people.overlapping(["sub-01"], cohorts=["village"])
    with pytest.raises(PlatformError):
        CohortPeople(tmp_path, OTHER_KEYS).overlapping(["sub-01"], cohorts=["village"])


def test_people_are_counted_in_the_group_of_all_cohorts_that_they_are_in(tmp_path):
    people = CohortPeople(tmp_path, KEYS)
    assert people.shared([]) == {}
    assert people.shared(["town", "village"]) == {}
    people.add([f"sub-{number}" for number in range(300)], cohort="town")
    people.add([f"sub-{number}" for number in range(200, 400)], cohort="village")
    people.add([f"sub-{number}" for number in range(295, 305)], cohort="island")
    assert people.shared(["town", "village", "island"]) == {
        ("town", "village"): 95,
        ("town", "village", "island"): 5,
        ("village", "island"): 5,
    }
    assert people.shared(["town"]) == {}
