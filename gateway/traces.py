"""Traces, where an operator wants them: ids, public states, and times of this process only.

A span is named after the method and the template of a route. It knows no user, no address, no body and no
text. Messages to the workers carry its id, so that what a worker says about the same job hangs under it.
"""

from __future__ import annotations

from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import NotReady
from gateway.routes import route_of

if TYPE_CHECKING:
    from gateway.tracer import Tracer

MISSING = (
    "DPGATE_TRACES_ENDPOINT is set, but the packages for traces are missing: install dpgate[traces], or take "
    "the setting away"
)
# of an address, what is an id on record
IDS = {"job_id": "dpgate.job"}
_traceparent: ContextVar[str] = ContextVar("traceparent", default="")


def tracer_to(endpoint: str | None) -> Tracer | None:
    """None without an endpoint. Raises NotReady where the packages of the extra are missing."""
    if endpoint is None:
        return None
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter") is None:
        raise NotReady(MISSING)
    from gateway.tracer import Tracer

    return Tracer.to(endpoint)


class Traces:
    """ASGI middleware: a span for each request, where the application has a tracer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        tracer: Tracer | None = scope["app"].state.tracer if scope["type"] == "http" else None
        if tracer is None:
            await self.app(scope, receive, send)
            return
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        with tracer.request() as span:
            _traceparent.set(span.traceparent)
            await self.app(scope, receive, watched)
            span.name(f"{scope['method']} {route_of(scope)}", _attributes(scope, status))


def carried() -> dict[str, str]:
    """What a message carries of the request that sends it: one random id, or nothing without traces."""
    traceparent = _traceparent.get()
    return {"traceparent": traceparent} if traceparent else {}


def _attributes(scope: Scope, status: int) -> dict[str, str | int]:
    found: dict[str, str | int] = {
        "http.request.method": scope["method"],
        "http.route": route_of(scope),
        "http.response.status_code": status,
    }
    if request_id := scope.get("state", {}).get("request_id"):
        found["dpgate.request"] = request_id
    for name, attribute in IDS.items():
        value = scope.get("path_params", {}).get(name)
        # only of a request that found something: anything else is what somebody typed
        if value is not None and status < 400:
            found[attribute] = str(value)
    return found
