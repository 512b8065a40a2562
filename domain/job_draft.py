"""A draft of a job: what a data user has put together so far, step by step. Nothing of it is submitted."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from domain.model import Model, Slug, Words
from domain.pipeline import MAX_SOURCES, Source

MAX_DRAFTS = 20
"""Of one user; the oldest gives way."""


class Step(StrEnum):
    """In this order; one may go back to any that was reached."""

    DATASET = "dataset"
    PIPELINE = "pipeline"
    REHEARSAL = "rehearsal"
    BOUNDS = "bounds"
    MECHANISM = "mechanism"
    CHECK = "check"

    @property
    def number(self) -> int:
        return list(Step).index(self) + 1


class DraftContent(Model):
    """`manifest` and `mechanism` are as a request has them, and may still be wrong: each step checks its own
    part. `origin` says in words where the files come from."""

    dataset: Slug
    project: Slug | None = None
    manifest: dict[str, Any] = Field(default_factory=dict)
    sources: Annotated[tuple[Source, ...], Field(max_length=MAX_SOURCES)] = ()
    origin: Words = ""
    rehearsal: Annotated[str, StringConstraints(max_length=64)] | None = None
    mechanism: dict[str, Any] = Field(default_factory=dict)

    @property
    def title(self) -> str:
        name = self.manifest.get("name")
        return name if isinstance(name, str) and name else "new pipeline"

    @property
    def pipeline(self) -> dict[str, Any]:
        """The body of a pipeline, as the API takes it."""
        return {
            "manifest": self.manifest,
            "sources": [source.model_dump(mode="json") for source in self.sources],
        }


class JobDraft(Model):
    """A draft on record; `id` is also the id of the job that it becomes."""

    id: str
    author: str
    content: DraftContent
    created_at: datetime
    updated_at: datetime
