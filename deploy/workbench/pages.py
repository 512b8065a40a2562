"""The pages of the workbench, and its door.

    python pages.py --port 8762 --platform http://127.0.0.1:8750 --provider http://127.0.0.1:8761 \\
        --app examples/bids-means-python --secrets hooks
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from html import escape
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl

from workbench import EPSILON, LoggedOut, Refused, Workbench

from domain.errors import RequestError
from dpgate.errors import DpgateError

MOST_BODY = 64 * 1024
STYLE = Path(__file__).with_name("style.css").read_bytes()
PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    "<title>Workbench</title><link rel=stylesheet href=/style.css><main>"
)
CALLED_BACK = " - its release can be read"
BACK = "<p><a href=/>Back</a>"
LOG_IN = (
    "<h1>Workbench</h1><form method=post action=/login>"
    "<label>Name <input name=name autocomplete=username></label>"
    "<label>Password <input name=password type=password autocomplete=current-password></label>"
    "<button>Log in</button></form>"
)
HEAD = "<thead><tr><th scope=col>number<th scope=col>with noise<th scope=col>95 % of the noise</thead>"


def home(bench: Workbench, cookie: str) -> str:
    if cookie not in bench.people:
        return LOG_IN
    datasets, jobs = bench.seen(cookie)
    ready = bench.ready.get(bench.name(cookie), ())
    listed = "".join(
        f"<li>{escape(one.name)}{_button('try', one.name, 'try on the twin')}"
        + _button("submit", one.name, f"submit, for epsilon {EPSILON}")
        for one in datasets
    )
    asked = "".join(
        f"<li><a href=/jobs/{job.id}>{job.id}</a> {job.state}"
        + (CALLED_BACK if job.id in ready else "")
        + (f"<br>{escape(job.reason)}" if job.reason else "")
        for job in jobs
    )
    name = escape(bench.name(cookie))
    return (
        f"<h1>Workbench of {name}</h1><h2>Data sets</h2><ul>{listed or '<li>none for you yet'}</ul>"
        f"<h2>Jobs</h2><ul>{asked or '<li>none yet'}</ul>"
    )


def _button(what: str, dataset: str, says: str) -> str:
    return (
        f" <form method=post action=/{what}><input type=hidden name=dataset value='{escape(dataset)}'>"
        f"<button>{says}</button></form>"
    )


def release(bench: Workbench, cookie: str, job_id: str) -> str:
    """Each number with the interval that its noise has, below the class of its guarantee."""
    found = bench.release(cookie, job_id)
    rows = "".join(
        f"<tr><th scope=row>{escape(one.name)}<td>{one.headline:.6g}<td>"
        + (f"{one.lower_95:.6g} to {one.upper_95:.6g}" if None not in (one.lower_95, one.upper_95) else "")
        for one in found.values
    )
    guarantee = escape(found.guarantee)
    return (
        f"<h1>Release</h1><p>Guarantee class: <b>{guarantee}</b>. Every number has noise; the truth may lie"
        f" outside of the interval.<table>{HEAD}{rows}</table>{BACK}"
    )


class Door(BaseHTTPRequestHandler):
    """One request. `bench` is set by `serving`."""

    bench: Workbench

    def do_GET(self) -> None:
        cookie = self._cookie()
        if found := re.fullmatch(r"/jobs/([A-Za-z0-9-]+)", self.path):
            self._answer(lambda: release(self.bench, cookie, found[1]))
        elif self.path == "/":
            self._answer(lambda: home(self.bench, cookie))
        elif self.path == "/style.css":
            self._send(200, "text/css", STYLE)
        else:
            self._say(404, "There is nothing here.")

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        if not 0 <= length <= MOST_BODY:
            self._say(413, "Too much.")
            return
        body = self.rfile.read(length)
        if self.path.startswith("/hook/"):
            self._hook(self.path.removeprefix("/hook/"), body)
            return
        form = dict(parse_qsl(body.decode("utf-8", "replace")))
        cookie, dataset = self._cookie(), form.get("dataset", "")
        pages: dict[str, Callable[[], str]] = {
            "/login": lambda: self._log_in(form),
            "/try": lambda: self._tried(cookie, dataset),
            "/submit": lambda: self._submitted(cookie, dataset),
        }
        self._answer(pages[self.path]) if self.path in pages else self._say(404, "There is nothing here.")

    def _log_in(self, form: dict[str, str]) -> str:
        self._new = self.bench.log_in(form.get("name", ""), form.get("password", ""))
        return home(self.bench, self._new)

    def _tried(self, cookie: str, dataset: str) -> str:
        said = escape(self.bench.try_on_twin(cookie, dataset))
        return f"<h1>On the twin of {escape(dataset)}</h1><pre tabindex=0>{said}</pre>{BACK}"

    def _submitted(self, cookie: str, dataset: str) -> str:
        job = self.bench.submit(cookie, dataset)
        return f"<h1>Submitted</h1><p>In your name: <a href=/jobs/{job}>{job}</a>{BACK}"

    def _hook(self, name: str, body: bytes) -> None:
        headers = {key.lower(): value for key, value in self.headers.items()}
        try:
            self.bench.called_back(name, headers, body)
        except Refused as refused:
            self._say(403, str(refused))
        else:
            self._say(200, "")

    def _answer(self, page: Callable[[], str]) -> None:
        try:
            self._say(200, page())
        except LoggedOut as refused:
            self._say(409, f"<p>{escape(str(refused))}</p>{LOG_IN}")
        except (Refused, DpgateError, RequestError) as refused:
            self._say(409, f"<h1>Not done</h1><p>{escape(str(refused))}</p>{BACK}")

    def _say(self, status: int, page: str) -> None:
        self._send(status, "text/html; charset=utf-8", f"{PAGE}{page}</main>".encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.send_header(
            "content-security-policy", "default-src 'none'; style-src 'self'; form-action 'self'"
        )
        if cookie := getattr(self, "_new", None):
            # Strict: no other site's form is sent with it. Behind https, add Secure.
            self.send_header("set-cookie", f"bench={cookie}; HttpOnly; SameSite=Strict; Path=/")
        self.end_headers()
        self.wfile.write(content)

    def _cookie(self) -> str:
        found = SimpleCookie(self.headers.get("cookie", "")).get("bench")
        return found.value if found else ""

    def log_message(self, *_: object) -> None:
        pass


def serving(bench: Workbench, port: int) -> ThreadingHTTPServer:
    """Not begun yet. Port 0 is any free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), type("Here", (Door,), {"bench": bench}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The workbench, on this machine.")
    parser.add_argument("--port", type=int, required=True)
    for name in ("platform", "provider", "app", "secrets"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--work", type=Path, default=Path("workbench"), help="where twins are kept")
    asked = parser.parse_args()
    bench = Workbench(asked.platform, asked.provider, Path(asked.app), Path(asked.secrets), asked.work)
    serving(bench, asked.port).serve_forever()
