"""Routes of leadless."""

from __future__ import annotations

from fastapi import APIRouter

from desk import projects
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/operation/projects", tags=["operation"], responses=RESPONSES)

router.get("", summary="Projects whose lead was disabled")(served(projects.list_leadless))
router.put("/{project}/lead", summary="Let a member lead a project whose lead was disabled")(
    served(projects.name_lead)
)
