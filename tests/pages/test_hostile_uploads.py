"""Hostile files through the wizard's upload; the attacks work on a simpler reader."""

from __future__ import annotations

import io
import os
import stat
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from serving import Console, words
from told_job_drafts import JOB_DRAFT
from wizard import Wizard

from domain.pipeline import MAX_SOURCE_BYTES
from domain.sent_files import MAX_ENTRIES

SMALL = b"print(1)\n"


def zipped(*files: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            archive.writestr(name, text)
    return content.getvalue()


def link(name: str, to: str) -> tuple[zipfile.ZipInfo, bytes]:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry, to.encode()


def changed(content: bytes, offset: int, value: bytes) -> bytes:
    """One field of the central directory's only entry."""
    at = content.index(b"PK\x01\x02") + offset
    return content[:at] + value + content[at + len(value) :]


def unpacked_simply(content: bytes, folder: Path, *, most: int = 10**9) -> int:
    """As a simpler reader does it: believes names and stated sizes, follows links, unpacks what is within."""
    written = 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert sum(entry.file_size for entry in archive.infolist()) <= most
        for entry in archive.infolist():
            place = Path(os.path.normpath(folder / entry.filename))
            place.parent.mkdir(parents=True, exist_ok=True)
            raw = _raw(content, entry)
            if stat.S_ISLNK(entry.external_attr >> 16):
                place.symlink_to(raw.decode())
                continue
            written += len(raw)
            place.write_bytes(raw)
            if entry.filename.endswith(".zip"):
                written += unpacked_simply(raw, folder / "within", most=most)
    return written


def _raw(content: bytes, entry: zipfile.ZipInfo) -> bytes:
    """What the entry inflates to, whatever it says of itself."""
    name, extra = struct.unpack_from("<HH", content, entry.header_offset + 26)
    start = entry.header_offset + 30 + name + extra
    kept = content[start : start + entry.compress_size]
    return kept if entry.compress_type == zipfile.ZIP_STORED else zlib.decompress(kept, -15)


LARGE = 20 * MAX_SOURCE_BYTES


def _escapes(content: Callable[[Path], bytes], there: str) -> Callable[[Path], bytes]:
    def attack(folder: Path) -> bytes:
        made = content(folder)
        unpacked_simply(made, folder / "inside")
        assert (folder / there).exists(), "the attack does not work"
        return made

    return attack


def _inflates(content: Callable[[], bytes], *, stated: int = 10**9) -> Callable[[Path], bytes]:
    def attack(folder: Path) -> bytes:
        made = content()
        assert unpacked_simply(made, folder / "inside", most=stated) >= LARGE
        assert len(made) < LARGE / 100
        return made

    return attack


def _zip64(size: int) -> bytes:
    """The stated size lies in the extra field of zip64."""
    made = zipped(("main.py", bytes(LARGE)))
    extra = struct.pack("<HHQ", 1, 8, size)
    made = changed(made, 24, b"\xff\xff\xff\xff")
    made = changed(made, 30, struct.pack("<H", len(extra)))
    at = made.index(b"PK\x01\x02") + 46 + len("main.py")
    made = made[:at] + extra + made[at:]
    end = made.index(b"PK\x05\x06")
    length = struct.unpack_from("<I", made, end + 12)[0] + len(extra)
    return made[: end + 12] + struct.pack("<I", length) + made[end + 16 :]


def _polyglot(_folder: Path) -> bytes:
    made = b"<html><script>alert(1)</script><!--" + zipped(("main.py", SMALL))
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert archive.namelist() == ["main.py"], "some read a zip, and some a page"
    return made


def _overlapping(folder: Path) -> bytes:
    """Two entries of the directory for the same bytes: each of a thousand would be another copy."""
    made = zipped(("a.py", bytes(LARGE)))
    start, end = made.index(b"PK\x01\x02"), made.index(b"PK\x05\x06")
    entry = made[start:end]
    twin = entry.replace(b"a.py", b"b.py")
    made = made[:end] + twin + made[end:]
    end = made.index(b"PK\x05\x06")
    counted = made[: end + 8] + struct.pack("<HHI", 2, 2, 2 * len(entry)) + made[end + 16 :]
    assert unpacked_simply(counted, folder / "inside") == 2 * LARGE
    return counted


def _endless(_folder: Path) -> bytes:
    made = _zip64(2**62)
    with zipfile.ZipFile(io.BytesIO(made)) as archive, pytest.raises(MemoryError):
        # room for what the entry says of itself
        bytearray(archive.infolist()[0].file_size)
    return made


def _many(folder: Path) -> bytes:
    made = zipped(*((f"f{number}.py", b"") for number in range(MAX_ENTRIES + 1)))
    unpacked_simply(made, folder / "inside")
    assert len(list((folder / "inside").iterdir())) > MAX_ENTRIES
    return made


def _locked(folder: Path) -> bytes:
    """Says that it has a password and has none: who checks files passes it over, who unpacks does not."""
    made = changed(zipped(("main.py", SMALL)), 8, b"\x01")
    with zipfile.ZipFile(io.BytesIO(made)) as archive, pytest.raises(RuntimeError):
        archive.read("main.py")
    unpacked_simply(made, folder / "inside")
    assert (folder / "inside" / "main.py").read_bytes() == SMALL
    return made


def _two_names(_folder: Path) -> bytes:
    """One name for who reads the directory at the end, another for who reads from the beginning."""
    made = zipped(("main.py", SMALL)).replace(b"main.py", b"evil.sh", 1)
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert archive.namelist() == ["main.py"]
    length = struct.unpack_from("<H", made, 26)[0]
    assert made[30 : 30 + length] == b"evil.sh"
    return made


ATTACKS: dict[str, Callable[[Path], bytes]] = {
    "out of the folder": _escapes(lambda _: zipped(("../out.py", SMALL), ("a.py", SMALL)), "out.py"),
    "absolute": _escapes(lambda at: zipped((str(at / "out.py"), SMALL), ("a.py", SMALL)), "out.py"),
    "through a link": _escapes(lambda at: zipped(link("x", str(at)), ("x/out.py", SMALL)), "out.py"),
    "a bomb": _inflates(lambda: zipped(("main.py", bytes(LARGE)))),
    "a bomb that says it is small": _inflates(
        lambda: changed(zipped(("main.py", bytes(LARGE))), 24, struct.pack("<I", 10)), stated=1000
    ),
    "zip64 that says it is small": _inflates(lambda: _zip64(10), stated=1000),
    "zip64 that says it is endless": _endless,
    "a page in front": _polyglot,
    "the same bytes twice": _overlapping,
    "too many": _many,
    "with a password": _locked,
    "another's name in its own header": _two_names,
}


@pytest.fixture
def told(refusing: Console) -> Iterator[Wizard]:
    with refusing.visit("ada") as visitor:
        yield Wizard(visitor, f"/jobs/new/{JOB_DRAFT}")


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_zip_is_refused_and_what_was_there_stays(
    refusing: Console, told: Wizard, attack: str, tmp_path: Path
):
    (tmp_path / "inside").mkdir()
    content = ATTACKS[attack](tmp_path)
    before = sorted(tmp_path.rglob("*"))
    tracemalloc.start()
    answer = told.upload(("pipeline.zip", content))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answer.status_code in (413, 422), words(answer)[:300]
    assert 'role="alert"' in answer.text or "zip" in words(answer)
    assert "<script>alert" not in answer.text
    # never inflated, never written: the gateway is in this process
    assert peak < 12 * MAX_SOURCE_BYTES
    assert sorted(tmp_path.rglob("*")) == before
    assert "main.py" in words(told.look("pipeline"))


def test_a_zip_within_a_zip_stays_one_file(console: Console, tmp_path: Path):
    inner = zipped(("deep.py", bytes(LARGE)))
    content = zipped(("data/inner.zip", inner), ("main.py", SMALL))
    (tmp_path / "inside").mkdir()
    assert unpacked_simply(content, tmp_path / "inside") > LARGE
    with console.visit("ada") as visitor:
        wizard = Wizard(visitor, f"/jobs/new/{JOB_DRAFT}")
        assert wizard.upload(("pipeline.zip", content)).status_code == 303
        shown = words(wizard.look("pipeline"))
    assert "inner.zip" in shown
    assert "deep.py" not in shown
