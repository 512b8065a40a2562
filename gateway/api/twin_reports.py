"""Routes of twin reports."""

from __future__ import annotations

from fastapi import APIRouter

from desk import twin_reports
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import served

router = APIRouter(prefix=PREFIX + "/datasets/{name}/twin/report", tags=["twins"], responses=RESPONSES)

router.get("", summary="The public report about the twin")(served(twin_reports.get_report))
router.put("", summary="Hand in the public report about the twin")(served(twin_reports.put_report))
router.delete("", summary="Take the public report away")(served(twin_reports.remove_report))
