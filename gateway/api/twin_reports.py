"""Routes of twin reports."""

from __future__ import annotations

from fastapi import APIRouter

from desk import twins
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import served

router = APIRouter(prefix=PREFIX + "/datasets/{name}/twin/report", tags=["twins"], responses=RESPONSES)

router.get("", summary="The public report about the twin")(served(twins.get_report))
router.put("", summary="Hand in the public report about the twin")(served(twins.put_report))
router.delete("", summary="Take the public report away")(served(twins.remove_report))
