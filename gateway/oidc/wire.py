"""Requests to the identity provider: short, small, never redirected. The gateway's only way out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import httpx

from domain.errors import Unauthenticated

log = logging.getLogger(__name__)
TIMEOUT_S = 5
MAX_BYTES = 1 << 20
_SILENT = (
    "authorization",
    "the identity provider does not answer as it should.",
    "Try again soon; if it goes on, tell the operator.",
)


class Wire:
    """One connection pool to one provider. Every failure is Unauthenticated; its reason is in the log."""

    def __init__(self) -> None:
        self._http = httpx.Client(timeout=TIMEOUT_S, follow_redirects=False, trust_env=True)

    def get(self, url: str, *, bearer: str | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        return self._json("GET", url, headers=headers)

    def post(self, url: str, form: Mapping[str, str], *, auth: tuple[str, str] | None) -> dict[str, Any]:
        """`auth` is the client's name and secret, already in the form that OAuth writes them."""
        return self._json("POST", url, data=dict(form), auth=auth)

    def close(self) -> None:
        self._http.close()

    def _json(self, method: str, url: str, **request: Any) -> dict[str, Any]:
        content = bytearray()
        headers = {"Accept": "application/json"} | request.pop("headers", {})
        try:
            with self._http.stream(method, url, headers=headers, **request) as answer:
                for part in answer.iter_bytes():
                    content += part
                    if len(content) > MAX_BYTES:
                        raise self._failure(url, "sent too much")
            if answer.status_code != 200:
                raise self._failure(url, f"answered {answer.status_code}")
            found = httpx.Response(200, content=bytes(content)).json()
        except (httpx.RequestError, httpx.InvalidURL, ValueError) as error:
            raise self._failure(url, type(error).__name__) from None
        if not isinstance(found, dict):
            raise self._failure(url, "sent no JSON object")
        return found

    def _failure(self, url: str, reason: str) -> Unauthenticated:
        # the address comes from the provider's own document: no token is in it
        log.warning("the identity provider at %s: %s", url.split("?")[0], reason)
        return Unauthenticated(*_SILENT)
