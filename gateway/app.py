"""The application: every router, middleware and error map in one place."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.telemetry import TelemetryConfig

from domain.messages import key_of
from gateway import problems
from gateway.api import (
    audit,
    datasets,
    ended,
    images,
    jobs,
    notices,
    operation,
    platform,
    profiles,
    projects,
    providers,
    rehearsals,
    reviews,
    scrambles,
    tokens,
    twins,
    users,
)
from gateway.config import GatewaySettings, settings_of
from gateway.connections import LINE, allow_open_files
from gateway.faults import Faults
from gateway.headers import SecurityHeaders
from gateway.limits import BodyLimit
from gateway.login_line import LoginLine
from gateway.logs import Requests, write_json_lines
from gateway.notices.sender import Sender
from gateway.oidc.providers import Providers
from gateway.pages import console
from gateway.queue import Queue
from gateway.readiness import Looks
from gateway.routes import PREFIX, add_routes
from gateway.traces import Traces, tracer_to
from store.database import Database

DESCRIPTION = """
Run a pipeline on sensitive data; get back only what differential privacy allows.

**The route:** read a data set's declaration, develop on its twin, lock the output shape on the twin, submit a
job with an epsilon, wait until it is `RELEASED`, read the release. Log in with a bearer token.
Every error is `application/problem+json` and names the field and the fix.
"""


# the framework's own would export addresses, texts of errors and what was sent; ours is `traces`
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


_PIECE = 2**15


class Gateway(FastAPI):
    """FastAPI, with errors documented as what they are."""

    _document: bytes | None = None

    def setup(self) -> None:
        # strangers may ask for it: written anew for each, a few of them a second would keep everybody waiting
        async def openapi(_: Request) -> Response:
            self._document = self._document or json.dumps(self.openapi(), separators=(",", ":")).encode()
            return StreamingResponse(_pieces(self._document), media_type="application/json")

        self.add_route(str(self.openapi_url), openapi, include_in_schema=False)

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            # schemas of one name bear that of their module: as clients know it, whatever room it is in
            text = json.dumps(super().openapi()).replace("desk__", "gateway__api__")
            self.openapi_schema = json.loads(text)
        document = self.openapi_schema
        components = document["components"]
        components["schemas"] = dict(sorted((components["schemas"] | problems.schemas()).items()))
        return document


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    """Of whoever does not read on, one is kept, and not all of it."""
    for begin in range(0, len(content), _PIECE):
        yield content[begin : begin + _PIECE]


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    """What the application holds open while it serves."""
    settings: GatewaySettings = app.state.settings
    threads = int(current_default_thread_limiter().total_tokens)  # each serves one request
    app.state.database = Database(
        settings.database_url, pool_size=threads, certificate_key=settings.certificate_key
    )
    app.state.queue = Queue(settings.broker_url, key_of(settings.message_key))
    app.state.looks = Looks(
        app.state.database,
        app.state.queue,
        least_free_mib=settings.least_free_mib,
        logins=app.state.providers.word,
    )
    sender = Sender.of(settings, app.state.database)
    if sender is not None:
        sender.start()
    allow_open_files()
    yield {LINE: app.state.login_line}
    if sender is not None:
        sender.close()
    if app.state.tracer is not None:
        app.state.tracer.close()
    app.state.queue.close()
    app.state.providers.close()
    app.state.database.close()


def create_app(settings: GatewaySettings | None = None) -> FastAPI:
    """The gateway. Settings come from the environment unless given."""
    settings = settings or settings_of(os.environ)
    if settings.log_format == "json":
        write_json_lines()
    app = Gateway(
        title="dpgate",
        version=version("dpgate"),
        description=DESCRIPTION,
        lifespan=_running,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would be built from the Host header
        telemetry=NO_TELEMETRY,
    )
    app.state.settings = settings
    app.state.login_line = LoginLine()
    app.state.providers = Providers(settings.providers)
    app.state.tracer = tracer_to(settings.traces_endpoint)
    problems.install(app)
    console.install(app)
    # the one added last is the outermost
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(Faults)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Traces)
    app.add_middleware(Requests)
    for part in (
        platform.router,
        datasets.router,
        twins.router,
        twins.report_routes,
        scrambles.router,
        profiles.router,
        datasets.policy_routes,
        projects.entitlement_routes,
        projects.router,
        rehearsals.router,
        projects.grant_routes,
        jobs.router,
        reviews.router,
        images.router,
        users.router,
        tokens.router,
        ended.router,
        notices.router,
        notices.channel_routes,
        audit.router,
        operation.router,
        providers.router,
        projects.leadless_routes,
    ):
        add_routes(app, part)
    return app


__all__ = ["PREFIX", "Gateway", "create_app"]
