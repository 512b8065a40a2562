"""What a broken reader of tables could do: everything outside the sandbox, nothing inside it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from twins.profile import NoTable
from worker.profile import confined

SECRET = "canary-93f2"
ATTACK = f"""
import json, os, socket, sys
place, port = {{place!r}}, {{port}}
def opened():
    return open(place).read().strip() == {SECRET!r}
def connected():
    socket.create_connection(("127.0.0.1", port), 5).close()
    return True
def written():
    open(place + ".written", "w").close()
    return True
def tried(attack):
    try:
        return bool(attack())
    except OSError:
        return False
print(json.dumps({{{{"refused": json.dumps([tried(opened), tried(connected), tried(written)])}}}}))
"""


@pytest.fixture
def attack() -> Iterator[str]:
    """A program that reads a file, connects to a service of this host, and writes."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as service:
        other = Path(folder) / "other.txt"
        other.write_text(SECRET)
        # open to every user: only the sandbox is in the way
        os.chmod(folder, 0o777)
        other.chmod(0o644)
        yield ATTACK.format(place=str(other), port=service.getsockname()[1])


def test_outside_the_sandbox_all_of_it_works(attack: str) -> None:
    ended = subprocess.run([sys.executable, "-c", attack], capture_output=True, check=True)
    assert json.loads(json.loads(ended.stdout)["refused"]) == [True, True, True]


def test_inside_the_sandbox_nothing_of_it_works(
    attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "_START", attack)
    assert _answer(tmp_path) == "[false, false, false]"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        json.dumps({"table": {"rows": -1, "columns": []}}),
        json.dumps({"table": {"rows": 1, "columns": [], "script": "<script>"}}),
        json.dumps({"table": {"rows": 1, "columns": [{"name": "x" * 10_000, "rows": 1}]}}),
    ],
)
def test_an_answer_that_is_none_is_refused(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "_START", f"print({answer!r})")
    assert "its reader" in _answer(tmp_path)


def test_an_endless_answer_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "_START", "while True: print('x' * 1_000_000)")
    monkeypatch.setattr(confined, "_ANSWER_BYTES", 2**20)
    assert "says too much" in _answer(tmp_path)


def _answer(folder: Path) -> str:
    table = folder / "t.csv"
    table.write_text("a\n1\n")
    descriptor = os.open(table, os.O_RDONLY)
    try:
        with pytest.raises(NoTable) as refused:
            confined.profile_file(descriptor, "t.csv", model=b"")
    finally:
        os.close(descriptor)
    return str(refused.value)
