"""Routes of rehearsals."""

from __future__ import annotations

from fastapi import APIRouter

from desk import rehearsals
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, AnId
from gateway.serving import put_once, served

router = APIRouter(prefix=f"{PREFIX}/rehearsals", tags=["rehearsals"], responses=RESPONSES)

put_once(
    router,
    "/{rehearsal_id}",
    rehearsals.request_rehearsal,
    summary="Have a pipeline run on the twin, under an id of your choice",
    rehearsal_id=AnId,
)
router.get("", summary="Your rehearsals, newest first")(served(rehearsals.list_rehearsals))
router.get("/{rehearsal_id}", summary="One rehearsal, with what its runs gave")(
    served(rehearsals.get_rehearsal, rehearsal_id=AnId)
)
router.post("/{rehearsal_id}/forecast", summary="The error to expect at one choice of a mechanism")(
    served(rehearsals.forecast, rehearsal_id=AnId)
)
