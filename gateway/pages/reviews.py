"""Decisions of reviewers on jobs: what waits, what it would do, and a yes or no with a reason.

Nobody decides on their own job, and nobody reads another's vote before all are in. A reason for a release
that is withheld may say what the release says: it stays with the reviewers. A reason for a job that is
refused before it ran is shown to its author.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk.datasets import get_budget
from desk.jobs import JobView
from desk.reviews import Approval, Disclosure, decide_job, decide_release
from domain.channel_words import channels_of
from domain.errors import FieldProblem, InvalidRequest
from domain.permissions import Permission, User
from domain.review import WORDS, Stage, Thread, check_reason, is_open, stage_of
from gateway.access import TheDatabase, TheQueue
from gateway.pages import review_facts, steps
from gateway.pages.layout import page
from gateway.pages.release import release_facts
from gateway.pages.session import CheckedForm, page_requires
from gateway.routes import AnId
from store import (
    comments,
    datasets,
    grants,
    images,
    jobs,
    recognition,
    rehearsals,
    releases,
    reviewers,
    reviews,
    waiting,
)
from store.database import Database

router = APIRouter(include_in_schema=False)
Reviewer = Annotated[User, Depends(page_requires(Permission.JOB_DECIDE))]
JOB_STAGES = (Stage.APPROVAL, Stage.RELEASE)
MAX_DECIDED = 20
NO_DECISION = ("decision", "is missing.", "Choose one of the two.")


@router.get("/reviews")
def list_reviews(request: Request, user: Reviewer, database: TheDatabase) -> Response:
    """What waits for this reviewer, by kind, the longest first; and what they voted on lately."""
    with database.reading() as connection:
        found = waiting.of(connection, user)
        total = waiting.count(connection, user)
        asks = grants.waiting_asks(connection, user)
        decided = waiting.decided(connection, user, limit=MAX_DECIDED)
        people = recognition.people(connection, {each.author for each in found if each.author})
    own = [each for each in found if not each.has_voted]
    return page(
        request,
        "reviews.html",
        user=user,
        by_stage=[(stage, [each for each in own if each.stage is stage]) for stage in Stage],
        asks=asks,
        total=total,
        shown=len(own) + len(asks),
        for_others=[each for each in found if each.has_voted],
        decided=decided,
        people=people,
    )


@router.get("/reviews/{job_id}")
def show_review(request: Request, job_id: AnId, user: Reviewer, database: TheDatabase) -> Response:
    return review_page(request, job_id, user, database)


@router.post("/reviews/{job_id}")
def decide(
    request: Request, job_id: AnId, form: CheckedForm, user: Reviewer, database: TheDatabase, queue: TheQueue
) -> Response:
    """Approve or reject a job, release or withhold its release. What was typed is kept on refusal."""
    try:
        stage, word, reason = parsed(form, JOB_STAGES)
    except InvalidRequest as error:
        return review_page(request, job_id, user, database, typed=form, problems=error.problems)
    if stage is Stage.APPROVAL:
        decide_job(database, user, job_id, Approval(decision=word, reason=reason), queue)
    else:
        decide_release(database, user, job_id, Disclosure(decision=word, reason=reason))
    return RedirectResponse("/reviews", status_code=303)


def parsed(form: FormData, stages: tuple[Stage, ...]) -> tuple[Stage, str, str]:
    """Stage, word and reason of a form about one of these stages. Raises InvalidRequest."""
    word = str(form.get("decision", ""))
    stage = next((stage for stage in stages if word in WORDS[stage]), None)
    if stage is None:
        raise InvalidRequest(*NO_DECISION)
    reason = check_reason(str(form.get("reason", "")), needed=word == WORDS[stage][1])
    return stage, word, reason


def review_page(
    request: Request,
    job_id: str,
    user: User,
    database: Database,
    *,
    typed: FormData | None = None,
    problems: tuple[FieldProblem, ...] = (),
) -> Response:
    """Everything that a reviewer needs for a decision about a job. `typed` comes back with its `problems`."""
    with database.reading() as connection:
        job = jobs.get_visible(connection, job_id, user)
        dataset = datasets.of_job(connection, job)
        stage = stage_of(job.state)
        release = releases.read_for_review(connection, job) if stage is Stage.RELEASE else None
        image = images.get(connection, job.image_digest) if job.image_digest else None
        rehearsed = rehearsals.of_pipeline(
            connection, author=job.author, dataset_id=dataset.id,
            pipeline_digest=job.request.pipeline_digest or "",
        )  # fmt: skip
        read = {
            "tally": reviews.of_job(connection, job, stage) if stage else None,
            "ended": reviews.ended(connection, job),
            "has_voted": stage and reviews.has_voted(connection, user, subject=job.id, stage=stage),
            "people": recognition.people(connection, {job.author}),
            "reviewers": sorted(reviewers.of(connection, dataset.name)),
            "earlier": reviews.of_same_pipeline(connection, job, user),
            "talk": {
                thread: comments.listed(connection, job_id=job_id, thread=thread, user=user)
                for thread in Thread
            },
        }
    budget = get_budget(database, user, dataset.name)
    return page(
        request,
        "review.html",
        user=user,
        status=422 if problems else 200,
        job=JobView.of(job, dataset, user),
        dataset=dataset,
        isolation=dataset.declaration.policy.isolation.sentence,
        channels=channels_of(dataset.declaration.policy.all_accepted_channels),
        stage=stage,
        states=steps.WORDS,
        image_digest=job.image_digest,
        image=review_facts.image(image) if image else None,
        facts=release_facts(job.request, release) if release else None,
        is_open={thread: is_open(thread, job.state) for thread in Thread},
        prices=review_facts.prices(job, dataset, budget),
        rehearsal=review_facts.rehearsal(rehearsed, job, dataset, budget),
        typed={name: str(value) for name, value in typed.items()} if typed else {},
        problems=problems,
        **review_facts.asked(job, dataset),
        **read,
    )
