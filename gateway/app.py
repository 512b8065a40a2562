"""The application: every router, middleware and error map in one place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI

from gateway import problems
from gateway.api import audit, datasets, images, jobs, platform, users
from gateway.config import GatewaySettings
from gateway.faults import Faults
from gateway.headers import SecurityHeaders
from gateway.limits import BodyLimit
from gateway.queue import Queue
from store.database import Database

DESCRIPTION = """
Run a pipeline on sensitive data; get back only what differential privacy allows.

**The route:** read a data set's declaration, develop on its twin, lock the output shape on the twin, submit a
job with an epsilon, wait until it is `RELEASED`, read the release. Log in with a bearer token.
Every error is `application/problem+json` and names the field and the fix.
"""
PREFIX = "/api/v1"


class Gateway(FastAPI):
    """FastAPI, with errors documented as what they are."""

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        for operation in (part for path in document["paths"].values() for part in path.values()):
            for response in operation["responses"].values():
                content = response.get("content", {})
                if problems.MEDIA_TYPE in content and "application/json" in content:
                    # FastAPI puts every model under the media type of the route's success
                    content[problems.MEDIA_TYPE] = content.pop("application/json")
        return document


def create_app(settings: GatewaySettings | None = None) -> FastAPI:
    """The gateway. Settings come from the environment unless given."""
    settings = settings or GatewaySettings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.database = Database(settings.database_url)
        app.state.queue = Queue(settings.broker_url)
        yield
        app.state.queue.close()
        app.state.database.close()

    app = Gateway(
        title="dpgate",
        version=version("dpgate"),
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would be built from the Host header
    )
    problems.install(app)
    # the one added last is the outermost
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(Faults)
    app.add_middleware(SecurityHeaders)
    for part in (platform, datasets, jobs, images, users, audit):
        app.include_router(part.router, prefix=PREFIX)
    return app
