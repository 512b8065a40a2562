"""Gateways for tests, each with settings and a state of its own."""

from __future__ import annotations

from functools import cache

from fastapi import FastAPI
from starlette.routing import BaseRoute

from gateway.app import create_app
from gateway.config import GatewaySettings


def made_gateway(settings: GatewaySettings) -> FastAPI:
    """What `create_app` makes, with the routers of the process's first gateway in the places of its own.

    FastAPI builds the dependants and schemas of a router when a request first comes by it, per application:
    up to a second of each test. They follow from our code alone, not from settings, so all can share them.
    """
    app = create_app(settings)
    own, known = app.router.routes, _known_routes()
    assert list(map(_place, own)) == list(map(_place, known)), "these settings make other routes"
    app.router.routes[:] = [
        shared if _is_router(route) else route for route, shared in zip(own, known, strict=True)
    ]
    return app


@cache
def _known_routes() -> list[BaseRoute]:
    return create_app(GatewaySettings(database_url="sqlite://", broker_url="redis://")).router.routes


def _place(route: BaseRoute) -> object:
    return route.original_router if _is_router(route) else getattr(route, "path", None)  # type: ignore[attr-defined]


def _is_router(route: BaseRoute) -> bool:
    return hasattr(route, "original_router")
