"""Routes of entitlements."""

from __future__ import annotations

from fastapi import APIRouter

from desk import entitlements
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, OurId
from gateway.serving import served

router = APIRouter(prefix=PREFIX, tags=["entitlements"], responses=RESPONSES)

router.get("/entitlements/roles", summary="Entitlements that give a role")(served(entitlements.list_roles))
router.post("/entitlements/roles", status_code=201, summary="Let an entitlement give a role")(
    served(entitlements.add_role)
)
router.delete("/entitlements/roles/{rule_id}", summary="An entitlement gives a role no longer")(
    served(entitlements.remove_role, rule_id=OurId)
)
router.get("/datasets/{name}/entitlements", summary="Entitlements to review your data set")(
    served(entitlements.list_reviewers)
)
router.post("/datasets/{name}/entitlements", status_code=201, summary="Let an entitlement give reviews")(
    served(entitlements.add_reviewers)
)
router.delete("/datasets/{name}/entitlements/{rule_id}", summary="An entitlement gives reviews no longer")(
    served(entitlements.remove_reviewers, rule_id=OurId)
)
router.get("/projects/{project}/entitlements", summary="Entitlements to places in a project")(
    served(entitlements.list_places)
)
router.post("/projects/{project}/entitlements", status_code=201, summary="Let an entitlement give places")(
    served(entitlements.add_places)
)
router.delete("/projects/{project}/entitlements/{rule_id}", summary="An entitlement gives places no longer")(
    served(entitlements.remove_places, rule_id=OurId)
)
