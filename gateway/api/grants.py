"""Routes of grants."""

from __future__ import annotations

from fastapi import APIRouter

from desk import grants
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import served

router = APIRouter(prefix=PREFIX, tags=["projects"], responses=RESPONSES)
GRANT = "/projects/{project}/grants/{dataset}"

router.get("/grants", summary="What projects ask of you, the longest waiting first")(served(grants.list_asks))
router.get(GRANT, summary="One grant: what was asked, what was decided, and the share of the budget")(
    served(grants.get_grant)
)
router.put(GRANT, summary="Ask for a data set, for a project that you lead")(served(grants.ask_for_grant))
router.delete(GRANT, summary="Take an ask back, or give a grant back")(served(grants.withdraw_grant))
router.post(f"{GRANT}/approval", summary="Grant what was asked for: a share of the budget until a day")(
    served(grants.give_grant)
)
router.post(f"{GRANT}/refusal", summary="Refuse what was asked for")(served(grants.refuse_grant))
router.post(f"{GRANT}/change", summary="Change the amounts or the last day of a grant")(
    served(grants.change_grant)
)
router.post(f"{GRANT}/end", summary="End a grant at once")(served(grants.end_grant))
