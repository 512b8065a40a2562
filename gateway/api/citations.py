"""Routes of citations."""

from __future__ import annotations

from fastapi import APIRouter

from desk import citations
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, AnId
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/jobs", tags=["jobs"], responses=RESPONSES)

router.get("/{job_id}/citation", summary="How to cite the release")(
    served(citations.get_citation, job_id=AnId)
)
