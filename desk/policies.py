"""Policies: the one in effect, those before it, another one, and what it would have decided."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from desk.rights import needs
from domain.admission import epsilon_of
from domain.dataset import Dataset
from domain.loss import format_epsilon
from domain.model import Model, Slug, Whole
from domain.permissions import Permission, User
from domain.policy import Policy, changes
from domain.simulation import Admission, Decision, Exit, Judged, Simulation, simulate
from store import datasets, past_jobs, policies
from store.database import Database

MAX_SIMULATED = 1000


MAX_REASON = 1000


def _printable(text: str) -> str:
    if not all(letter.isprintable() or letter in "\r\n" for letter in text):
        raise ValueError("has characters that cannot be shown; use ordinary ones")
    if not text.strip():
        raise ValueError("is empty; say why, so that people can follow it")
    return text.strip()


WhyText = Annotated[str, Field(min_length=1, max_length=MAX_REASON), AfterValidator(_printable)]


class PolicyView(BaseModel):
    """One policy of a data set. Who changed it and why is for its rights holder."""

    dataset: str
    number: int = Field(description="Counts from 1; the highest is in effect")
    at: datetime
    policy: Policy
    changed_by: str | None = None
    reason: str | None = None
    changed: list[str] | None = Field(None, description="The fields that differ from the policy before")

    @classmethod
    def of(
        cls, edition: policies.Edition, *, before: policies.Edition | None = None, private: bool = False
    ) -> PolicyView:
        shown = cls(dataset=edition.name, number=edition.number, at=edition.at, policy=edition.policy)
        if not private:
            return shown
        changed = sorted(changes(before.policy, edition.policy)) if before else []
        return shown.model_copy(
            update={"changed_by": edition.changed_by, "reason": edition.reason, "changed": changed}
        )


class PolicyChange(Model):
    """Another policy, made from the one with this number."""

    number: Annotated[Whole, Field(ge=1, description="Of the policy that this change was made from")]
    reason: WhyText
    policy: Policy


class Proposal(Model):
    """A policy that is tried out."""

    policy: Policy


class DecisionView(BaseModel):
    """What one policy says of one job."""

    admission: Admission
    exit: Exit | None = Field(description="None for a job that is refused")
    reasons: list[str]

    @classmethod
    def of(cls, decision: Decision) -> DecisionView:
        return cls(admission=decision.admission, exit=decision.exit, reasons=list(decision.reasons))


class JudgedView(BaseModel):
    """A job on record under two policies."""

    job: str
    author: str
    project: str | None
    title: str
    mechanism: str
    epsilon: str | None
    created_at: datetime
    then: DecisionView = Field(description="Under the policy that it was submitted under")
    now: DecisionView = Field(description="Under the proposed one")
    changes: bool
    why: list[str] = Field(description="The rules that make the difference")

    @classmethod
    def of(cls, judged: Judged) -> JudgedView:
        job, micro_epsilon = judged.job, epsilon_of(judged.job.request)
        return cls(
            job=job.id,
            author=job.author,
            project=job.project,
            title=job.request.title,
            mechanism=job.request.mechanism_name,
            epsilon=None if micro_epsilon is None else format_epsilon(micro_epsilon),
            created_at=job.created_at,
            then=DecisionView.of(judged.then),
            now=DecisionView.of(judged.now),
            changes=judged.changes,
            why=list(judged.why),
        )


class SimulationView(BaseModel):
    """What a policy would have decided. Nothing is stored, nothing changes."""

    total: int = Field(description="Jobs on record")
    simulated: int = Field(description=f"Of them the newest, at most {MAX_SIMULATED}")
    changed: int
    admissions_then: dict[Admission, int]
    admissions_now: dict[Admission, int]
    exits_then: dict[Exit, int]
    exits_now: dict[Exit, int]
    jobs: list[JudgedView] = Field(description="Newest first")

    @classmethod
    def of(cls, simulation: Simulation, *, total: int) -> SimulationView:
        return cls(
            total=total,
            simulated=len(simulation.jobs),
            changed=simulation.changed,
            admissions_then=simulation.admissions(now=False),
            admissions_now=simulation.admissions(now=True),
            exits_then=simulation.exits(now=False),
            exits_now=simulation.exits(now=True),
            jobs=[JudgedView.of(judged) for judged in reversed(simulation.jobs)],
        )


@needs(Permission.DATASET_READ)
def get_policy(database: Database, user: User, name: Slug) -> PolicyView:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        newest = policies.history(connection, name, limit=2)
    return PolicyView.of(newest[0], before=(*newest[1:], None)[0], private=user.name == dataset.owner)


@needs(Permission.POLICY_CHANGE)
def get_policy_history(database: Database, user: User, name: Slug) -> list[PolicyView]:
    own_dataset(database, user, name)
    with database.reading() as connection:
        editions = policies.history(connection, name)
    pairs = zip(editions, [*editions[1:], None], strict=True)
    return [PolicyView.of(edition, before=before, private=True) for edition, before in pairs]


@needs(Permission.POLICY_CHANGE)
def change_policy(database: Database, user: User, name: Slug, change: PolicyChange) -> PolicyView:
    """Jobs on their way keep the policy they were submitted under. 409 when another policy than number
    `number` is in effect by now."""
    dataset = own_dataset(database, user, name)
    with database.transaction() as connection:
        edition = policies.change(
            connection,
            dataset=dataset,
            policy=change.policy,
            expected=change.number,
            by=user.name,
            reason=change.reason,
            now=datetime.now(UTC),
        )
        before = policies.history(connection, name, limit=2)[1]
    return PolicyView.of(edition, before=before, private=True)


@needs(Permission.POLICY_CHANGE)
def simulate_policy(database: Database, user: User, name: Slug, proposal: Proposal) -> SimulationView:
    dataset = own_dataset(database, user, name)
    with database.reading() as connection:
        policies.check_fits(connection, dataset, proposal.policy)
        past = past_jobs.newest(connection, name, limit=MAX_SIMULATED)
        total = past_jobs.count(connection, name)
    return SimulationView.of(simulate(past, proposal.policy), total=total)


@needs(Permission.POLICY_CHANGE)
def own_dataset(database: Database, user: User, name: str) -> Dataset:
    """The newest version of a data set that this rights holder owns; NotFound for everybody else."""
    with database.reading() as connection:
        return datasets.owned(connection, name, user)
