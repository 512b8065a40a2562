"""How to cite a release."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from domain.citation import citation
from domain.permissions import Permission, User
from gateway.access import TheDatabase, requires
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, AnId
from store import datasets, jobs, releases

router = APIRouter(prefix=f"{PREFIX}/jobs", tags=["jobs"], responses=RESPONSES)


class CitationView(BaseModel):
    """Names the data set, the release and its guarantee."""

    text: str = Field(description="For a list of references")
    bibtex: str = Field(description="For a file of them")


@router.get("/{job_id}/citation", summary="How to cite the release")
def get_citation(
    job_id: AnId, user: Annotated[User, Depends(requires(Permission.RELEASE_READ))], database: TheDatabase
) -> CitationView:
    with database.reading() as connection:
        job = jobs.get_visible(connection, job_id, user)
        dataset, release = datasets.of_job(connection, job), releases.read(connection, job)
    return CitationView(**vars(citation(dataset.declaration, release)))
