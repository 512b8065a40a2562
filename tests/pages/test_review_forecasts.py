"""The error to expect on the page of a review, for whichever mechanism the job asks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from factories import given_dataset, given_job
from serving import Console, words

from domain.job import Job, JobRequest
from domain.model import parse
from domain.rehearsal import Preview, QuietMean, RehearsalRequest, TwinRuns, UnitNoise
from store import datasets, rehearsals

CHOICES: dict[str, dict[str, Any]] = {
    "gaussian": {
        "name": "sample_aggregate",
        "epsilon": "0.5",
        "noise": "gaussian",
        "delta": "0.000001",
    },
    "pac": {"name": "pac", "nats": "0.25"},
    "repeats": {"name": "sample_aggregate", "epsilon": "0.5", "repeats": 3},
}


def rehearse(connection: sa.Connection, job: Job, now: datetime) -> None:
    """With the means and halves of the twin."""
    request = job.request
    assert isinstance(request, JobRequest)
    fields = {"dataset": request.dataset, "pipeline": request.pipeline.model_dump()}
    found, _ = rehearsals.request(
        connection,
        rehearsal_id="rehearsal-of-ada",
        author="ada",
        dataset=datasets.of_job(connection, job),
        request=parse(RehearsalRequest, fields),
        image_digest=job.image_digest or "",
        now=now,
    )
    claimed = rehearsals.claim(
        connection, found.id, now=now, due_at=now + timedelta(minutes=5), most_running=9
    )
    assert claimed is not None
    runs = TwinRuns(
        shape=request.shape,
        numbers=(58.5,),
        blocks=((58.0,), (59.0,)),
        half_samples=tuple((58.0 + number / 32,) for number in range(64)),
        seconds=0.2,
    )
    preview = Preview(
        means=(QuietMean(output=0, block_size=10, offsets=(-1.0, 0.0, 1.0)),),
        noise=UnitNoise(normal=(-1.0, 1.0)),
    )
    assert rehearsals.finish(connection, claimed, runs=runs, preview=preview, now=now)


def test_a_reviewer_sees_the_error_against_the_unit_of_the_mechanism(console: Console):
    now = datetime.now(UTC)
    with console.database.transaction() as connection:
        given_dataset(connection, name="hips", budget_delta="0.00001", budget_nats="0.5")
        made = {
            name: given_job(connection, job_id=f"job-of-{name}", dataset="hips", now=now, mechanism=mechanism)
            for name, mechanism in CHOICES.items()
        }
        rehearse(connection, made["pac"], now)
    with console.visit("holder") as holder:
        pages = {name: holder.get(f"/reviews/{job.id}") for name, job in made.items()}
    for name, unit in (("gaussian", "epsilon"), ("pac", "nats")):
        assert f"Expected error of mean_age against {unit}" in pages[name].text
        assert f"95 times in 100, against {unit}; the point is what the job asks" in words(pages[name])
    assert "budget left 9; at most 1 for one job." in pages["gaussian"].text
    assert "budget left 0.25." in pages["pac"].text, "of nats; the policy has no cap of them for one job"
    assert "Expected error of" not in pages["repeats"].text
    assert "no forecast with repeats, which a rehearsal does not replay" in words(pages["repeats"])
