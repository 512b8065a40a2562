"""Projects whose lead can no longer log in: an operator lets another of their members lead."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from desk.projects import NewLead
from domain.model import Slug
from domain.permissions import Permission, User
from gateway.access import TheDatabase, requires
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from store import leadless

router = APIRouter(prefix=f"{PREFIX}/operation/projects", tags=["operation"], responses=RESPONSES)


class LeadlessView(BaseModel):
    """A living project whose lead was disabled. What it is for stays with its members."""

    project: str
    lead: str = Field(description="Who led it and cannot log in any more")
    candidates: list[str] = Field(description="Members who can log in; empty where none is left")


class Led(BaseModel):
    """Who leads a project from now on."""

    project: str
    lead: str


@router.get("", summary="Projects whose lead was disabled")
def list_leadless(
    _user: Annotated[User, Depends(requires(Permission.OPERATION_READ))], database: TheDatabase
) -> list[LeadlessView]:
    with database.reading() as connection:
        found = leadless.leadless(connection, now=datetime.now(UTC))
    return [LeadlessView(**asdict(one)) for one in found]


@router.put("/{project}/lead", summary="Let a member lead a project whose lead was disabled")
def name_lead(
    project: Slug,
    new: NewLead,
    user: Annotated[User, Depends(requires(Permission.OPERATION_CHANGE))],
    database: TheDatabase,
) -> Led:
    """Members only: an operator opens no data set to anybody. 409 while the lead can log in."""
    with database.transaction() as connection:
        leadless.name_lead(connection, project, new.lead, by=user.name, now=datetime.now(UTC))
    return Led(project=project, lead=new.lead)
