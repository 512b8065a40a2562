"""Routes of endings."""

from __future__ import annotations

from fastapi import APIRouter

from desk import endings
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/datasets", tags=["data sets"], responses=RESPONSES)

router.get("/{name}/withdrawal", summary="Which jobs a withdrawal would end")(served(endings.get_open_jobs))
router.post("/{name}/withdrawal", summary="Withdraw a data set: it takes no new jobs")(
    served(endings.withdraw)
)
router.get("/{name}/erasure", summary="Whether a data set is erased")(served(endings.get_erasure))
router.post("/{name}/erasure", summary="Erase a data set: the key that seals it is destroyed")(
    served(endings.erase)
)
