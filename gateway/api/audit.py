"""Routes of audit."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from desk import audit
from desk.audit import WantedEvents
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/audit", tags=["audit"], responses=RESPONSES)

router.get("/events", summary="Events, newest first")(
    served(audit.list_events, wanted=Annotated[WantedEvents, Query()])
)
router.get("/verification", summary="Walk the hash chain")(served(audit.verify_audit))
