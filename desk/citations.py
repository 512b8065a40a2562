"""How to cite a release."""

from __future__ import annotations

from pydantic import BaseModel, Field

from desk.rights import needs
from domain.citation import citation
from domain.permissions import Permission, User
from store import datasets, jobs, releases
from store.database import Database


class CitationView(BaseModel):
    """Names the data set, the release and its guarantee."""

    text: str = Field(description="For a list of references")
    bibtex: str = Field(description="For a file of them")


@needs(Permission.RELEASE_READ)
def get_citation(database: Database, user: User, job_id: str) -> CitationView:
    with database.reading() as connection:
        job = jobs.get_visible(connection, job_id, user)
        dataset, release = datasets.of_job(connection, job), releases.read(connection, job)
    return CitationView(**vars(citation(dataset.declaration, release)))
