"""The Python client: light to import, and careful with tokens. It gets to a release in on_platform/."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
import weakref
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from shown_objects import job_of

import dpgate
from dpgate.client import Client
from dpgate.credentials import Login, find_login, keep_login
from dpgate.embedded.home import Home
from dpgate.errors import DpgateError, NotLoggedIn, PlatformUnreachable, RequestRefused
from dpgate.job import Job

# rich comes with httpx, which uses it where it is installed
HEAVY = {
    "pydantic",
    "numpy",
    "sqlalchemy",
    "celery",
    "yaml",
    "worker",
    "privacy",
    "domain",
    "formats",
    "drawing",
    "twins",
    "companions",
    "store",
    "desk",
    "gateway",
}
SECRET = "dpgate.0123.a-very-secret-word"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "new" / "credentials.json"
    monkeypatch.setenv("DPGATE_CREDENTIALS", str(path))
    monkeypatch.delenv("DPGATE_URL", raising=False)
    monkeypatch.delenv("DPGATE_TOKEN", raising=False)
    return path


def test_whoever_has_to_log_in_anew_is_told_where(kept: Path) -> None:
    said = "Log in with `dpgate login --url https://dpgate.example.org`."
    problem = {"field": "authorization", "problem": "the token is not valid.", "fix": said, "sentence": said}
    content = {"type": "urn:dpgate:problem:Unauthenticated", "title": "Log in first", "problems": [problem]}
    for name, option in (("default", ""), ("olga", " --profile olga")):
        keep_login(Login("https://here.example", SECRET), profile=name)
        transport = httpx.MockTransport(lambda _: httpx.Response(401, json=content))
        with (
            Client(find_login(name), transport=transport) as client,
            pytest.raises(RequestRefused) as refused,
        ):
            client.me()
        assert str(refused.value) == f"Log in with `dpgate login --url https://here.example{option}`."


def answering(answer: Callable[[httpx.Request], httpx.Response]) -> Client:
    return Client(Login("https://dpgate.example.org", SECRET), transport=httpx.MockTransport(answer))


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import dpgate, sys; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()).isdisjoint(HEAVY)


def test_a_login_is_kept_for_its_owner_alone(kept: Path) -> None:
    before = os.umask(0)
    try:
        keep_login(Login("https://a.example", SECRET))
        assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    finally:
        os.umask(before)
    kept.chmod(0o666)
    with kept.open(encoding="utf-8") as opened_by_another:
        keep_login(Login("https://b.example", "new-secret"), profile="other")
        assert "new-secret" not in opened_by_another.read()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert find_login("default").url == "https://a.example"
    assert find_login("other").token == "new-secret"
    assert [path.name for path in kept.parent.iterdir()] == ["credentials.json"]


def test_a_home_holds_the_logins_to_it_and_nobody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DPGATE_CREDENTIALS", "DPGATE_URL", "DPGATE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    keep_login(Login("https://elsewhere.example", SECRET))
    home = tmp_path / "home"
    monkeypatch.setenv("DPGATE_HOME", str(home))
    with pytest.raises(NotLoggedIn, match=rf"no login named default in {home}/logins"):
        find_login()
    kept = keep_login(Login("https://here.example", SECRET))
    assert (kept.parent, stat.S_IMODE(kept.stat().st_mode)) == (home / "logins", 0o600)
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    Home(home).make()  # a platform takes the folder for its own
    assert find_login().url == "https://here.example"
    monkeypatch.delenv("DPGATE_HOME")
    assert find_login().url == "https://elsewhere.example"


def test_a_credentials_file_that_is_none_loses_nothing(kept: Path) -> None:
    kept.parent.mkdir()
    kept.write_text("not ours", encoding="utf-8")
    with pytest.raises(DpgateError, match="not a credentials file"):
        keep_login(Login("https://a.example", SECRET))
    assert kept.read_text(encoding="utf-8") == "not ours"


def test_the_environment_stands_for_the_default_login(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_login(Login("https://kept.example", SECRET), profile="operator")
    monkeypatch.setenv("DPGATE_URL", "https://env.example")
    with pytest.raises(NotLoggedIn, match="set both"):
        find_login()
    monkeypatch.setenv("DPGATE_TOKEN", SECRET)
    assert find_login().url == "https://env.example"
    assert find_login("operator").url == "https://kept.example"
    with pytest.raises(DpgateError, match="both url and token"):
        dpgate.connect(url="https://only.example")


def test_a_redirect_carries_no_token() -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.host)
        return httpx.Response(307, headers={"Location": "https://elsewhere.example/"})

    for ask in (lambda client: client.me(), lambda client: client.twin("heights", "nowhere")):
        with pytest.raises(PlatformUnreachable, match="HTTP 307"):
            ask(answering(answer))
    assert set(seen) == {"dpgate.example.org"}


def test_a_name_never_becomes_another_address() -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path)
        return httpx.Response(404)

    with pytest.raises(PlatformUnreachable):
        answering(answer).dataset("../users?x=1#y")
    for name in (".", ".."):
        with pytest.raises(DpgateError, match=r"neither \. nor \.\."):
            answering(answer).dataset(name)
    assert seen == [b"/api/v1/datasets/..%2Fusers%3Fx%3D1%23y"]


def zipped(*names: str, mode: int = 0, content: bytes = b"x") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()


def bomb() -> bytes:
    """An archive that says it holds 64 GiB."""
    content = bytearray(zipped("a", content=b"0" * 1000))
    place = content.rindex(b"PK\x01\x02")
    content[place + 24 : place + 28] = (0xFFFFFFF0).to_bytes(4, "little")
    return bytes(content)


HOSTILE = {
    "climbs": zipped("good", "../outside"),
    "climbs inside": zipped("good", "a/../../outside"),
    "absolute": zipped("good", "/tmp/dpgate-outside"),
    "backslash": zipped("good", "..\\outside"),
    "link": zipped("good", "link", mode=stat.S_IFLNK | 0o777, content=b"/etc/passwd"),
    "device": zipped("good", "device", mode=stat.S_IFCHR | 0o666),
    "folder": zipped("good", "folder/"),
    "file and folder": zipped("good", "a", "a/b"),
    "bomb": bomb(),
    "no archive": b"<html>",
    "cut": zipped("good")[:-10],
}


def test_a_hostile_twin_writes_nothing(tmp_path: Path, subtests: pytest.Subtests) -> None:
    folder = tmp_path / "deep" / "twin"
    for case, content in HOSTILE.items():
        client = answering(lambda _request, content=content: httpx.Response(200, content=content))
        with subtests.test(msg=case):
            with pytest.raises(DpgateError):
                client.twin("heights", folder)
            assert list(tmp_path.rglob("*")) == []


def test_a_twin_does_not_follow_a_link_that_lies_there(tmp_path: Path) -> None:
    folder, outside = tmp_path / "twin", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "a").symlink_to(outside)
    client = answering(lambda _request: httpx.Response(200, content=zipped("a/b")))
    with pytest.raises(DpgateError, match="leads outside"):
        client.twin("heights", folder)
    assert list(outside.iterdir()) == []


def test_an_answer_that_is_not_ours_is_said_to_be_so() -> None:
    for body in (b"<html>", b"[]", b'{"name": 1}', b"null", b"[" * 100_000):
        client = answering(lambda _request, body=body: httpx.Response(200, content=body))
        for ask in (
            client.me,
            lambda client=client: client.job("x"),
            lambda client=client: client.budget("x"),
        ):
            with pytest.raises(PlatformUnreachable, match="not dpgate"):
                ask()


def test_an_address_with_a_password_in_it_is_refused_and_not_shown() -> None:
    with pytest.raises(DpgateError, match="holds a name or a password") as refused:
        Client(Login("https://ada:slip-of-a-word@dpgate.example.org", SECRET))
    assert "slip" not in str(refused.value)


def test_brackets_without_end_are_no_refusal_of_ours() -> None:
    client = answering(lambda _request: httpx.Response(403, content=b"[" * 100_000))
    with pytest.raises(PlatformUnreachable, match="HTTP 403 from something that is not dpgate"):
        client.me()


def test_a_job_that_is_asked_anew_for_days_keeps_no_job_before_it() -> None:
    raw = job_of(state="RUNNING").raw
    client = answering(lambda _request: httpx.Response(200, json=raw))
    first = job = client.job("job-shown")
    kept = weakref.ref(first)
    del first
    for _ in range(sys.getrecursionlimit()):
        job = job.refresh()
    assert kept() is None
    assert next(Job.follow(job)).state == "RUNNING"


def test_a_lost_connection_does_not_show_the_token() -> None:
    def answer(_request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("slow")

    with pytest.raises(PlatformUnreachable) as lost:
        answering(answer).jobs()
    assert SECRET not in json.dumps(str(lost.value))
