"""Refuses a body that is too large, or larger than a stranger's may be: by its stated length, or else as soon
as it has grown too long."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import RedirectResponse
from fastapi.security.utils import get_authorization_scheme_param
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import RequestError, TooLarge
from domain.refusals import rights
from gateway.access import OPEN_ROUTES, caller_of
from gateway.pages.session import LOGIN, logged_in
from gateway.problems import answer
from gateway.routes import PREFIX

MAX_DIGITS = 15  # of a Content-Length; int() of thousands of them would raise
STRANGERS_BYTES = 64 * 1024
"""What is read of anybody's body. A login is far smaller; more is read of whoever is logged in."""


class BodyLimit:
    """ASGI middleware: at most `max_bytes` of body per request, read whole before the application starts.

    An error raised while the application reads would become its own "could not parse the body" (400).
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._states_over(scope, self.max_bytes):
            await answer(_too_large(self.max_bytes))(scope, receive, send)
            return
        is_known = False
        if self._states_over(scope, STRANGERS_BYTES):
            refusal = await run_in_threadpool(_stranger, scope)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
            is_known = True
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.max_bytes:
                await answer(_too_large(self.max_bytes))(scope, receive, send)
                return
            if len(body) > STRANGERS_BYTES and not is_known:
                refusal = await run_in_threadpool(_stranger, scope)
                if refusal is not None:
                    await refusal(scope, receive, send)
                    return
                is_known = True
        await self.app(scope, _replayed(bytes(body), then=receive), send)

    def _states_over(self, scope: Scope, most: int) -> bool:
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        return any(
            len(length) > MAX_DIGITS or not length.isdigit() or int(length) > most for length in lengths
        )


def _stranger(scope: Scope) -> Response | None:
    """What somebody is told who is not logged in; None to whoever is. The route looks again."""
    request = Request(scope)
    if not scope["path"].startswith(PREFIX):
        return None if logged_in(request) else RedirectResponse(LOGIN, status_code=303)
    scheme, token = get_authorization_scheme_param(request.headers.get("authorization"))
    try:
        if scheme.lower() != "bearer" or not token:
            raise rights.NO_TOKEN()
        caller_of(request, request.app.state.database, token)
    except RequestError as error:
        return answer(_too_large(STRANGERS_BYTES) if scope["path"] in OPEN_ROUTES else error)
    return None


def _too_large(most: int) -> TooLarge:
    return TooLarge(
        "body",
        f"more than {most // 1024} KiB.",
        "Put large parts into the image; original data never travel through this API.",
    )


def _replayed(body: bytes, *, then: Receive) -> Receive:
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return left.pop() if left else await then()

    return replayed
