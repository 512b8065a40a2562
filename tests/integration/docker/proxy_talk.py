"""Speaking to a Docker socket without a client that would keep one from saying the wrong thing."""

from __future__ import annotations

import copy
import io
import json
import socket
import tarfile
from contextlib import suppress
from pathlib import Path

from docker_daemon import UnixConnection
from waiting import PATIENCE_S

OK = range(200, 300)


def ask(path: Path, method: str, target: str, body: object = None, **headers: str) -> tuple[int, bytes]:
    connection = UnixConnection(path)
    try:
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        # who refuses may hang up before all of a body is there
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, target, sent, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def changed(body: dict, **changes: object) -> dict:
    """`HostConfig__Name=value` for a setting of the host configuration."""
    body = copy.deepcopy(body)
    for name, value in changes.items():
        where = body["HostConfig"] if name.startswith("HostConfig__") else body
        where[name.removeprefix("HostConfig__")] = value
    return body


def packed(files: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return held.getvalue()


def talk(path: Path, message: bytes) -> bytes:
    """Raw bytes, then all that comes back until the other side hangs up."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(str(path))
        connection.sendall(message)
        answer = b""
        with suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                answer += piece
        return answer
