"""Addresses: what may stand in one, and the name of the route that a request took."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, FastAPI, Path
from fastapi.routing import APIRoute
from pydantic import AfterValidator
from starlette.types import Scope

from domain.errors import InvalidRequest
from domain.image import check_digest
from domain.job import check_job_id
from domain.model import Slug
from domain.profile_request import check_profile_id
from domain.refusals.jobs import NO_JOB


def known_job_id(job_id: str) -> str:
    """Raises NotFound for what can be the id of no job: who asks for one has not chosen its id here."""
    try:
        return check_job_id(job_id)
    except InvalidRequest:
        raise NO_JOB() from None


PREFIX = "/api/v1"
UNKNOWN = "unknown"
# the ids that we make ourselves; PostgreSQL takes no NUL, so nothing else may reach it
OurId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
# of a job or rehearsal, as whoever submits it chooses
AnId = Annotated[str, AfterValidator(check_job_id), Path(description="8 to 64 letters, digits, - or _")]
# of one that is there, if any is: what has no such form is none
AJob = Annotated[str, AfterValidator(known_job_id), Path(description="As it was submitted")]
Digest = Annotated[str, AfterValidator(check_digest), Path(description="sha256: and 64 hex digits")]
WorkerName = Annotated[Slug, Path(description="As the list of workers has it")]
ProfileId = Annotated[
    str, AfterValidator(check_profile_id), Path(description="8 to 64 letters, digits, - or _")
]


def add_routes(app: FastAPI, router: APIRouter) -> None:
    """The routes as they are. `include_router` would build each a second time, per application: what it
    takes, gives and depends on, half a second in all at the first requests.

    Clients made from the OpenAPI document name an operation as its route, whatever its path becomes."""
    for route in router.routes:
        if isinstance(route, APIRoute):
            route.unique_id = route.name
    app.router.routes.extend(router.routes)


def route_of(scope: Scope) -> str:
    """The template, which holds nothing that somebody typed: `/api/v1/jobs/{job_id}`. It is known once the
    request was answered, and `unknown` where nothing fits."""
    template: str = getattr(scope.get("route"), "path", UNKNOWN)
    return template
