"""The two clients of the REST interface: one waits for its answers, the methods of the other are awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpgate.credentials import Login, find_login
from dpgate.drivers import Awaited, Waiting
from dpgate.errors import DpgateError
from dpgate.interface import Interface

if TYPE_CHECKING:
    import httpx  # a fifth of the start of a command, and many commands ask no server


def connect(*, profile: str = "default", url: str | None = None, token: str | None = None) -> Client:
    """A client with the given address and token, or with the login kept under `profile`."""
    return Client(_login(profile, url, token))


def connect_async(
    *, profile: str = "default", url: str | None = None, token: str | None = None
) -> AsyncClient:
    """The same, with a client whose methods are awaited."""
    return AsyncClient(_login(profile, url, token))


def _login(profile: str, url: str | None, token: str | None) -> Login:
    if (url is None) != (token is None):
        raise DpgateError("give both url and token, or neither")
    return Login(url, token) if url is not None and token is not None else find_login(profile)


class Client(Interface[Waiting]):
    """A client whose methods wait for their answers. Close it, or use it in a `with` block."""

    def __init__(
        self, login: Login, *, timeout_s: float = 30, transport: httpx.BaseTransport | None = None
    ) -> None:
        super().__init__(Waiting(login, timeout_s=timeout_s, transport=transport))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._driver.http.close()


class AsyncClient(Interface[Awaited]):
    """The same methods, to be awaited. Close it, or use it in an `async with` block."""

    def __init__(
        self, login: Login, *, timeout_s: float = 30, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        super().__init__(Awaited(login, timeout_s=timeout_s, transport=transport))

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._driver.http.aclose()
