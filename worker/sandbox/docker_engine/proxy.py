"""Stands between workers and the Docker daemon, whose socket is worth root on its host.

A worker's request is parsed whole, looked up in the table of `proxy_rules.py`, and if it passes, a new one is
made and sent over a connection of its own: no byte of the worker's is passed on. Containers are
started from a body made here from what the worker's body says, and touched only if they carry our labels.

    python -m worker.sandbox.docker_engine.proxy_command --listen SOCKET --keeper-image sha256:... --images F
"""

import http.client
import json
import re
import socket
import socketserver
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from worker.sandbox.protocol import MIB

from .create_body import create_body
from .identity import LABELS
from .proxy_rules import Call, NotOurs, Refused, Rules, find_call, trimmed_info
from .read_body import part_of
from .splice import splice, upgrade

_LONGEST_BODY = MIB
_LONGEST_ANSWER = 64 * MIB
_IDLE_S = 60  # of a worker that says nothing
_JSON = "application/json"
_LENGTH = re.compile(r"\d{1,9}", re.ASCII)


class Proxy(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Serve it with `serve_forever`; `server_close` at the end."""

    daemon_threads = True
    block_on_close = False  # a thread may still wait for a container

    def __init__(self, listen: Path, daemon: Path, rules: Rules) -> None:
        self.daemon_socket, self.rules = daemon, rules
        self._ours: set[str] = set()
        self._lock = threading.Lock()
        super().__init__(str(listen), _Handler)

    def check_container(self, container: str) -> None:
        """Ours: made through this proxy, or by an earlier one, which the labels tell."""
        with self._lock:
            if container in self._ours:
                return
        status, content = self.ask("GET", f"/containers/{container}/json")
        if status != HTTPStatus.OK:
            raise Refused("no such container", HTTPStatus.NOT_FOUND)
        if not set(LABELS) <= set(json.loads(content)["Config"]["Labels"] or {}):
            raise Refused("no such container of ours", HTTPStatus.NOT_FOUND)
        with self._lock:
            self._ours.add(container)

    def check_room(self) -> None:
        with self._lock:
            if len(self._ours) >= self.rules.ceilings.containers:
                raise Refused("as many containers as this proxy allows exist already")

    def note(self, name: str, container: str) -> None:
        with self._lock:
            (self._ours.add if name == "create" else self._ours.discard)(container)

    def ask(self, method: str, target: str, body: bytes | None = None) -> tuple[int, bytes]:
        """One request over a connection of its own, which the daemon's answer ends."""
        connection = _ToDaemon(self.daemon_socket)
        try:
            headers = {"Content-Type": _JSON} if body is not None else {}
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            content = answer.read(_LONGEST_ANSWER + 1)
            if len(content) > _LONGEST_ANSWER:
                raise Refused("the daemon's answer is too long", HTTPStatus.BAD_GATEWAY)
            return answer.status, content
        except (OSError, http.client.HTTPException) as error:
            raise Refused(f"the daemon does not answer: {error}", HTTPStatus.BAD_GATEWAY) from error
        finally:
            connection.close()


class _ToDaemon(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("docker")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "dpgate", ""
    timeout = _IDLE_S
    server: Proxy

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the library's name
        """Silent: a path and its answer could tell of runs."""

    def _serve(self) -> None:
        try:
            content = self._body()
            call, found, target = find_call(self.command, self.path)
            self._pass(call, found, target, content)
        except Refused as refused:
            self._refuse(refused.status, str(refused))
        except (NotOurs, ValueError, RecursionError) as error:
            self._refuse(HTTPStatus.FORBIDDEN, str(error))

    def _pass(self, call: Call, found: Mapping[str, str | None], target: str, content: bytes) -> None:
        proxy, body = self.server, None
        if image := found.get("image"):
            proxy.rules.check_image(image)
        if container := found.get("container"):
            proxy.check_container(container)
        if call.name == "create":
            body = self._create_body(content)
        elif content:
            raise Refused(f"{call.name} takes no body")
        if call.name == "attach":
            self._attach(target)
            return
        status, answer = proxy.ask(call.method, target, body)
        if call.name == "create" and status == HTTPStatus.CREATED:
            proxy.note(call.name, json.loads(answer)["Id"])
        if call.name == "remove" and status in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND):
            proxy.note(call.name, str(container))
        if call.name == "info" and status == HTTPStatus.OK:
            answer = json.dumps(trimmed_info(json.loads(answer))).encode()
        self._answer(status, answer)

    def _create_body(self, content: bytes) -> bytes:
        self.server.check_room()
        body = json.loads(content)
        if not isinstance(body, dict):
            raise Refused("not a body that a worker makes")
        part = part_of(body)
        self.server.rules.check_part(part)
        return json.dumps(create_body(part)).encode()

    def _body(self) -> bytes:
        """By its declared length only: two ways to tell a length are how requests are smuggled."""
        if "Transfer-Encoding" in self.headers:
            raise self._hang_up("bodies come with a length, not in chunks", HTTPStatus.NOT_IMPLEMENTED)
        lengths = self.headers.get_all("Content-Length") or ["0"]
        if len(lengths) != 1 or not _LENGTH.fullmatch(lengths[0]):
            raise self._hang_up("one length, in digits", HTTPStatus.BAD_REQUEST)
        if int(lengths[0]) > _LONGEST_BODY:
            raise self._hang_up("the body is too long", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return self.rfile.read(int(lengths[0]))

    def _hang_up(self, sentence: str, status: HTTPStatus) -> Refused:
        """Where the next request would begin is not known any more."""
        self.close_connection = True
        return Refused(sentence, status)

    def _attach(self, target: str) -> None:
        self.close_connection = True
        with socket.socket(socket.AF_UNIX) as daemon:
            try:
                daemon.connect(str(self.server.daemon_socket))
                first = upgrade(daemon, target)
            except OSError as error:
                raise Refused(f"the daemon does not attach: {error}", HTTPStatus.BAD_GATEWAY) from error
            self.send_response_only(HTTPStatus.SWITCHING_PROTOCOLS)
            self.send_header("Content-Type", "application/vnd.docker.raw-stream")
            self.send_header("Connection", "Upgrade")
            self.send_header("Upgrade", "tcp")
            self.end_headers()
            self.connection.settimeout(None)
            self.connection.sendall(first)
            splice(self.connection, daemon)

    def _refuse(self, status: int, sentence: str) -> None:
        self._answer(status, json.dumps({"message": f"dpgate proxy: {sentence}"}).encode())

    def _answer(self, status: int, content: bytes) -> None:
        self.send_response(status)
        has_body = status not in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
        if has_body:
            self.send_header("Content-Type", _JSON)
            self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if has_body:
            self.wfile.write(content)
