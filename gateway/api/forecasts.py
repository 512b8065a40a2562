"""Routes of forecasts."""

from __future__ import annotations

from fastapi import APIRouter

from desk import forecasts
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, AnId
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/rehearsals", tags=["rehearsals"], responses=RESPONSES)

router.post("/{rehearsal_id}/forecast", summary="The error to expect at one choice of a mechanism")(
    served(forecasts.forecast, rehearsal_id=AnId)
)
