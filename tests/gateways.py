"""What can be read off the gateway without asking it: its routes and its document, made once per process.

Nothing of it is made at import: whoever only collects tests would pay for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from domain.permissions import Permission
from gateway.app import PREFIX, create_app
from gateway.config import GatewaySettings


@cache
def _any_gateway() -> FastAPI:
    """Nothing serves it: no setting bears on what is read off it."""
    return create_app(GatewaySettings(database_url="sqlite://", broker_url="redis+socket:///none"))


DOCUMENT = f"{PREFIX}/openapi.json"


@cache
def all_routes() -> tuple[APIRoute, ...]:
    """Of the interface and of the console."""
    return routes_of(_any_gateway())


def routes_of(app: FastAPI) -> tuple[APIRoute, ...]:
    """The document of the interface alone is the framework's own. Anything else that answers, such as a
    mount, a socket or a bare route, would state no right and be asked by no test that walks the routes."""
    found = tuple(route for route in app.routes if isinstance(route, APIRoute))
    others = [getattr(route, "path", repr(route)) for route in app.routes if route not in found]
    assert others == [DOCUMENT], others
    return found


def permissions(dependant: Dependant) -> Iterator[Permission]:
    """What a route asks of whoever calls it."""
    for inner in dependant.dependencies:
        if stated := getattr(inner.call, "permission", None):
            yield stated
        yield from permissions(inner)


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, which takes a second."""
    return _any_gateway().openapi()
