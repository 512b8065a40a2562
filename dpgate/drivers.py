"""The two ways to send what a client asks: one waits for the answer, the other is awaited.

Both send a token nowhere but to the platform that it belongs to, and give a large answer up in time.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from dpgate.answers import NOT_DPGATE, refusal
from dpgate.calls import Call, Look, Pause, Shown, Steps
from dpgate.credentials import Login
from dpgate.errors import DpgateError, PlatformUnreachable
from dpgate.unpacking import MAX_BYTES

if TYPE_CHECKING:
    import httpx  # a fifth of the start of a command, and many commands ask no server

AnswerT = TypeVar("AnswerT")


class Waiting:
    """Sends with httpx.Client, and waits."""

    def __init__(self, login: Login, *, timeout_s: float, transport: httpx.BaseTransport | None) -> None:
        import httpx

        self.login = login
        self.http = httpx.Client(transport=transport, **_connection(login, timeout_s))

    def run(self, wanted: Call[AnswerT] | Steps[AnswerT]) -> AnswerT:
        """What a method gives its caller."""
        if isinstance(wanted, Call):
            return self._answer(wanted)
        step = next(wanted)
        while True:
            try:
                step = wanted.send(self._taken(step))
            except StopIteration as end:
                result: AnswerT = end.value
                return result

    def follow(self, wanted: Look[AnswerT]) -> Iterator[AnswerT]:
        """One thing after another."""
        answer: Any = None
        while True:
            try:
                step = wanted.send(answer)
            except StopIteration:
                return
            answer = None
            if isinstance(step, Shown):
                yield step.what
            else:
                answer = self._taken(step)

    def _taken(self, step: Call[Any] | Pause) -> Any:
        if isinstance(step, Call):
            return self._answer(step)
        time.sleep(step.seconds)
        return None

    def _answer(self, call: Call[AnswerT]) -> AnswerT:
        import httpx

        try:
            if call.is_large:
                return call.result_of(self._download(call))
            answer = self.http.request(call.method, call.path, **call.request)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _unreachable(self.http, error) from error
        return call.result_of(_accepted(answer, self.login))

    def _download(self, call: Call[Any]) -> bytes:
        content = bytearray()
        with self.http.stream(call.method, call.path, **call.request) as answer:
            if not answer.is_success:
                answer.read()
            for part in _accepted(answer, self.login).iter_bytes():
                _grow(content, part)
        return _filled(content)


class Awaited:
    """Sends with httpx.AsyncClient, and is awaited."""

    def __init__(self, login: Login, *, timeout_s: float, transport: httpx.AsyncBaseTransport | None) -> None:
        import httpx

        self.login = login
        self.http = httpx.AsyncClient(transport=transport, **_connection(login, timeout_s))

    async def run(self, wanted: Call[AnswerT] | Steps[AnswerT]) -> AnswerT:
        """What a method gives its caller."""
        if isinstance(wanted, Call):
            return await self._answer(wanted)
        step = next(wanted)
        while True:
            try:
                step = wanted.send(await self._taken(step))
            except StopIteration as end:
                result: AnswerT = end.value
                return result

    async def follow(self, wanted: Look[AnswerT]) -> AsyncIterator[AnswerT]:
        """One thing after another."""
        answer: Any = None
        while True:
            try:
                step = wanted.send(answer)
            except StopIteration:
                return
            answer = None
            if isinstance(step, Shown):
                yield step.what
            else:
                answer = await self._taken(step)

    async def _taken(self, step: Call[Any] | Pause) -> Any:
        if isinstance(step, Pause):
            import asyncio  # commands wait, and start without it

            return await asyncio.sleep(step.seconds)
        return await self._answer(step)

    async def _answer(self, call: Call[AnswerT]) -> AnswerT:
        import httpx

        try:
            if call.is_large:
                return call.result_of(await self._download(call))
            answer = await self.http.request(call.method, call.path, **call.request)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _unreachable(self.http, error) from error
        return call.result_of(_accepted(answer, self.login))

    async def _download(self, call: Call[Any]) -> bytes:
        content = bytearray()
        async with self.http.stream(call.method, call.path, **call.request) as answer:
            if not answer.is_success:
                await answer.aread()
            async for part in _accepted(answer, self.login).aiter_bytes():
                _grow(content, part)
        return _filled(content)


def _connection(login: Login, timeout_s: float) -> dict[str, Any]:
    _check_login(login)
    return {
        "base_url": login.url.rstrip("/") + "/api/v1",
        # without a token there is only the way to get one
        "headers": {"Authorization": f"Bearer {login.token}"} if login.token else {},
        "timeout": timeout_s,
        # an answer never sends the token elsewhere
        "follow_redirects": False,
        # to read all authorities takes longer than a request; where none is known, TLS is refused
        "verify": login.url.startswith("https://") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
    }


def _check_login(login: Login) -> None:
    import httpx

    if not login.url.startswith(("http://", "https://")):
        raise DpgateError(f"{login.url!r} is no address; it starts with https:// or http://")
    try:
        named = httpx.URL(login.url).userinfo
    except httpx.InvalidURL:
        raise DpgateError(f"{login.url!r} is no address, such as https://dpgate.example.org") from None
    if named:
        # it would be sent in the token's place, and be in what errors say of the address
        raise DpgateError("the address holds a name or a password; give it without, and log in with a token")
    # not shown: it may be a token with a slip of the finger
    if not login.token.isascii() or not login.token.isprintable() or " " in login.token:
        raise DpgateError("the token has characters that no token has; copy it again")


def _accepted(answer: httpx.Response, login: Login) -> httpx.Response:
    if not answer.is_success:
        raise refusal(answer, login)
    return answer


def _grow(content: bytearray, part: bytes) -> None:
    content += part
    if len(content) > MAX_BYTES:
        raise DpgateError("the platform sent more than 1 GiB; nothing was written")


def _filled(content: bytearray) -> bytes:
    if not content:
        raise PlatformUnreachable(f"an empty answer from {NOT_DPGATE}")
    return bytes(content)


def _unreachable(http: httpx.Client | httpx.AsyncClient, error: Exception) -> PlatformUnreachable:
    address = str(http.base_url).removesuffix("/").removesuffix("/api/v1")
    return PlatformUnreachable(
        f"no dpgate answers at {address} ({type(error).__name__}); check the address of your login, and "
        "whether the platform runs: `dpgate up` starts one on its own machine"
    )
