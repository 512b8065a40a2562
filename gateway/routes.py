"""Addresses: what may stand in one, and the name of the route that a request took."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.types import Scope

PREFIX = "/api/v1"
UNKNOWN = "unknown"
# the ids that we make ourselves; PostgreSQL takes no NUL, so nothing else may reach it
OurId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


def route_of(scope: Scope) -> str:
    """The template, which holds nothing that somebody typed: `/api/v1/jobs/{job_id}`. It is known once the
    request was answered, and `unknown` where nothing fits."""
    route = scope.get("route")
    template = getattr(route, "path", None)
    if template is None:
        return UNKNOWN
    # a router that was included under a prefix does not know it
    within = scope["path"].startswith(f"{PREFIX}/") and not template.startswith(f"{PREFIX}/")
    return f"{PREFIX if within else ''}{template}"
