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

from workbench import LoggedOut, Refused, Workbench

from domain.errors import RequestError
from dpgate.errors import DpgateError

MOST_BODY = 64 * 1024
CALLED_BACK = " - its release can be read"
LOG_IN = (
    "<form method=post action=/login>Name <input name=name> "
    "Password <input name=password type=password> <button>Log in</button></form>"
)

HEAD = "<tr><th>number<th>with noise<th>95 % of the noise"


def home(bench: Workbench, cookie: str) -> str:
    if cookie not in bench.people:
        return LOG_IN
    datasets, jobs = bench.seen(cookie)
    ready = bench.ready.get(bench.name(cookie), ())
    listed = "".join(
        f"<li>{escape(one.name)}{_button('try', one.name)}{_button('submit', one.name)}" for one in datasets
    )
    asked = "".join(
        f"<li><a href=/jobs/{job.id}>{job.id}</a> {job.state}" + (CALLED_BACK if job.id in ready else "")
        for job in jobs
    )
    return f"<h1>{escape(bench.name(cookie))}</h1><ul>{listed}</ul><h2>Jobs</h2><ul>{asked}</ul>"


def _button(what: str, dataset: str) -> str:
    return (
        f" <form method=post action=/{what}><input type=hidden name=dataset value='{escape(dataset)}'>"
        f"<button>{what}</button></form>"
    )


def release(bench: Workbench, cookie: str, job_id: str) -> str:
    """Each number with the interval that its noise has, below the class of its guarantee."""
    found = bench.release(cookie, job_id)
    rows = "".join(
        f"<tr><td>{escape(one.name)}<td>{one.headline:.6g}<td>{one.lower_95:.6g} to {one.upper_95:.6g}"
        if one.lower_95 is not None and one.upper_95 is not None
        else f"<tr><td>{escape(one.name)}<td>{one.headline:.6g}<td>"
        for one in found.values
    )
    table = f"<table border=1 cellpadding=4>{HEAD}{rows}</table>"
    return f"<h1>{escape(found.guarantee)}</h1>{table}<p><a href=/>Back</a>"


class Door(BaseHTTPRequestHandler):
    """One request. `bench` is set by `serving`."""

    bench: Workbench

    def do_GET(self) -> None:
        cookie = self._cookie()
        if found := re.fullmatch(r"/jobs/([A-Za-z0-9-]+)", self.path):
            self._answer(lambda: release(self.bench, cookie, found[1]))
        elif self.path == "/":
            self._answer(lambda: home(self.bench, cookie))
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
            "/try": lambda: f"<pre>{escape(self.bench.try_on_twin(cookie, dataset))}</pre><a href=/>Back</a>",
            "/submit": lambda: self._submitted(cookie, dataset),
        }
        self._answer(pages[self.path]) if self.path in pages else self._say(404, "There is nothing here.")

    def _log_in(self, form: dict[str, str]) -> str:
        self._new = self.bench.log_in(form.get("name", ""), form.get("password", ""))
        return home(self.bench, self._new)

    def _submitted(self, cookie: str, dataset: str) -> str:
        job = self.bench.submit(cookie, dataset)
        return f"<a href=/jobs/{job}>{job}</a>"

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
            self._say(409, f"<p>{escape(str(refused))}{LOG_IN}")
        except (Refused, DpgateError, RequestError) as refused:
            self._say(409, f"<p>{escape(str(refused))}")

    def _say(self, status: int, page: str) -> None:
        content = f"<!doctype html><meta charset=utf-8><title>Workbench</title>{page}".encode()
        self.send_response(status)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(content)))
        self.send_header("content-security-policy", "default-src 'none'; form-action 'self'")
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
