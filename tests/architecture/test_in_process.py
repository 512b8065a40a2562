"""The guard of the quick ring: every way out of the process that one takes by accident fails the case."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import pty
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from in_process import LeftTheProcess, staying_in_process
from small_tree import run_small


def in_a_thread() -> None:
    thread = threading.Thread(target=lambda: suppressing(lambda: subprocess.run(["true"], check=False)))
    thread.start()
    thread.join()


def suppressing(way: Callable[[], object]) -> None:
    with suppress(Exception):
        way()


def by_multiprocessing(method: str) -> Callable[[], object]:
    def start() -> None:
        process = multiprocessing.get_context(method).Process(target=print)
        process.start()
        process.join()

    return start


def by_pool() -> None:
    with ProcessPoolExecutor(1) as pool:
        pool.submit(print).result()


async def by_asyncio() -> None:
    await asyncio.create_subprocess_exec("true")


def to(address: tuple[str, int]) -> Callable[[], object]:
    def send() -> None:
        with socket.socket(type=socket.SOCK_DGRAM) as end:
            end.sendto(b"x", address)

    return send


def listening() -> None:
    with socket.create_server(("127.0.0.1", 0)):
        pass


NOWHERE = ("127.0.0.1", 9)
WAYS: dict[str, Callable[[], object]] = {
    "subprocess": lambda: subprocess.run(["true"], check=False),
    "a shell": lambda: os.system("true"),
    "fork": lambda: os.fork() or os._exit(0),
    "forkpty": lambda: pty.fork()[0] or os._exit(0),
    "posix_spawn": lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}),
    "spawnv": lambda: os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", ""]),
    "multiprocessing by fork": by_multiprocessing("fork"),
    "multiprocessing by spawn": by_multiprocessing("spawn"),
    "multiprocessing by a server": by_multiprocessing("forkserver"),
    "a pool of processes": by_pool,
    "asyncio": lambda: asyncio.run(by_asyncio()),
    "a thread": in_a_thread,
    "code that catches all": lambda: suppressing(lambda: os.system("true")),
    "a connection": lambda: socket.create_connection(NOWHERE),
    "a name that is looked up": lambda: socket.getaddrinfo("localhost", 9),
    "a datagram": to(NOWHERE),
    "a server": listening,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_every_way_out_is_refused(subtests: pytest.Subtests) -> None:
    """Servers and pools that cannot start are left half made, so they are cleared away in here."""
    for name, way in WAYS.items():
        with (
            subtests.test(name),
            pytest.raises(LeftTheProcess, match="in a case of the quick ring"),
            staying_in_process(),
        ):
            way()
    gc.collect()


def test_what_stays_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = socket.socketpair()
    with one, other, socket.socket(socket.AF_UNIX) as end:
        socket.send_fds(one, [b"x"], [one.fileno()])
        assert other.recv(1) == b"x"
        end.bind("file")
    asyncio.run(asyncio.to_thread(os.getpid))
    thread = threading.Thread(target=os.getpid)
    thread.start()
    thread.join()


def test_what_goes_on_beside_a_case_is_not_its_own() -> None:
    """A server that an earlier case of this process has started."""
    asked, answers = threading.Event(), []

    def beside() -> None:
        asked.wait()
        with socket.create_server(("127.0.0.1", 0)) as server:
            answers.append(server)

    thread = threading.Thread(target=beside)
    thread.start()
    with staying_in_process():
        asked.set()
        thread.join()
    assert answers


UNIT = """
import subprocess

import pytest


def leave():
    subprocess.run(["true"], check=True)


def test_leaves():
    leave()


def test_leaves_and_tells_nobody():
    try:
        leave()
    except Exception:
        pass


@pytest.fixture
def outside():
    leave()


def test_is_set_up_outside(outside):
    pass


@pytest.mark.needs(process=True)
def test_says_so():
    leave()
"""


@pytest.mark.needs(process=True)
def test_a_quick_case_that_starts_a_process_fails(tmp_path: Path) -> None:
    ended = run_small(tmp_path, {"unit/test_leaving.py": UNIT})
    assert ended.counts == {"passed": 1, "failed": 2, "error": 1}, ended.said
    assert "mark it with pytest.mark.needs(process=True)" in ended.said
