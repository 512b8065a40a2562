"""Requests to the identity provider: short, small, never redirected. The gateway's only way out."""

from __future__ import annotations

import json
import logging
import ssl
import threading
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

import httpx

from domain.errors import Unauthenticated
from gateway.oidc.faults import OAUTH_ERRORS, Fault, refused

log = logging.getLogger(__name__)
TIMEOUT_S = 5
MAX_BYTES = 1 << 20
# all pages and answers of a gateway come from 40 threads: most of them must not wait for a provider
AT_ONCE = 12
PATIENCE_S = 2
# what an OAuth error means to somebody who waits for a login
_OF_PROVIDER = {Fault.DOWN, Fault.BAD_ANSWER, Fault.CLIENT_SECRET}
_MEANT = {"invalid_client": Fault.CLIENT_SECRET, "invalid_grant": Fault.CODE_USED}


@cache
def _authorities() -> ssl.SSLContext:
    """Whose certificates are believed: read once for all providers, which takes longer than a request."""
    return httpx.create_ssl_context()


class Wire:
    """One connection pool to one provider. Every failure is Unauthenticated; its reason is in the log."""

    def __init__(self) -> None:
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self._http = httpx.Client(
            verify=_authorities(), timeout=TIMEOUT_S, follow_redirects=False, trust_env=True
        )
        # the provider's clock, in seconds since 1970, as of its last answer; None before one
        self.said_time: float | None = None
        # `ok`, the word of what went wrong, or `unknown` before the first question
        self.last = "unknown"

    def get(self, url: str, *, bearer: str | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        return self._json("GET", url, headers=headers)

    def post(self, url: str, form: Mapping[str, str], *, auth: tuple[str, str] | None) -> dict[str, Any]:
        """`auth` is the client's name and secret, already in the form that OAuth writes them."""
        return self._json("POST", url, data=dict(form), auth=auth)

    def close(self) -> None:
        self._http.close()

    def _json(self, method: str, url: str, **request: Any) -> dict[str, Any]:
        """A provider that did not answer last time is waited for by no more than there are places."""
        if not self._places.acquire(timeout=PATIENCE_S if self.last in ("ok", "unknown") else 0):
            log.warning("the identity provider at %s is asked by too many at once", url.split("?")[0])
            raise refused(Fault.DOWN)
        try:
            return self._asked(method, url, **request)
        finally:
            self._places.release()

    def _asked(self, method: str, url: str, **request: Any) -> dict[str, Any]:
        content = bytearray()
        until = time.monotonic() + TIMEOUT_S
        headers = {"Accept": "application/json"} | request.pop("headers", {})
        try:
            with self._http.stream(method, url, headers=headers, **request) as answer:
                for part in answer.iter_bytes():
                    content += part
                    if time.monotonic() > until:
                        raise self._failure(url, Fault.DOWN, "sent too slowly")
                    if len(content) > MAX_BYTES:
                        raise self._failure(url, Fault.BAD_ANSWER, "sent too much")
            self.said_time = _time_of(answer.headers.get("Date"))
            found = httpx.Response(200, content=bytes(content)).json() if content else None
            check_letters(found)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise self._failure(url, Fault.DOWN, type(error).__name__) from None
        except (ValueError, RecursionError) as error:
            fault = Fault.DOWN if answer.status_code >= 500 else Fault.BAD_ANSWER
            raise self._failure(url, fault, f"{answer.status_code}, {type(error).__name__}") from None
        if answer.status_code != 200:
            raise self._refusal(url, answer.status_code, found)
        if not isinstance(found, dict):
            raise self._failure(url, Fault.BAD_ANSWER, "sent no JSON object")
        self.last = "ok"
        return found

    def _refusal(self, url: str, status: int, found: object) -> Unauthenticated:
        """A code of OAuth's own list says more; any other text of the provider's is kept out of the log."""
        if status >= 500:
            return self._failure(url, Fault.DOWN, f"answered {status}")
        code = found.get("error") if isinstance(found, dict) else None
        known = code if isinstance(code, str) and code in OAUTH_ERRORS else None
        if known is None and status not in (400, 401, 403):
            return self._failure(url, Fault.BAD_ANSWER, f"answered {status}")
        return self._failure(
            url, _MEANT.get(known or "", Fault.REFUSED), f"answered {status} {known or ''}".strip()
        )

    def _failure(self, url: str, fault: Fault, reason: str) -> Unauthenticated:
        # the address comes from the provider's own document: no token is in it
        log.warning("the identity provider at %s: %s (%s)", url.split("?")[0], fault, reason)
        # what somebody's code or token brings about says nothing of the provider
        self.last = fault if fault in _OF_PROVIDER else "ok"
        return refused(fault)


def check_letters(said: object) -> None:
    """JSON can name halves of letters, which no file and no database takes. Raises ValueError."""
    json.dumps(said, ensure_ascii=False).encode()


def _time_of(date: str | None) -> float | None:
    try:
        said = parsedate_to_datetime(date or "")
    except (ValueError, TypeError):
        return None
    return (said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp()
