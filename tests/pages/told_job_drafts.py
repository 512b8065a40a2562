"""Drafts of jobs in the story: one is rehearsed and ready to be submitted, one is full of attacks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from factories import IMAGE, manifest_fields
from told_data_sets import BREAKOUT, SCRIPT

from domain.job_draft import DraftContent, JobDraft
from domain.model import parse
from domain.outputs import values_of
from domain.permissions import Role, User
from domain.pipeline import Pipeline, Source
from domain.rehearsal import OutputText, Preview, Rehearsal, RehearsalRequest, TwinRuns
from domain.shape import Shape
from store import datasets, job_drafts, rehearsals
from store.rehearsal_tables import job_drafts as draft_rows
from worker.rehearsal.ladder import preview

JOB_DRAFT = "00000000-0000-4000-8000-0000000000a1"
HOSTILE_JOB_DRAFT = "00000000-0000-4000-8000-0000000000a2"
MECHANISM = {"name": "sample_aggregate", "epsilon": "0.5", "block_size": 10}
SHAPE = {"files": [{"file": "result.tsv", "rows": [["mean_age", "mean_height"], [None, None]]}]}


def give_job_drafts(connection: sa.Connection) -> None:
    """After the data sets."""
    now = datetime.now(UTC)
    code = [Source.of("main.py", b"print('hello')\n").model_dump()]
    plain = _rehearsed(
        connection, "rehearsal-told", {"manifest": manifest(), "sources": code}, said="people: 600"
    )
    _draft(connection, JOB_DRAFT, plain, origin="main.py, uploaded", mechanism=MECHANISM, now=now)
    attack = {"manifest": manifest(command=["sh", "-c", SCRIPT + BREAKOUT]), "sources": [
        Source.of(f"a{BREAKOUT.replace('/', '')}.py", SCRIPT.encode()).model_dump(),
    ]}  # fmt: skip
    hostile = _rehearsed(connection, "rehearsal-hostile", attack, said=SCRIPT + BREAKOUT)
    _draft(connection, HOSTILE_JOB_DRAFT, hostile, origin=SCRIPT + BREAKOUT, mechanism=MECHANISM, now=now)


def manifest(**overrides: Any) -> dict[str, Any]:
    values = [
        {"name": "mean_age", "lower": 16, "upper": 90},
        {"name": "mean_height", "lower": 1.2, "upper": 2.2},
    ]
    return manifest_fields(
        **{"name": "age-and-height", "outputs": [{"file": "result.tsv", "values": values}], **overrides}
    )


def _rehearsed(connection: sa.Connection, name: str, body: dict[str, Any], *, said: str) -> Rehearsal:
    """As a worker leaves it."""
    now = datetime.now(UTC)
    dataset = datasets.newest(connection, "heights", User(name="ada", role=Role.DATA_USER))
    pipeline = parse(Pipeline, body)
    rehearsals.request(
        connection,
        rehearsal_id=name,
        author="ada",
        dataset=dataset,
        request=RehearsalRequest(dataset="heights", pipeline=pipeline),
        image_digest=IMAGE,
        now=now,
    )
    claimed = rehearsals.claim(connection, name, now=now, due_at=now, most_running=9)
    assert claimed is not None
    runs = _runs(said)
    found = preview(runs, values_of(pipeline.manifest, runs.shape), dataset=dataset, block_size=10)
    assert isinstance(found, Preview)
    assert rehearsals.finish(connection, claimed, runs=runs, preview=found, now=now)
    return rehearsals.get(connection, name)


def _runs(said: str) -> TwinRuns:
    """Sixty blocks and 64 halves whose numbers are spread as those of people would be; a block failed."""
    blocks = [(45.0 + (7 * number) % 18, 1.62 + 0.01 * ((5 * number) % 13)) for number in range(59)]
    return TwinRuns(
        shape=parse(Shape, SHAPE),
        numbers=(53.2, 1.685),
        blocks=(*blocks, None),
        half_samples=tuple((53.0 + 0.1 * (at % 5), 1.68 + 0.002 * (at % 6)) for at in range(64)),
        seconds=0.21,
        outputs=(OutputText(path="result.tsv", size=40, text=f"mean_age\tmean_height\n53.2\t{said}\n"),),
        said=said,
        failed_block_said=said,
    )


def _draft(
    connection: sa.Connection,
    draft_id: str,
    rehearsal: Rehearsal,
    *,
    origin: str,
    mechanism: dict[str, Any],
    now: datetime,
) -> JobDraft:
    pipeline = rehearsal.request.pipeline
    content = DraftContent(
        dataset="heights",
        manifest=pipeline.manifest.model_dump(mode="json"),
        sources=pipeline.sources,
        origin=origin,
        rehearsal=rehearsal.id,
        mechanism=mechanism,
    )
    made = job_drafts.create(connection, author="ada", content=content, now=now)
    # an id that tests can name
    connection.execute(sa.update(draft_rows).where(draft_rows.c.id == made.id).values(id=draft_id))
    return job_drafts.get_own(connection, draft_id, author="ada")
