"""A sealed file is read from any place as if it were plain, and refuses to be read once it was changed."""

from __future__ import annotations

import io
import random
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scan_reference import ask, declaration_of, scan

from domain.errors import PlatformError
from store.keys import Keys
from store.sealed_file import SealedFile
from store.sealing import CHUNK, seal_stream
from store.snapshots import SnapshotArea
from worker.scan.chunk import PLACE, _Sealed, sealed_table

KEY = b"k" * 32
PLAIN = random.Random(1).randbytes(2 * CHUNK + 1234)
SEALED = b"".join(seal_stream([PLAIN], key=KEY, context="blob x"))


def opened(sealed: bytes = SEALED, *, key: bytes = KEY, context: str = "blob x") -> SealedFile:
    return SealedFile(io.BytesIO(sealed), key=key, context=context)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(PLAIN) + 9), st.integers(0, 2 * CHUNK)), min_size=1, max_size=6))
def test_any_place_in_any_order(reads):
    file, plain = io.BufferedReader(opened()), io.BytesIO(PLAIN)
    for start, length in reads:
        assert file.seek(start) == plain.seek(start)
        assert file.read(length) == plain.read(length)
        assert file.tell() == plain.tell()


def test_every_length(subtests):
    for length in (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK):
        with subtests.test(length=length):
            plain = PLAIN[:length]
            file = opened(b"".join(seal_stream([plain], key=KEY, context="blob x")))
            assert file.size == length
            assert io.BufferedReader(file).read() == plain


def test_from_the_end_and_from_here():
    file = opened()
    assert file.seek(-4, io.SEEK_END) == len(PLAIN) - 4
    assert file.read(9) == PLAIN[-4:]
    assert file.seek(-2, io.SEEK_CUR) == len(PLAIN) - 2
    assert file.seek(-9) == 0
    assert file.readable()
    assert file.seekable()


A_CHANGED_FILE_DOES_NOT_OPEN = {
    "a byte less": SEALED[:-1],
    "half": SEALED[: -len(SEALED) // 2],
    "whole chunks": SEALED[: 24 + CHUNK + 17],
    "no header": SEALED[:20],
    "header alone": SEALED[:24],
    "a byte changed": SEALED[:500_000] + bytes([SEALED[500_000] ^ 1]) + SEALED[500_001:],
    "more": SEALED + b"more",
}


def test_a_changed_file_does_not_open(subtests):
    for name, changed in A_CHANGED_FILE_DOES_NOT_OPEN.items():
        with subtests.test(name), pytest.raises(PlatformError, match=r"does not open|ends too early"):
            io.BufferedReader(opened(changed)).read()


@pytest.mark.parametrize("wrong", [{"key": b"j" * 32}, {"context": "blob y"}])
def test_another_key_or_place(wrong):
    with pytest.raises(PlatformError, match="does not open"):
        opened(**wrong).read(1)


def test_threads_share_a_file_of_the_engine():
    """Each reads where it has sought itself, as the engine does from all its threads."""
    system = _Sealed(opened, hides_returns=False)
    file, wrong = system.open(PLACE), []

    def read_much(seed):
        draw = random.Random(seed)
        for _ in range(100):
            start = draw.randrange(len(PLAIN))
            file.seek(start)
            wanted = PLAIN[start : start + draw.randrange(1, 5_000)]
            if file.read(len(wanted)) != wanted or file.tell() != start + len(wanted):
                wrong.append(start)

    threads = [threading.Thread(target=read_much, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    file.close()
    assert not wrong


def test_a_thread_that_never_sought_reads_nothing():
    file = _Sealed(opened, hides_returns=True).open(PLACE)
    with pytest.raises(AttributeError):
        file.read(1)
    with pytest.raises(io.UnsupportedOperation):
        file.seek(0, io.SEEK_END)


def snapshot_of(tmp_path, text: str, *, path: str):
    area = SnapshotArea(tmp_path / "area", Keys(KEY))
    name = area.write(tables={path: lambda: io.BytesIO(text.encode())}, people={})
    return area.open(name)


@pytest.mark.parametrize("path", ["people.csv", "people.tsv"])
def test_a_table_of_many_chunks(tmp_path, path):
    """Scanned through the seal; the folder never holds a plain row, and the file is closed afterwards."""
    declaration = declaration_of(path=path)
    header = [column.name for column in declaration.tables[0].columns]
    rows = [[f"s{i}", str(i % 121), "1.7", "fmd"[i % 3], "north"] for i in range(120_000)]
    text = declaration.tables[0].join([header, *rows])
    assert len(text) > 2 * CHUNK
    snapshot = snapshot_of(tmp_path, text, path=path)
    source = sealed_table(lambda: snapshot.open_table(path), declaration.tables[0])
    assert scan(source, ask({"kind": "count", "by": ["sex"]}), declaration) == (40_000,) * 3
    assert all(b"north" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_a_table_that_was_changed(tmp_path):
    declaration = declaration_of()
    text = "person,age,height,sex,site\r\n" + "s1,30,1.5,f,north\r\n" * 100
    snapshot = snapshot_of(tmp_path, text, path="people.csv")
    (blob,) = (file for file in (tmp_path / "area" / "blobs").rglob("*") if file.is_file())
    content = bytearray(blob.read_bytes())
    content[-1] ^= 1
    blob.write_bytes(content)
    with pytest.raises(PlatformError) as caught:
        sealed_table(lambda: snapshot.open_table("people.csv"), declaration.tables[0])
    assert "north" not in str(caught.value)
    blob.unlink()
    with pytest.raises(PlatformError, match="a part of a snapshot is missing"):
        snapshot.open_table("people.csv")


def test_the_file_system_only_reads(tmp_path):
    declaration = declaration_of()
    snapshot = snapshot_of(tmp_path, "person,age,height,sex,site\r\n", path="people.csv")
    system = sealed_table(lambda: snapshot.open_table("people.csv"), declaration.tables[0]).filesystem
    assert system.info(PLACE)["size"] == 28
    with pytest.raises(PermissionError):
        system.open(PLACE, "wb")
