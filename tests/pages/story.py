"""A platform with a past, for pages to show: people, data sets, and jobs in every state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from certified import KEY, certified, given_release
from factories import (
    given_job,
    given_user,
    make_release,
    make_source,
    manifest_fields,
)
from told_data_sets import BREAKOUT, HOSTILE, SCRIPT, give_data_sets
from told_drafts import give_drafts
from told_entitlements import give_entitlements
from told_job_drafts import give_job_drafts
from told_notices import tell_notices
from told_profiles import give_profiles
from told_projects import give_projects
from told_releases import MODEL, give_many_values, give_model
from told_reviews import give_reviews
from told_workers import give_workers

from domain.channels import ChannelName, premise
from domain.job import Job, Reason
from domain.model import parse
from domain.permissions import Role
from domain.query import QueryRequest
from domain.release import Release, ReleasedValue
from domain.states import Actor, JobState
from domain.surroundings import Isolation
from privacy.loss import GuaranteeClass
from store import accounts, audit, datasets, images, jobs, releases
from worker.certificate import public_key_pem

PASSWORD = "correct horse battery staple"
PEOPLE = {
    "ada": Role.DATA_USER,
    "bob": Role.DATA_USER,
    "holder": Role.RIGHTS_HOLDER,
    "rival": Role.RIGHTS_HOLDER,
    "vera": Role.RIGHTS_HOLDER,
    "olga": Role.OPERATOR,
}
RELEASED, RUNNING, WAITING, IN_REVIEW = "job-released", "job-running1", "job-waiting1", "job-in-review"
HISTOGRAM, PAC, EMPIRICAL, ERRORED, REJECTED = (
    "job-histogram", "job-pac-0001", "job-empirical", "job-errored1", "job-rejected",
)  # fmt: skip
CODE = b'''"""Mean age and height, one line for each value."""
import csv

with open("/in/participants.tsv", newline="") as table:
    rows = list(csv.DictReader(table, delimiter="\\t"))
ages = [float(row["age"]) for row in rows]
heights = [float(row["height"]) for row in rows if row["height"] != "n/a"]
with open("/out/result.tsv", "w") as result:
    result.write("mean_age\\tmean_height\\n")
    result.write(f"{sum(ages) / len(ages)}\\t{sum(heights) / len(heights)}\\n")
'''


def tell(connection: sa.Connection) -> None:
    """Put the whole story into an empty database."""
    for name, role in PEOPLE.items():
        given_user(connection, name, role)
        accounts.set_password(connection, name, PASSWORD, datetime.now(UTC))
    now = datetime.now(UTC).replace(microsecond=0)
    give_data_sets(connection)
    give_job_drafts(connection)
    give_projects(connection)
    give_entitlements(connection)
    _jobs(connection, now)
    give_reviews(connection, now)
    _reports(connection, now)
    give_workers(connection, now)
    give_many_values(connection, now)
    give_model(connection, now, MODEL, JobState.RELEASED)
    give_drafts(connection, now, SCRIPT + BREAKOUT)
    give_profiles(connection, now)
    tell_notices(connection, now, released=RELEASED, waiting=WAITING)
    images.announce(
        connection, digest="sha256:" + "2b" * 32, name="r-base", description="R 4.5 with lme4", now=now
    )


def _reports(connection: sa.Connection, now: datetime) -> None:
    releases.publish_key(connection, public_key_pem(KEY))
    audit.append(
        connection, at=now, actor="worker", action="worker.start", subject="sha256:" + "1a" * 32,
        profile="standard", isolation={"namespaces": True, "seccomp": True, "cgroup": False},
    )  # fmt: skip
    audit.append(
        connection, at=now, actor="olga", action="doctor.report", subject="host", isolation="standard",
        features=14, absent=[], missing=[],
    )  # fmt: skip


def _jobs(connection: sa.Connection, now: datetime) -> None:
    two = {
        "pipeline": {
            "manifest": manifest_fields(
                name="age-and-height",
                outputs=[
                    {
                        "file": "result.tsv",
                        "values": [
                            {"name": "mean_age", "lower": 16, "upper": 90},
                            {"name": "mean_height", "lower": 1.2, "upper": 2.2},
                        ],
                    }
                ],
            ),
            "sources": [_source()],
        },
        "shape": {"files": [{"file": "result.tsv", "rows": [["mean_age", "mean_height"], [None, None]]}]},
    }
    day = timedelta(days=1)
    released = _run(connection, RELEASED, now - 9 * day, epsilon="1", **two)
    _release(connection, released, (_value("mean_age", 47.31, 3.9), _value("mean_height", 1.69, 0.052)))
    given_job(connection, job_id="job-cancelled", state=JobState.CANCELLED, now=now - 7 * day, epsilon="0.2")
    _histogram(connection, now - 6 * day)
    _weaker_classes(connection, now, two)
    given_job(connection, job_id=REJECTED, state=JobState.REJECTED, now=now - 3 * day, epsilon="0.9")
    errored = given_job(
        connection, job_id=ERRORED, state=JobState.PREPARING, now=now - 2 * day, epsilon="0.3"
    )
    assert jobs.move(
        connection, errored.id, JobState.PREPARING, JobState.ERRORED, actor=Actor.WORKER, now=now - 2 * day,
        reason=Reason.COMMAND_MISSING.name,
    )  # fmt: skip
    reviewed = _run(connection, IN_REVIEW, now - day, epsilon="0.25", **two)
    _release(connection, reviewed, (_value("mean_age", 51, 80), _value("mean_height", 1.6, 0.2)), review=True)
    given_job(connection, job_id=WAITING, now=now - timedelta(hours=5), epsilon="0.75", **two)
    due = now + timedelta(hours=6)  # told once: no job may become late while the tests go on
    _run(connection, RUNNING, now - timedelta(minutes=2), due_at=due, epsilon="0.125", **two)
    given_job(connection, job_id="job-hostile1", dataset=HOSTILE, author="bob", now=now)


def _weaker_classes(connection: sa.Connection, now: datetime, two: dict[str, Any]) -> None:
    """A release of PAC privacy, and one without a formal guarantee."""
    pac = _run(connection, PAC, now - timedelta(days=5), mechanism={"name": "pac", "nats": "0.03125"}, **two)
    _release(
        connection,
        pac,
        (_value("mean_age", 44.8, None), _value("mean_height", 1.71, None)),
        guarantee=GuaranteeClass.PAC,
        cost={"nats": "0.03125"},
    )
    empirical = {"name": "stability_calibrated", "noise_multiplier": 2.0}
    _release(
        connection,
        _run(connection, EMPIRICAL, now - timedelta(days=4), mechanism=empirical),
        (ReleasedValue(name="mean_age", value=46.2, grid_step=0.001),),
        guarantee=GuaranteeClass.EMPIRICAL,
        cost={"releases": "1"},
    )


def _run(
    connection: sa.Connection, job_id: str, at: datetime, *, due_at: datetime | None = None, **fields: Any
) -> Job:
    """A job that is running since `at`."""
    job = given_job(connection, job_id=job_id, state=JobState.PREPARING, now=at, **fields)
    later = at + timedelta(seconds=40)
    assert jobs.move(
        connection, job_id, JobState.PREPARING, JobState.RUNNING, actor=Actor.WORKER, now=later,
        charged_at=later, due_at=due_at or at + timedelta(minutes=10), slots=2,
    )  # fmt: skip
    return jobs.get(connection, job.id)


def _release(
    connection: sa.Connection,
    job: Job,
    values: tuple[ReleasedValue, ...],
    *,
    review: bool = False,
    **fields: Any,
) -> None:
    """Take a running job to its release, which waits for review or is out."""
    assert job.due_at is not None
    release = make_release(
        job_id=job.id, values=values, created_at=job.due_at, **{"cost": {"epsilon": "1"}, **fields}
    )
    if "files" not in fields:
        text = (
            "\t".join(value.name for value in values) + "\n" + "\t".join(str(v.value) for v in values) + "\n"
        )
        release = release.model_copy(update={"files": {"result.tsv": text}})
    given_release(connection, signed(release))
    way = [(JobState.AGGREGATING, Actor.WORKER), (JobState.IN_REVIEW, Actor.WORKER)]
    for after, actor in way if review else [*way, (JobState.RELEASED, Actor.POLICY)]:
        before = jobs.get(connection, job.id).state
        assert jobs.move(connection, job.id, before, after, actor=actor, now=job.due_at)


def signed(release: Release) -> Release:
    """With a certificate that says what its page shows."""
    open_channels: list[ChannelName] = ["lateness", "caches"]
    alone = Isolation.EXCLUSIVE
    is_pure = release.guarantee is GuaranteeClass.PURE_DP
    return certified(
        release,
        guarantee={"sentence": release.guarantee.sentence + " Here e^epsilon is at most 2.72." * is_pure},
        runs={
            "isolation": str(alone),
            "openChannels": open_channels,
            "sentence": f"{alone.sentence} {premise(open_channels)}",
        },
    )


def _histogram(connection: sa.Connection, at: datetime) -> None:
    fields = {
        "dataset": "heights",
        "query": {"kind": "histogram", "column": "age", "bins": 8,
                  "where": [{"column": "sex", "operator": "=", "value": "f"}]},
        "epsilon": "0.5",
    }  # fmt: skip
    request = parse(QueryRequest, fields)
    dataset = datasets.newest(connection, "heights", given_user(connection, "holder", Role.RIGHTS_HOLDER))
    jobs.submit(
        connection,
        job_id=HISTOGRAM,
        author="ada",
        dataset=dataset,
        request=request,
        image_digest=None,
        now=at,
    )
    for before, after, actor in (
        (JobState.SUBMITTED, JobState.QUEUED, Actor.RIGHTS_HOLDER),
        (JobState.QUEUED, JobState.PREPARING, Actor.WORKER),
    ):
        assert jobs.move(connection, HISTOGRAM, before, after, actor=actor, now=at)
    assert jobs.move(
        connection, HISTOGRAM, JobState.PREPARING, JobState.RUNNING, actor=Actor.WORKER, now=at,
        charged_at=at, due_at=at + timedelta(minutes=1),
    )  # fmt: skip
    names = request.outputs(dataset.declaration)
    counts = (21, 48, 67, 71, 55, 38, 12, -2)
    values = tuple(
        ReleasedValue(
            name=name, value=count, grid_step=1, noise_scale=2, lower_95=count - 6, upper_95=count + 6
        )
        for name, count in zip(names, counts, strict=True)
    )
    _release(connection, jobs.get(connection, HISTOGRAM), values, cost={"epsilon": "0.5"}, files={})


def _value(name: str, value: float, half: float | None) -> ReleasedValue:
    if half is None:
        return ReleasedValue(name=name, value=value, grid_step=0.001)
    return ReleasedValue(
        name=name, value=value, grid_step=0.001, noise_scale=half / 3, lower_95=value - half,
        upper_95=value + half, sampling_lower_95=value - 1.4 * half, sampling_upper_95=value + 1.3 * half,
    )  # fmt: skip


def _source() -> dict[str, Any]:
    return make_source(content=CODE).model_dump()
