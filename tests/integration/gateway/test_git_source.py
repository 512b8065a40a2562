"""A commit fetched from a real git server on loopback, and from hostile ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from dulwich import porcelain
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain

from domain.errors import InvalidRequest, NotAllowed, RequestError, TooLarge
from gateway.git_source import _pool, check_address, fetch_commit, fetch_files

HOSTS = ("git.example.org", "code.example.org:8443")


@dataclass(frozen=True)
class Served:
    address: str
    commits: tuple[str, ...]


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""


class _Calm(WSGIServer):
    def handle_error(self, *_: object) -> None:
        """A client that goes away is nothing new."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A repository with three commits of nearly the same files, so that its packs hold deltas."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "mean").mkdir()
    commits = []
    with Repo.init(str(folder)) as repository:
        for number in range(3):
            lines = "".join(f"print({line})\n" for line in range(2000))
            (folder / "mean" / "main.py").write_text(lines + f"# {number}\n")
            (folder / "mean" / "other.py").write_text(lines + f"# other {number}\n")
            (folder / "mean" / "dpgate.yaml").write_text("name: mean\n")
            (folder / "README").write_text(f"{number}\n")
            paths = [str(path) for path in folder.rglob("*") if path.is_file() and ".git/" not in str(path)]
            porcelain.add(repository, paths)
            who = b"Ada <ada@example.org>"
            commits.append(porcelain.commit(repository, message=b"m", author=who, committer=who).decode())
        app = make_wsgi_chain(DictBackend({"/group/mean.git": repository}))
        server = make_server("127.0.0.1", 0, app, server_class=_Calm, handler_class=_Quiet)
        with running(server):
            yield Served(f"http://127.0.0.1:{server.server_port}/group/mean.git", tuple(commits))


@contextmanager
def running(server: WSGIServer | ThreadingHTTPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def answering(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A server that says what it likes."""

    class Hostile(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def do_POST(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = False  # the end waits for them

        def handle_error(self, *_: object) -> None:
            """A client that goes away is nothing new."""

    server = Quiet(("127.0.0.1", 0), Hostile)
    with running(server):
        yield f"http://127.0.0.1:{server.server_port}/group/mean.git"


def fetch(address: str, commit: str, *, folder: str = "") -> list[tuple[str, bytes]]:
    with _pool() as pool:
        return fetch_files(address, commit, folder=folder, pool=pool)


def test_the_files_of_a_commit_arrive(served: Served):
    found = dict(fetch(served.address, served.commits[-1]))
    assert set(found) == {"README", "mean/main.py", "mean/other.py", "mean/dpgate.yaml"}
    assert found["mean/main.py"].endswith(b"print(1999)\n# 2\n")


def test_one_folder_of_it_is_enough(served: Served):
    found = dict(fetch(served.address, served.commits[-1], folder="mean"))
    assert set(found) == {"main.py", "other.py", "dpgate.yaml"}


def test_a_commit_that_is_not_there_is_refused_in_words(served: Served):
    with pytest.raises(InvalidRequest, match="cannot be fetched from there"):
        fetch(served.address, "1" * 40)


def test_a_folder_that_is_not_there_is_refused(served: Served):
    with pytest.raises(InvalidRequest, match="no such folder"):
        fetch(served.address, served.commits[-1], folder="elsewhere")


def _redirect(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", "http://169.254.169.254/latest/meta-data/")
    handler.end_headers()


def _endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
    handler.end_headers()
    name = b" refs/heads/"
    line = b"fff0" + b"1" * 40 + name + b"x" * (0xFFF0 - 4 - 40 - len(name))  # as long as one can be
    for _ in range(800):  # 50 MiB, should nobody hang up
        handler.wfile.write(line)


def _nonsense(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
    handler.end_headers()
    handler.wfile.write(b"\xff\xfe<html>")


def _wants_a_password(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(401)
    handler.send_header("WWW-Authenticate", 'Basic realm="x"')
    handler.end_headers()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (_redirect, InvalidRequest),
        (_endless, (TooLarge, InvalidRequest)),
        (_nonsense, InvalidRequest),
        (_wants_a_password, InvalidRequest),
    ],
)
def test_a_hostile_server_gets_a_plain_refusal(
    answer: Callable[[BaseHTTPRequestHandler], None], error: type[RequestError]
):
    with answering(answer) as address, pytest.raises(error) as refused:
        fetch(address, "1" * 40)
    assert "169.254" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "http://git.example.org/group/mean.git",
        "ssh://git.example.org/group/mean.git",
        "file:///etc",
        "/etc/passwd",
        "https://git.example.org/../../etc",
        "https://git.example.org/group/mean.git?x=1",
        "https://git.example.org/group/mean.git#x",
        "https://git.example.org/group/me%0aan.git",
        "https://git.example.org/group/mean.git\n",
        "https://git.example.org",
        "",
    ],
)
def test_what_is_no_address_is_refused(address: str):
    with pytest.raises(InvalidRequest) as refused:
        check_address(address, HOSTS)
    assert refused.value.problems[0].field == "address"


@pytest.mark.parametrize(
    "address",
    [
        "https://elsewhere.example.org/group/mean.git",
        "https://git.example.org.evil.example/group/mean.git",
        "https://git.example.org:444/group/mean.git",
        "https://git.example.org@evil.example/group/mean.git",
        "https://user:secret@git.example.org/group/mean.git",
        "https://169.254.169.254/latest/mean.git",
        "https://[::1]/group/mean.git",
        "https://code.example.org/group/mean.git",
    ],
)
def test_only_named_hosts_are_asked(address: str):
    with pytest.raises(NotAllowed, match="does not fetch from that host"):
        check_address(address, HOSTS)
    with pytest.raises(NotAllowed, match="has named none"):
        check_address(address, ())


@pytest.mark.parametrize("address", ["https://git.example.org/a/b.git", "https://CODE.example.org:8443/x"])
def test_named_hosts_are_taken(address: str):
    check_address(address, HOSTS)


@pytest.mark.parametrize(
    ("commit", "folder"), [("main", ""), ("1" * 39, ""), ("1" * 40, "../x"), ("1" * 40, ".git")]
)
def test_a_branch_is_no_commit_and_a_folder_is_inside(commit: str, folder: str):
    with pytest.raises(InvalidRequest):
        fetch_commit("https://git.example.org/a/b.git", commit, folder=folder, hosts=HOSTS)
