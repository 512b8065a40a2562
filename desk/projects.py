"""Projects: who works together for what. Only a grant gives them access to anything."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import partial

from pydantic import BaseModel, Field

from desk.grants import GrantView, Shares
from desk.rights import needs
from domain.loss import in_order
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.project import Grant, NewProject, Project, ProjectState, subject_of_grant, subject_of_project
from store import grants, history, leadless, projects
from store.database import Database
from store.history import Wanted
from store.spoilt import all_but_spoilt

MAX_EVENTS = 100


class ProjectView(BaseModel):
    """A project as this user may see it: members see every grant, a rights holder those of their own data."""

    name: str
    title: str
    purpose: str
    lead: str | None = Field(description="None where a rights holder made it by allotting to it")
    made_by: str
    made_at: datetime
    members: list[str]
    further_leads: list[str] = Field(description="Members who lead it too, by an entitlement")
    ends_on: date | None = Field(description="The last day, in UTC; none where a rights holder keeps it")
    state: ProjectState
    grants: list[GrantView]

    @classmethod
    def of(cls, project: Project, granted: list[Grant], shares: Shares, now: datetime) -> ProjectView:
        fields = project.model_dump(exclude={"is_closed", "members", "further_leads"})
        return cls(
            **fields,
            members=list(project.members),
            further_leads=list(project.further_leads),
            state=project.state(now),
            grants=[GrantView.of(grant, project, shares, now) for grant in granted],
        )


class ProjectEvent(BaseModel):
    """One step of a project or of a grant, as the audit trail has it."""

    at: datetime
    actor: str
    action: str
    dataset: str | None
    reason: str
    ends_on: str | None
    amounts: dict[str, str]
    added: list[str]
    removed: list[str]
    lead: str | None


class Members(BaseModel):
    """Who is left in a project."""

    project: str
    members: list[str]


class NewLead(Model):
    """Which member leads from now on."""

    lead: Slug


class LeadlessView(BaseModel):
    """A living project whose lead was disabled. What it is for stays with its members."""

    project: str
    lead: str = Field(description="Who led it and cannot log in any more")
    candidates: list[str] = Field(description="Members who can log in; empty where none is left")


class Led(BaseModel):
    """Who leads a project from now on."""

    project: str
    lead: str


@needs(Permission.PROJECT_LEAD)
def make_project(database: Database, user: User, new: NewProject) -> ProjectView:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        return ProjectView.of(projects.make(connection, new, lead=user.name, now=now), [], {}, now)


@needs(Permission.PROJECT_READ)
def list_projects(database: Database, user: User) -> list[ProjectView]:
    with database.reading() as connection:

        def view(project: Project) -> ProjectView:
            granted = grants.of_project(connection, project.name, user)
            return ProjectView.of(project, granted, grants.shares(connection, granted), datetime.now(UTC))

        return all_but_spoilt(partial(view, found) for found in projects.visible_to(connection, user))


@needs(Permission.PROJECT_READ)
def get_project(database: Database, user: User, project: Slug) -> ProjectView:
    with database.reading() as connection:
        found = projects.get_visible(connection, project, user)
        granted = grants.of_project(connection, project, user)
        return ProjectView.of(found, granted, grants.shares(connection, granted), datetime.now(UTC))


@needs(Permission.PROJECT_READ)
def get_project_history(database: Database, user: User, project: Slug) -> list[ProjectEvent]:
    with database.reading() as connection:
        projects.get_visible(connection, project, user)
        visible = grants.of_project(connection, project, user)
        subjects = {subject_of_project(project), *(subject_of_grant(grant.number) for grant in visible)}
        among = history.about(*subjects)
        found = history.events(connection, Wanted(), among=among, limit=MAX_EVENTS)
    return [_event(event) for event in found]


@needs(Permission.PROJECT_LEAD)
def add_member(database: Database, user: User, project: Slug, member: Slug) -> ProjectView:
    """They see at once whatever the project was granted."""
    with database.transaction() as connection:
        projects.add_member(connection, project, member, by=user, now=datetime.now(UTC))
    return get_project(database, user, project)


@needs(Permission.PROJECT_LEAD)
def remove_member(database: Database, user: User, project: Slug, member: Slug) -> Members:
    """Jobs that they submitted go on; nothing more is submitted by them for the project."""
    with database.transaction() as connection:
        left = projects.remove_member(connection, project, member, by=user, now=datetime.now(UTC))
    return Members(project=project, members=list(left.members))


@needs(Permission.PROJECT_LEAD)
def hand_over(database: Database, user: User, project: Slug, new: NewLead) -> ProjectView:
    with database.transaction() as connection:
        projects.hand_over(connection, project, new.lead, by=user, now=datetime.now(UTC))
    return get_project(database, user, project)


@needs(Permission.PROJECT_LEAD)
def close_project(database: Database, user: User, project: Slug) -> ProjectView:
    """Nothing can be submitted with it any more. What was submitted goes on; accounts stay as they are."""
    with database.transaction() as connection:
        projects.close(connection, project, by=user, now=datetime.now(UTC))
    return get_project(database, user, project)


@needs(Permission.OPERATION_READ)
def list_leadless(database: Database, _user: User) -> list[LeadlessView]:
    with database.reading() as connection:
        found = leadless.leadless(connection, now=datetime.now(UTC))
    return [LeadlessView(**asdict(one)) for one in found]


@needs(Permission.OPERATION_CHANGE)
def name_lead(database: Database, user: User, project: Slug, new: NewLead) -> Led:
    """Members only: an operator opens no data set to anybody. 409 while the lead can log in."""
    with database.transaction() as connection:
        leadless.name_lead(connection, project, new.lead, by=user.name, now=datetime.now(UTC))
    return Led(project=project, lead=new.lead)


def _event(event: history.Event) -> ProjectEvent:
    details = event.details
    return ProjectEvent(
        at=event.at,
        actor=event.actor,
        action=event.action,
        dataset=details.get("dataset"),
        reason=details.get("reason") or "",
        ends_on=details.get("ends_on"),
        amounts=in_order(details.get("amounts") or {}),
        added=details.get("added") or details.get("members") or [],
        removed=details.get("removed") or [],
        lead=details.get("lead"),
    )
