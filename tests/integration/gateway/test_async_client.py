"""Both clients have the same methods, which ask the same of a real gateway and are answered alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from asking import Gateway, running_gateway
from factories import given_dataset, given_image, job_request_fields, policy_fields

import dpgate
from dpgate.calls import Asked, Followed, Part
from dpgate.client import AsyncClient, Client
from dpgate.credentials import Login
from dpgate.errors import DpgateError, NotFinished, RequestRefused

URL = "http://gateway"
# for arguments that have to be something to get as far as the gateway
SOME = {"dict": {}, "Policy": {}, "Amounts": {}, "Mapping": {}, "Sequence[bytes]": [b"a"], "int": 1}


class Through(httpx.BaseTransport):
    """From a client that waits to a gateway that is awaited elsewhere in the process."""

    def __init__(self, gateway: Gateway) -> None:
        self._portal, self._app = gateway.portal, httpx.ASGITransport(gateway.app)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def answered() -> httpx.Response:
            awaited = httpx.Request(
                request.method, request.url, headers=request.headers, content=request.read()
            )
            answer = await self._app.handle_async_request(awaited)
            return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())

        return self._portal.call(answered)


@pytest.fixture
def both(sqlite_url: str, redis_url: str) -> Iterator[tuple[Gateway, Client, AsyncClient]]:
    with running_gateway(sqlite_url, redis_url) as gateway:
        login = Login(URL, gateway.tokens["ada"])
        with Client(login, transport=Through(gateway)) as waiting:
            awaited = AsyncClient(login, transport=httpx.ASGITransport(gateway.app))
            yield gateway, waiting, awaited
            gateway.portal.call(awaited.close)


def methods(client: Any) -> dict[str, Callable[..., Any]]:
    """All that is asked through a client, by name: its own methods and those of its parts."""
    found = {
        name: getattr(client, name)
        for name, kind in inspect.getmembers(type(client))
        if isinstance(kind, Asked | Followed)
    }
    for name, part in vars(client).items():
        if isinstance(part, Part):
            found |= {f"{name}.{inner}": method for inner, method in methods(part).items()}
    return found


def unasked(part: Any) -> list[str]:
    """Public methods of a part that would be asked through neither client."""
    kinds = (Asked, Followed, property)
    return [
        name
        for name, kind in inspect.getmembers(type(part))
        if not name.startswith("_") and callable(kind) and not isinstance(kind, kinds)
    ]


def arguments(method: Callable[..., Any], folder: Path) -> dict[str, Any]:
    needed = {
        name: str(each.annotation)
        for name, each in inspect.signature(method).parameters.items()
        if each.default is each.empty and each.kind is not each.VAR_KEYWORD
    }
    return {
        name: folder
        if "Path" in kind
        else next((some for of, some in SOME.items() if kind.startswith(of)), "word")
        for name, kind in needed.items()
    }


def outcome(ask: Callable[[], Any]) -> Any:
    """What was answered, by its fields, or the refusal."""
    try:
        return shape(ask())
    except RequestRefused as refused:
        return refused.status, refused.kind, refused.title, refused.problems
    except DpgateError as error:
        return type(error), str(error)


def shape(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {name: shape(value) for name, value in answer.items()}
    return type(answer).__name__


def test_each_method_asks_the_same_through_both_clients(
    both: tuple[Gateway, Client, AsyncClient], tmp_path: Path, subtests: pytest.Subtests
) -> None:
    gateway, waiting, awaited = both
    ways, other_ways = methods(waiting), methods(awaited)
    assert ways.keys() == other_ways.keys()
    assert len(ways) > 100
    assert [unasked(part) for part in vars(waiting).values() if isinstance(part, Part)] == [[]] * 12
    assert unasked(waiting) == ["close"]
    reached = set()
    for name, method in ways.items():
        if name.endswith(".wait"):  # asks again and again: its own test
            continue
        given = arguments(method, tmp_path / "never")
        with subtests.test(msg=name):
            found = outcome(lambda method=method, given=given: method(**given))

            async def ask(name: str = name, given: dict[str, Any] = given) -> Any:
                return await other_ways[name](**given)

            assert outcome(lambda ask=ask: gateway.portal.call(ask)) == found
            reached.add(found[0] if isinstance(found, tuple) else 200)
    # answered, refused for what was sent, for who asks, and because there is no such thing
    assert {200, 403, 404, 422} <= reached


def test_a_job_is_submitted_followed_and_given_up_without_waiting_for_it(
    both: tuple[Gateway, Client, AsyncClient],
) -> None:
    gateway, waiting, awaited = both
    with gateway.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection, policy=policy_fields(data_users=["*"], approve_jobs=True))

    async def ask() -> tuple[list[str], list[str]]:
        job = await awaited.submit(job_request_fields())
        assert job.is_new
        with pytest.raises(NotFinished):
            await job.wait(timeout_s=0.05, poll_s=0.01)
        seen = []
        async for newer in job.follow(poll_s=0.01):
            seen.append(newer.state)
            if len(seen) == 2:
                assert (await newer.cancel()).state == "CANCELLED"
        return [job.id, (await job.refresh()).state, (await job.wait()).state], seen

    (job_id, *states), seen = gateway.portal.call(ask)
    assert (states, seen) == (["CANCELLED"] * 2, ["SUBMITTED"] * 2 + ["CANCELLED"])
    assert [job.state for job in waiting.job(job_id).follow()] == ["CANCELLED"]
    assert waiting.job(job_id).wait().raw == waiting.job(job_id).raw
    with pytest.raises(NotFinished):
        waiting.job(job_id).wait(timeout_s=0)


def test_both_are_opened_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPGATE_URL", URL)
    monkeypatch.setenv("DPGATE_TOKEN", "word")
    for connect in (dpgate.connect, dpgate.connect_async):
        connect()
        with pytest.raises(DpgateError, match="both url and token"):
            connect(url=URL)
        with pytest.raises(DpgateError, match="is no address"):
            connect(url="nowhere", token="word")
