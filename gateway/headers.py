"""What every answer says to browsers and caches on its way."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

API = "/api/"
# HSTS belongs to whoever ends TLS: the reverse proxy
HEADERS = {
    "Cache-Control": "no-store",  # nearly every answer is for one user only
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS = HEADERS | {
    "Content-Security-Policy": _PAGE_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    # with no-referrer a browser calls the origin of our own forms "null", and they would be refused
    "Referrer-Policy": "same-origin",
}
# the same bytes for everybody
STATIC = "/static/"
STATIC_HEADERS = PAGE_HEADERS | {"Cache-Control": "public, max-age=3600"}


# a page that a rights holder handed in: a document of no origin that may run, load, send and frame nothing
OK = 200
REPORT = re.compile(r"/datasets/[^/]+/twin/report")
REPORT_HEADERS = HEADERS | {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; sandbox"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
}


class SecurityHeaders:
    """ASGI middleware: sets them on every answer, also on refusals and faults."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers_of(path, message["status"]))
            await send(message)

        await self.app(scope, receive, with_headers)


def headers_of(path: str, status: int = 200) -> Mapping[str, str]:
    """The interface's answers are read by programs, pages by browsers. Why there is no report is said on a
    page of ours."""
    if REPORT.fullmatch(path) and status == OK:
        return REPORT_HEADERS
    if path.startswith(STATIC):
        return STATIC_HEADERS
    return HEADERS if path.startswith(API) else PAGE_HEADERS
