"""A browser without scripts: keeps cookies, reads the hidden field, sends forms."""

from __future__ import annotations

import re
from typing import Any

import httpx
from asking import Gateway

from gateway.pages.session import CSRF_FIELD


class Browser:
    """One person's browser, on one gateway."""

    def __init__(self, gateway: Gateway, *, base_url: str = "http://gateway") -> None:
        self._gateway = gateway
        self.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(gateway.app), base_url=base_url, follow_redirects=False
        )

    def get(self, path: str, **request: Any) -> httpx.Response:
        return self._gateway.portal.call(lambda: self.http.get(path, **request))

    def post(self, path: str, fields: dict[str, Any], **request: Any) -> httpx.Response:
        return self._gateway.portal.call(lambda: self.http.post(path, data=fields, **request))

    def csrf(self, path: str) -> str:
        """The hidden field of the forms on this page."""
        found = re.search(rf'name="{CSRF_FIELD}" value="(\w+)"', self.get(path).text)
        assert found, f"{path} has no form"
        return found[1]

    def send(self, page: str, path: str, **fields: Any) -> httpx.Response:
        """A form of `page`, sent to `path`."""
        return self.post(path, {CSRF_FIELD: self.csrf(page), **fields})

    def log_in(self, name: str, password: str, *, target: str = "") -> httpx.Response:
        return self.send("/login", "/login", name=name, password=password, next=target)

    def close(self) -> None:
        self._gateway.portal.call(self.http.aclose)
