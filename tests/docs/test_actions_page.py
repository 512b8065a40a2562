"""Is everything that a page does in the interface, a command and a method, as the page of actions says?"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from fenced import DOCS
from typer.main import get_command

from dpgate.cli.app import whole
from dpgate.client import Client
from dpgate.credentials import Login
from dpgate.errors import PlatformUnreachable
from gateway.app import PREFIX, create_app
from gateway.config import GatewaySettings

PAGE = (DOCS / "reference" / "actions.md").read_text(encoding="utf-8")
CELL = r" (`[^`]+`|not on a page) "
ACTION = re.compile(rf"^\|{CELL}\| `([A-Z]+ [^`]+)` \| `([^`]+)` \| `client\.([^`]+)` \|$", re.MULTILINE)
ALONE = re.compile(r"^\| `([^`]+)` \| [^`|]+.*\|$", re.MULTILINE)
# what decides which route a method asks, where it is not the first or a name
CHOSEN = {
    ("decide", "POST /jobs/{job_id}/decision"): {"decision": "approve"},
    ("reviews.vote", "POST /jobs/{job_id}/review"): {"decision": "release"},
    ("reviews.comment", "POST /jobs/{job_id}/review/comments"): {"of_release": True},
}
# writes that no page and no command stands for
NOT_OURS = {"POST /audit/csp", "POST /login/ended"}


@dataclass(frozen=True)
class Action:
    """One row of the page."""

    page: str
    route: str
    command: str
    method: str


ACTIONS = [Action(found[0].strip("`"), *found[1:]) for found in ACTION.findall(PAGE)]


def routes() -> Iterator[tuple[str, str]]:
    settings = GatewaySettings(database_url="sqlite://", broker_url="redis+socket:///none")
    for route in iter_route_contexts(create_app(settings).routes):
        for method in getattr(route, "methods", None) or ():
            yield method, re.sub(r":path\}", "}", route.path)


@pytest.fixture(scope="module")
def known() -> set[tuple[str, str]]:
    return set(routes())


def test_every_action_of_a_page_has_its_row(known: set[tuple[str, str]]) -> None:
    on_pages = {path for method, path in known if method == "POST" and not path.startswith(PREFIX)}
    alone = set(ALONE.findall(PAGE.partition("## Of a browser alone")[2]))
    listed = {action.page for action in ACTIONS} - {"not on a page"}
    assert on_pages == listed | alone
    assert not listed & alone


def test_every_write_of_the_interface_has_its_row(known: set[tuple[str, str]]) -> None:
    writes = {
        f"{method} {path.removeprefix(PREFIX)}"
        for method, path in known
        if method in ("POST", "PUT", "DELETE", "PATCH") and path.startswith(PREFIX)
    }
    assert writes - NOT_OURS == {action.route for action in ACTIONS}


def test_every_command_is_there() -> None:
    there = set(_commands(get_command(whole())))
    assert {action.command for action in ACTIONS} <= there


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.method} {action.route}")
def test_every_method_asks_its_route(action: Action) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(f"{request.method} {request.url.path.removeprefix(PREFIX)}")
        return httpx.Response(204)

    transport = httpx.MockTransport(answer)
    with Client(Login("https://dpgate.example.org", "token"), transport=transport) as client:
        method: Any = client
        for name in action.method.split("."):
            method = getattr(method, name)
        with pytest.raises(PlatformUnreachable):
            method(**(_arguments(method) | CHOSEN.get((action.method, action.route), {})))
    wanted = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(action.route))
    assert re.fullmatch(wanted, asked[0]), asked


def _arguments(method: Callable[..., Any]) -> dict[str, Any]:
    """Something for every argument that has no default."""
    needed = {
        name: parameter.annotation
        for name, parameter in inspect.signature(method).parameters.items()
        if parameter.default is parameter.empty
    }
    return {name: _some(str(kind)) for name, kind in needed.items()}


def _some(kind: str) -> Any:
    if kind.startswith(("dict", "Policy", "Amounts", "Mapping")):
        return {}
    if kind.startswith(("Iterable", "Sequence")):
        return [b"a"] if "bytes" in kind else ["a"]
    return 1 if kind == "int" else "word"


def _commands(found: Any, before: str = "") -> Iterator[str]:
    if not hasattr(found, "commands"):
        yield before
        return
    for name, inner in found.commands.items():
        yield from _commands(inner, f"{before} {name}".strip())
