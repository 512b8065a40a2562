"""A data set of the story whose decisions take two: its twin, a job and a release wait; people talk."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from factories import (
    given_dataset,
    given_job,
    job_request_fields,
    make_source,
    make_user,
    policy_fields,
    table_fields,
)

from domain.job import Job, JobRequest
from domain.model import parse
from domain.permissions import Role
from domain.rehearsal import OutputText, Preview, RehearsalRequest, Rung, TwinRuns
from domain.review import Stage, Thread
from domain.states import JobState
from store import comments, datasets, rehearsals, reviews

NAME = "memory"
HALF_DECIDED, TWO_IN_REVIEW = "job-half-decided", "job-two-in-review"
HIDDEN = "what vera thinks of it, which nobody reads yet"
CODE = b"""import csv

ages = [float(row["age"]) for row in csv.DictReader(open("/in/participants.tsv"), delimiter="\\t")]
with open("/out/result.tsv", "w") as result:
    result.write(f"mean_age\\n{sum(ages) / len(ages)}\\n")
"""
HOLDER, VERA = make_user("holder", Role.RIGHTS_HOLDER), make_user("vera", Role.RIGHTS_HOLDER)


def give_reviews(connection: sa.Connection, now: datetime) -> None:
    """`vera` has voted on the job; nobody on the release and the twin."""
    given_dataset(
        connection,
        name=NAME,
        title="Memory of people over sixty",
        nominal_size=400,
        tables=[table_fields()],
        public_files=[{"path": "README", "text": "Word lists were read aloud, three times.\n"}],
        policy=policy_fields(
            data_users=["bob"],
            approve_jobs=True,
            review_releases=True,
            reviewers=["vera"],
            votes=2,
            review_twin=True,
        ),
    )
    code = {"dataset": NAME, "author": "bob", **code_fields()}
    job = given_job(connection, job_id=HALF_DECIDED, now=now - timedelta(hours=30), epsilon="0.5", **code)
    _rehearse(connection, job, now - timedelta(hours=31))
    reviews.vote_on_job(
        connection,
        job_id=HALF_DECIDED,
        stage=Stage.APPROVAL,
        user=VERA,
        approves=False,
        reason=HIDDEN,
        now=now,
    )
    given_job(connection, job_id=TWO_IN_REVIEW, state=JobState.IN_REVIEW, now=now, epsilon="0.25", **code)
    for user, job_id, thread, text in (
        (VERA, HALF_DECIDED, Thread.JOB, "Why do the bounds end at 120?"),
        (
            make_user("bob"),
            HALF_DECIDED,
            Thread.JOB,
            "Nobody is older.\n\n<script>document.title='run'</script>",
        ),
        (HOLDER, TWO_IN_REVIEW, Thread.RELEASE, "The noise is wide, is it not?"),
    ):
        comments.add(connection, job_id=job_id, thread=thread, user=user, text=text, now=now)


def code_fields() -> dict[str, Any]:
    pipeline = job_request_fields()["pipeline"]
    return {"pipeline": {**pipeline, "sources": [make_source(content=CODE).model_dump()]}}


def _rehearse(connection: sa.Connection, job: Job, now: datetime) -> None:
    """What bob's own run on the twin gave."""
    request = job.request
    assert isinstance(request, JobRequest)
    dataset = datasets.of_job(connection, job)
    asked = parse(
        RehearsalRequest, {"dataset": NAME, "pipeline": request.pipeline.model_dump(), "block_size": 10}
    )
    found, _ = rehearsals.request(
        connection,
        rehearsal_id="rehearsal-of-bob",
        author="bob",
        dataset=dataset,
        request=asked,
        image_digest=job.image_digest or "",
        now=now,
    )
    due_at = now + timedelta(minutes=5)
    claimed = rehearsals.claim(connection, found.id, now=now, due_at=due_at, most_running=9)
    assert claimed is not None
    runs = TwinRuns(
        shape=request.shape,
        numbers=(58.5,),
        blocks=(*((58.0 + 3 * (number % 9 - 4),) for number in range(38)), None, None),
        seconds=0.2,
        outputs=(OutputText(path="result.tsv", size=14, text="mean_age\n58.5\n"),),
        said="read 400 rows\n",
    )
    rungs = tuple(
        Rung(output=0, block_size=10, aggregator=name, micro_epsilon=micro, typical=wide / micro,
             without_noise_95=1, within_95=1 + 3 * wide / micro, noise_95=3 * wide / micro)
        for name, wide in (("clipped_mean", 3e6), ("median", 1e6))
        for micro in (100_000, 250_000, 500_000, 1_000_000)
    )  # fmt: skip
    assert rehearsals.finish(connection, claimed, runs=runs, preview=Preview(rungs=rungs), now=now)
