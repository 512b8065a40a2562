"""Files as people send them: what is taken, and what hostile uploads come to."""

from __future__ import annotations

import io
import stat
import time
import zipfile
from collections.abc import Callable
from functools import cache

import pytest

from domain.errors import InvalidRequest, RequestError, TooLarge
from domain.pipeline import MAX_SOURCE_BYTES, MAX_SOURCES
from domain.sent_files import MAX_ENTRIES, read_sent

MANIFEST = ("dpgate.yaml", b"name: x\n")


def zipped(*files: tuple[str | zipfile.ZipInfo, bytes]) -> list[tuple[str, bytes]]:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            archive.writestr(name, text)
    return [("pipeline.zip", content.getvalue())]


def linked(name: str, to: bytes, kind: int = stat.S_IFLNK) -> tuple[zipfile.ZipInfo, bytes]:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (kind | 0o777) << 16
    return entry, to


def test_single_files_and_a_zip_are_the_same_pipeline():
    files = [MANIFEST, ("main.py", b"print(1)\n"), ("lib/more.py", b"x = 1\n")]
    apart, packed = read_sent(files), read_sent(zipped(*files))
    assert apart == packed
    assert apart.manifest == "name: x\n"
    assert {source.path: source.content for source in apart.sources} == dict(files[1:])


def test_a_zip_of_a_folder_is_the_folder():
    found = read_sent(zipped(("mean/dpgate.yaml", b"name: x\n"), ("mean/lib/a.py", b"1")))
    assert found.manifest == "name: x\n"
    assert [source.path for source in found.sources] == ["lib/a.py"]


def test_two_folders_stay_two_folders():
    found = read_sent(zipped(("a/x.py", b"1"), ("b/x.py", b"2")))
    assert [source.path for source in found.sources] == ["a/x.py", "b/x.py"]


def test_what_dpgate_run_leaves_out_is_left_out_here():
    found = read_sent(
        zipped(
            ("main.py", b"1"),
            (".git/config", b"x"),
            (".env", b"SECRET=1"),
            ("__pycache__/main.pyc", b"x"),
            ("dpgate.lock.json", b"{}"),
        )
    )
    assert [source.path for source in found.sources] == ["main.py"]


@cache
def _bomb() -> list[tuple[str, bytes]]:
    return zipped(("zeros.py", bytes(40 * MAX_SOURCE_BYTES)))


def _many() -> list[tuple[str, bytes]]:
    return zipped(*((f"f{number}.py", b"") for number in range(MAX_ENTRIES + 1)))


def _cut() -> list[tuple[str, bytes]]:
    ((name, content),) = zipped(("main.py", b"print(1)\n" * 50))
    return [(name, content[: len(content) // 2])]


def _damaged() -> list[tuple[str, bytes]]:
    ((name, content),) = zipped(("main.py", bytes(range(256)) * 20))
    return [(name, content[:40] + b"\xff" * 20 + content[60:])]


def _with_password() -> list[tuple[str, bytes]]:
    ((name, content),) = zipped(("main.py", b"print(1)"))
    # the flag in the central directory alone decides
    at = content.index(b"PK\x01\x02") + 8
    return [(name, content[:at] + b"\x01" + content[at + 1 :])]


def _lying() -> list[tuple[str, bytes]]:
    """Says of itself that it is small."""
    ((name, content),) = zipped(("zeros.py", bytes(8 * MAX_SOURCE_BYTES)))
    at = content.index(b"PK\x01\x02") + 24
    return [(name, content[:at] + (10).to_bytes(4, "little") + content[at + 4 :])]


HOSTILE: dict[str, Callable[[], list[tuple[str, bytes]]]] = {
    "out of the folder": lambda: zipped(("../../etc/cron.d/x", b"1"), ("a.py", b"1")),
    "out of the folder, sent singly": lambda: [("../x.py", b"1")],
    "absolute": lambda: zipped(("/etc/passwd", b"1"), ("a.py", b"1")),
    "a drive": lambda: [("C:\\windows\\x.py", b"1")],
    "nul": lambda: [("main.py\0.txt", b"1")],
    "too long a name": lambda: [("a" * 241, b"1")],
    "a link": lambda: zipped(linked("main.py", b"/etc/passwd"), ("a.py", b"1")),
    "a device": lambda: zipped(linked("main.py", b"", stat.S_IFCHR), ("a.py", b"1")),
    "a bomb": _bomb,
    "a bomb that lies": _lying,
    "too many": _many,
    "too many, sent singly": lambda: [(f"f{number}.py", b"") for number in range(MAX_SOURCES + 1)],
    "too large": lambda: [("main.py", bytes(MAX_SOURCE_BYTES + 1))],
    "cut off": _cut,
    "damaged": _damaged,
    "with a password": _with_password,
    "no zip": lambda: [("x.zip", b"hello")],
    "empty": lambda: [("x.zip", b"")],
    "twice": lambda: [("main.py", b"1"), ("main.py", b"2")],
    "a file in a file": lambda: [("a", b"1"), ("a/b", b"2")],
    "a manifest that is no text": lambda: [("dpgate.yaml", b"\xff\xfe\x00")],
    "a manifest that is too large": lambda: [("dpgate.yaml", bytes(300 * 1024))],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_uploads_are_refused_in_words_and_at_once(name: str):
    sent = HOSTILE[name]()
    started = time.thread_time()
    with pytest.raises(RequestError) as refused:
        read_sent(sent)
    assert time.thread_time() - started < 2
    problem = refused.value.problems[0]
    assert problem.field == "files"
    assert problem.problem.isprintable()
    assert len(problem.problem) < 250


def test_the_bomb_is_never_inflated():
    """What is read of it is bounded by what a pipeline may have."""
    import tracemalloc

    sent = _bomb()
    tracemalloc.start()
    with pytest.raises(TooLarge):
        read_sent(sent)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * MAX_SOURCE_BYTES


def test_nothing_sent_gives_nothing():
    assert read_sent([]).sources == ()


def test_a_hostile_name_is_shown_cut_and_quoted():
    with pytest.raises(InvalidRequest) as refused:
        read_sent([("../\x1b[31m" + "x" * 500, b"1")])
    assert "\x1b" not in refused.value.problems[0].problem
