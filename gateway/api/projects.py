"""Routes of projects, their grants and entitlements."""

from __future__ import annotations

from fastapi import APIRouter

from desk import entitlements, grants, projects
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, OurId
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/projects", tags=["projects"], responses=RESPONSES)

router.post("", status_code=201, summary="Make a project, and lead it")(served(projects.make_project))
router.get("", summary="Your projects, or those that asked for your data sets")(
    served(projects.list_projects)
)
router.get("/{project}", summary="One project: members and grants")(served(projects.get_project))
router.get("/{project}/history", summary="What happened to a project and its grants, newest first")(
    served(projects.get_project_history)
)
router.put("/{project}/members/{member}", summary="Add a data user to a project that you lead")(
    served(projects.add_member)
)
router.delete("/{project}/members/{member}", summary="Remove a member, or leave a project")(
    served(projects.remove_member)
)
router.put("/{project}/lead", summary="Let another member lead")(served(projects.hand_over))
router.post("/{project}/closing", summary="Close a project that you lead, for good")(
    served(projects.close_project)
)

grant_routes = APIRouter(prefix=PREFIX, tags=["projects"], responses=RESPONSES)
GRANT = "/projects/{project}/grants/{dataset}"

grant_routes.get("/grants", summary="What projects ask of you, the longest waiting first")(
    served(grants.list_asks)
)
grant_routes.get(GRANT, summary="One grant: what was asked, what was decided, and the share of the budget")(
    served(grants.get_grant)
)
grant_routes.put(GRANT, summary="Ask for a data set, for a project that you lead")(
    served(grants.ask_for_grant)
)
grant_routes.delete(GRANT, summary="Take an ask back, or give a grant back")(served(grants.withdraw_grant))
grant_routes.post(f"{GRANT}/approval", summary="Grant what was asked for: a share of the budget until a day")(
    served(grants.give_grant)
)
grant_routes.post(f"{GRANT}/refusal", summary="Refuse what was asked for")(served(grants.refuse_grant))
grant_routes.post(f"{GRANT}/change", summary="Change the amounts or the last day of a grant")(
    served(grants.change_grant)
)
grant_routes.post(f"{GRANT}/end", summary="End a grant at once")(served(grants.end_grant))

leadless_routes = APIRouter(prefix=f"{PREFIX}/operation/projects", tags=["operation"], responses=RESPONSES)
leadless_routes.get("", summary="Projects whose lead was disabled")(served(projects.list_leadless))
leadless_routes.put("/{project}/lead", summary="Let a member lead a project whose lead was disabled")(
    served(projects.name_lead)
)

entitlement_routes = APIRouter(prefix=PREFIX, tags=["entitlements"], responses=RESPONSES)
entitlement_routes.get("/entitlements/roles", summary="Entitlements that give a role")(
    served(entitlements.list_roles)
)
entitlement_routes.post("/entitlements/roles", status_code=201, summary="Let an entitlement give a role")(
    served(entitlements.add_role)
)
entitlement_routes.delete("/entitlements/roles/{rule_id}", summary="An entitlement gives a role no longer")(
    served(entitlements.remove_role, rule_id=OurId)
)
entitlement_routes.get("/datasets/{name}/entitlements", summary="Entitlements to review your data set")(
    served(entitlements.list_reviewers)
)
entitlement_routes.post(
    "/datasets/{name}/entitlements", status_code=201, summary="Let an entitlement give reviews"
)(served(entitlements.add_reviewers))
entitlement_routes.delete(
    "/datasets/{name}/entitlements/{rule_id}", summary="An entitlement gives reviews no longer"
)(served(entitlements.remove_reviewers, rule_id=OurId))
entitlement_routes.get("/projects/{project}/entitlements", summary="Entitlements to places in a project")(
    served(entitlements.list_places)
)
entitlement_routes.post(
    "/projects/{project}/entitlements", status_code=201, summary="Let an entitlement give places"
)(served(entitlements.add_places))
entitlement_routes.delete(
    "/projects/{project}/entitlements/{rule_id}", summary="An entitlement gives places no longer"
)(served(entitlements.remove_places, rule_id=OurId))
