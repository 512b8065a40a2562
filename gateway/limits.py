"""Refuses a body that is too large: by its stated length, or else as soon as it has grown too long."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import TooLarge
from gateway.problems import answer

MAX_DIGITS = 15  # of a Content-Length; int() of thousands of them would raise


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
        if self._states_too_much(scope):
            await answer(self._error())(scope, receive, send)
            return
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.max_bytes:
                await answer(self._error())(scope, receive, send)
                return
        await self.app(scope, _replayed(bytes(body), then=receive), send)

    def _states_too_much(self, scope: Scope) -> bool:
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        return any(
            len(length) > MAX_DIGITS or not length.isdigit() or int(length) > self.max_bytes
            for length in lengths
        )

    def _error(self) -> TooLarge:
        return TooLarge(
            "body",
            f"more than {self.max_bytes // 1024} KiB.",
            "Put large parts into the image; original data never travel through this API.",
        )


def _replayed(body: bytes, *, then: Receive) -> Receive:
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return left.pop() if left else await then()

    return replayed
