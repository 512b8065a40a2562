"""What a terminal says of jobs: where they stand, why they wait, and when their releases come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from rich.console import Console

from dpgate.cli.output import amounts, out, plain
from dpgate.job import Job

CLOCKS_APART = timedelta(seconds=5)
"""Of this machine and the platform, by which no release is said to have missed its time."""


def print_job(job: Job, *, to: Console = out) -> None:
    to.print(
        f"Job [bold]{plain(job.id)}[/] on {plain(job.dataset)}: [bold]{plain(job.state)}[/]", soft_wrap=True
    )
    to.print(f"  {plain(job.mechanism)} ({plain(job.guarantee)}), {costs(job)}, {job.runs} runs")
    if service := job.raw.get("through"):
        to.print(f"  {plain(service)} submitted it in the name of {plain(job.raw['author'])}", soft_wrap=True)
    if job.answered_by:
        to.print(
            f"  the identical question: answered by the release of {plain(job.answered_by)}, no charge",
            soft_wrap=True,
        )
    if job.due_at and not job.is_finished:
        when = plain(job.due_at[:19].replace("T", " "))
        to.print(f"  the release: {_visible(job)} {when} UTC{_turns(job)}", soft_wrap=True)
    if job.reason:
        to.print(f"  {plain(job.reason)}")


def costs(job: Job) -> str:
    return "nothing charged" if job.is_free else amounts(job.cost)


def news(job: Job, now: datetime) -> str:
    """When the release comes, once that is known, that it did not come then, and that somebody has to decide
    on it; nothing before or after."""
    if job.state == "IN_REVIEW":
        return "Its release waits for a reviewer, and no time is set for that."
    if job.state not in ("RUNNING", "AGGREGATING") or job.due_at is None:
        return ""
    due = datetime.fromisoformat(job.due_at)
    if now <= due + CLOCKS_APART:
        return f"Its release is {_visible(job)} {due:%H:%M:%S} UTC."
    if job.turns_over is None:
        return f"Its release was planned before {due:%H:%M:%S} UTC and is late."
    return (
        f"Its release missed its time, {due:%H:%M:%S} UTC. It becomes visible some ticks later: a tick is a "
        "minute, unless the operator of the platform chose another. The delay may depend on the data."
    )


def public_progress(job: Job) -> tuple[float, float | None, str]:
    """Time passed and time in all, both from public values, and the state."""
    if not (job.due_at and job.raw.get("charged_at")):
        return 0, None, job.state
    charged, due = (datetime.fromisoformat(text) for text in (job.raw["charged_at"], job.due_at))
    passed = datetime.now(UTC) - charged
    return (
        passed.total_seconds(),
        (due - charged).total_seconds(),
        f"{job.state}{_turns(job, short=True)}, {_visible(job)} {due:%H:%M:%S} UTC",
    )


def _turns(job: Job, *, short: bool = False) -> str:
    """By the timetable: how far runs really are would be a word about the data."""
    if job.turns_over is None:
        return ""
    turns = f"{job.turns_over:,} of {job.raw['turns']:,} turns"
    return f", {turns}" if short else f"; about {turns} are over by the timetable"


def _visible(job: Job) -> str:
    """With coarse timing there is no timetable, and a release is seldom as late as planned."""
    return "visible at" if job.turns_over is not None else "planned before"


def ahead(job: Job, mine: Sequence[Job], now: datetime) -> str:
    """Of its author's own jobs alone: of others' nobody is told, since when one ends can depend on data."""
    before = [each for each in mine if each.id != job.id and each.raw["created_at"] < job.raw["created_at"]]
    until, dues = "", [(each.due_at, _visible(each)) for each in before if each.due_at]
    if dues:
        due_at, visible = max(dues)
        due = datetime.fromisoformat(due_at)
        when = f"{visible} {due:%H:%M} UTC" if now <= due + CLOCKS_APART else "late"
        until = f", of which the last that runs is {when}"
    some = "1 of your jobs is" if len(before) == 1 else f"{len(before)} of your jobs are"
    told = f"{some} ahead of it{until}. Its own time begins behind what is ahead, also of others' jobs."
    return told if before else ""


def reasons(found: Sequence[Job]) -> list[str]:
    """Why jobs of a list wait, or could not be run: each reason once, with the ids of its jobs."""
    of_reason: dict[str, list[str]] = {}
    for job in found:
        if job.reason:
            of_reason.setdefault(plain(job.reason), []).append(plain(job.id))
    return [f"{', '.join(ids)}: {reason}." for reason, ids in of_reason.items()]
