"""Routes of notices."""

from __future__ import annotations

from fastapi import APIRouter

from desk import notices
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, OurId
from gateway.serving import served

router = APIRouter(prefix=PREFIX, tags=["notices"], responses=RESPONSES)

router.get("/notices", summary="What was sent to you, newest first")(served(notices.list_notices))
router.post("/notices/{notice_id}/retry", summary="Try one of yours again that was given up")(
    served(notices.retry_notice, notice_id=OurId)
)
router.get("/operation/notices", summary="How many notices wait, were sent, or were given up")(
    served(notices.notice_standing)
)
router.post("/operation/notices/retry", summary="Try notices again that were given up")(
    served(notices.retry_notices)
)
