"""A pipeline's address as a way into the operator's network: each attack reaches its target without the
defence, and does not with it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import urllib3
from waiting import PATIENCE_S

from domain.errors import InvalidRequest, RequestError
from gateway.git_source import _pool, fetch_commit, fetch_files, is_elsewhere

COMMIT = "1" * 40
HOST = "git.example.org"


@dataclass
class Target:
    """A port of this machine, who came to it, and what they are told."""

    port: int
    came: list[bytes] = field(default_factory=list)

    @property
    def hosts(self) -> tuple[str, ...]:
        return (f"{HOST}:{self.port}",)

    @property
    def address(self) -> str:
        return f"https://{HOST}:{self.port}/group/mean.git"


@contextmanager
def listening(answer: bytes = b"") -> Iterator[Target]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        target = Target(server.getsockname()[1])

        def serve() -> None:
            with suppress(OSError):
                while True:
                    visitor, _ = server.accept()
                    with visitor:
                        target.came.append(visitor.recv(4096))
                        visitor.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield target
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join()


def answers(monkeypatch: pytest.MonkeyPatch, *given: str) -> list[str]:
    """The name service says one thing after the other, and the last one from then on. What it was asked."""
    asked: list[str] = []
    real: Callable[..., Any] = socket.getaddrinfo

    def resolve(host: str, port: int, *rest: Any, **named: Any) -> Any:
        if host != HOST:
            return real(host, port, *rest, **named)
        address = given[min(len(asked), len(given) - 1)]
        asked.append(address)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def test_a_name_that_leads_to_this_machine(monkeypatch: pytest.MonkeyPatch):
    answers(monkeypatch, "127.0.0.1")
    with listening() as target:
        plain = urllib3.PoolManager(retries=False, timeout=PATIENCE_S)
        with pytest.raises(InvalidRequest):
            fetch_files(target.address, COMMIT, folder="", pool=plain)
        # without the defence: our first bytes of TLS are at the port
        assert target.came[0].startswith(b"\x16\x03")
        target.came.clear()
        with pytest.raises(InvalidRequest, match="cannot be fetched from there"):
            fetch_commit(target.address, COMMIT, folder="", hosts=target.hosts)
        assert target.came == []


def test_a_name_that_answers_otherwise_the_second_time(monkeypatch: pytest.MonkeyPatch):
    with listening() as target:
        # without the defence: whoever looks at a name first, and then lets it be looked up again
        asked = answers(monkeypatch, "203.0.113.7", "127.0.0.1")
        looked_at = socket.getaddrinfo(HOST, target.port)[0][4][0]
        assert is_elsewhere(ip_address(str(looked_at)))
        pool = urllib3.PoolManager(retries=False, timeout=PATIENCE_S)
        with pytest.raises(InvalidRequest):
            fetch_files(target.address, COMMIT, folder="", pool=pool)
        assert len(target.came) == 1
        # with it: one look, and the connection goes to what was looked at
        target.came.clear()
        asked = answers(monkeypatch, "203.0.113.7", "127.0.0.1")
        went_to: list[str] = []

        def connect(place: tuple[str, int], **_: Any) -> socket.socket:
            went_to.append(place[0])
            raise OSError("unreachable")

        monkeypatch.setattr(socket, "create_connection", connect)
        with pytest.raises(InvalidRequest):
            fetch_commit(target.address, COMMIT, folder="", hosts=target.hosts)
        assert went_to == ["203.0.113.7"] * len(asked)
        assert len(asked) == 1
        assert target.came == []


def test_a_named_host_that_sends_us_elsewhere():
    with listening() as inside:
        to = f"http://127.0.0.1:{inside.port}/latest/meta-data/".encode()
        moved = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + to + b"\r\n\r\n"
        with listening(moved) as outside:
            address = f"http://127.0.0.1:{outside.port}/group/mean.git"
            with suppress(urllib3.exceptions.HTTPError):
                urllib3.PoolManager(timeout=PATIENCE_S).request("GET", address)
            assert inside.came
            inside.came.clear()
            with _pool() as pool, pytest.raises(InvalidRequest):
                fetch_files(address, COMMIT, folder="", pool=pool)
            assert outside.came
            assert inside.came == []


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("203.0.113.7", True), ("10.1.2.3", True), ("2a00:1450::1", True),
        ("127.0.0.1", False), ("127.9.9.9", False), ("0.0.0.0", False), ("169.254.169.254", False),
        ("224.0.0.1", False), ("255.255.255.255", False), ("::1", False), ("::", False), ("fe80::1", False),
        ("::ffff:127.0.0.1", False), ("::ffff:169.254.169.254", False), ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False), ("ff02::1", False),
    ],
)  # fmt: skip
def test_which_addresses_are_another_machines(address: str, expected: bool):
    assert is_elsewhere(ip_address(address)) is expected


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """A file that is there once somebody's program ran."""
    return tmp_path / "ran"


def git(*arguments: str) -> None:
    environment = {"PATH": os.environ["PATH"], "GIT_ALLOW_PROTOCOL": "ext:file", "GIT_TERMINAL_PROMPT": "0"}
    program = shutil.which("git")
    assert program is not None
    subprocess.run([program, *arguments], env=environment, capture_output=True, check=False)


def test_an_address_that_is_a_program_or_an_option(marker: Path, tmp_path: Path):
    """The same texts, given to git as a simpler fetcher would, run what they name."""
    run = f"ext::touch {marker}"
    option = f"--upload-pack=touch {marker};"
    git("ls-remote", run)
    assert marker.exists()
    marker.unlink()
    git("ls-remote", option, str(tmp_path))
    assert marker.exists()
    marker.unlink()
    for address in (run, option, f"https://{HOST}/{option}", f"https://{HOST}/a/{run}", f"file://{tmp_path}"):
        with pytest.raises(RequestError) as refused:
            fetch_commit(address, COMMIT, folder="", hosts=(HOST,))
        assert refused.value.problems[0].field == "address"
    for commit, folder in ((option, ""), ("--help", ""), (COMMIT, option), (COMMIT, "-x"), (COMMIT, "a/-x")):
        with pytest.raises(InvalidRequest):
            fetch_commit(f"https://{HOST}/group/mean.git", commit, folder=folder, hosts=(HOST,))
    assert not marker.exists()
