"""Where a job is on its way, as pages show it: the words and stations of `domain.job_steps`."""

from __future__ import annotations

from desk.jobs import JobView
from domain import job_steps
from domain.job_steps import WORDS, Step

__all__ = ["WORDS", "charge_sentence", "steps"]


def steps(job: JobView, *, reviewed: bool) -> list[Step]:
    """The stations of this job; `reviewed` says whether its policy has releases looked at."""
    return job_steps.steps(job.state, **_facts(job), is_reviewed=reviewed)


def charge_sentence(job: JobView) -> str:
    """What its state means for the budget."""
    return job_steps.charge_sentence(job.state, **_facts(job))


def _facts(job: JobView) -> dict[str, bool]:
    return {"is_answered": job.answered_by is not None, "is_charged": job.charged_at is not None}
