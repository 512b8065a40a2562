"""Logs as JSON lines, and one line for each request: its id, method, route, status and how long it took.

No address, no query, no header and no body is in a log; a route is named by its template. How long a request
took is no secret: no route of the gateway waits for what a run does.
"""

from __future__ import annotations

import logging
import time
import uuid
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.log_line import line
from gateway.routes import route_of

log = logging.getLogger("dpgate.requests")
HEADER = "X-Request-Id"
# the server's own access log has addresses in it
SERVER = ("uvicorn", "uvicorn.error", "uvicorn.access")
_request_id: ContextVar[str] = ContextVar("request_id", default="")


class JsonLines(logging.Formatter):
    """Each record as one JSON object. Of an error only its type and place: its text may quote values."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, str | int | float] = dict(getattr(record, "fields", {}))
        if request_id := _request_id.get():
            fields["request"] = request_id
        if record.exc_info and record.exc_info[0] is not None:
            fields["error"] = record.exc_info[0].__name__
            fields["place"] = _place(record)
        at = datetime.fromtimestamp(record.created, UTC)
        # the texts of an error and of a statement are often arguments
        text = record.getMessage()
        return line(at=at, level=record.levelname, source=record.name, text=text, fields=fields)


class Requests:
    """ASGI middleware: gives each request an id of its own, says it in the answer, and writes its line."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # not one that came with the request: whoever sends it could write into the log
        request_id = uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        _request_id.set(request_id)
        began, status = time.monotonic(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        await self.app(scope, receive, watched)
        _say(scope, status, seconds=time.monotonic() - began)


def write_json_lines() -> None:
    """Everything that this process logs, in one form on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    log.setLevel(logging.INFO)
    for name in SERVER:
        server = logging.getLogger(name)
        server.handlers.clear()
        server.propagate = name != "uvicorn.access"


def _say(scope: Scope, status: int, *, seconds: float) -> None:
    route = route_of(scope)
    fields = {"method": scope["method"], "route": route, "status": status, "ms": round(seconds * 1000, 1)}
    log.info("%s %s %d", scope["method"], route, status, extra={"fields": fields})


def _place(record: logging.LogRecord) -> str:
    trace = record.exc_info[2] if record.exc_info else None
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown"
    code = trace.tb_frame.f_code
    return f"{'/'.join(Path(code.co_filename).parts[-2:])}:{trace.tb_lineno}"
