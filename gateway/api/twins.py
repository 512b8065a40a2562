"""Routes of twins and of reports on them."""

from __future__ import annotations

from fastapi import APIRouter

from desk import twins
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, AnId
from gateway.serving import put_once, served

router = APIRouter(prefix=PREFIX + "/datasets/{name}/twin", tags=["twins"], responses=RESPONSES)

router.get("/basis", summary="What the twin is drawn from, its level and what it promises")(
    served(twins.get_basis)
)
router.post("/plan", summary="What better twins would be worth, and what they would cost")(
    served(twins.plan_twin)
)
router.get("/counts", summary="The counts that were asked for of the newest version, newest first")(
    served(twins.list_counts)
)
put_once(
    router,
    "/counts/{job_id}",
    twins.make_counts,
    summary="Have counts made, under an id of your choice",
    job_id=AnId,
)
router.post("/counts/{job_id}/cancel", summary="Withdraw counts that are not released")(
    served(twins.cancel_counts, job_id=AnId)
)
router.post("/counts/{job_id}/decision", summary="Approve or refuse the twin that released counts give")(
    served(twins.decide_counts, job_id=AnId)
)

report_routes = APIRouter(prefix=PREFIX + "/datasets/{name}/twin/report", tags=["twins"], responses=RESPONSES)
report_routes.get("", summary="The public report about the twin")(served(twins.get_report))
report_routes.put("", summary="Hand in the public report about the twin")(served(twins.put_report))
report_routes.delete("", summary="Take the public report away")(served(twins.remove_report))
