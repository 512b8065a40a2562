"""What another policy would have decided on the jobs of a data set that are on record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from domain.admission import check_policy, check_project, epsilon_of, why_approval, why_review
from domain.dataset import Dataset
from domain.errors import NotAllowed, RequestError
from domain.job import Job
from domain.policy import Policy
from domain.states import JobState

EVERYBODY = "*"
_GIVEN_BACK = (JobState.REJECTED, JobState.CANCELLED, JobState.ERRORED)


class Admission(StrEnum):
    """What a policy does with a request."""

    RUNS = "runs at once"
    WAITS = "waits for approval"
    REFUSED = "refused"


class Exit(StrEnum):
    """What a policy does with the release of an admitted job."""

    BY_ITSELF = "released by itself"
    REVIEWED = "reviewed first"


@dataclass(frozen=True)
class Decision:
    """What one policy says of one job; `exit` is None for a job that is refused. `reasons` are sentences."""

    admission: Admission
    exit: Exit | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """A job on record, as its own policy treats it and as the other one would have."""

    job: Job
    then: Decision
    now: Decision

    @property
    def changes(self) -> bool:
        return (self.then.admission, self.then.exit) != (self.now.admission, self.now.exit)

    @property
    def why(self) -> tuple[str, ...]:
        """The rules that make the difference, as sentences: those that came, then those that went."""
        if not self.changes:
            return ()
        came = tuple(reason for reason in self.now.reasons if reason not in self.then.reasons)
        if self.now.admission is Admission.REFUSED:
            return came
        went = (reason for reason in self.then.reasons if reason not in self.now.reasons)
        return (*came, *(f"No longer: {reason}" for reason in went))


@dataclass(frozen=True)
class Simulation:
    """All jobs that were looked at, oldest first."""

    jobs: tuple[Judged, ...]

    @property
    def changed(self) -> int:
        return sum(judged.changes for judged in self.jobs)

    def admissions(self, *, now: bool) -> dict[Admission, int]:
        """How many jobs each way in has, under their own policies or under the other one."""
        counts = Counter((judged.now if now else judged.then).admission for judged in self.jobs)
        return {admission: counts[admission] for admission in Admission}

    def exits(self, *, now: bool) -> dict[Exit, int]:
        """The same for the ways out, of the jobs that are admitted."""
        counts = Counter((judged.now if now else judged.then).exit for judged in self.jobs)
        return {way: counts[way] for way in Exit}


def simulate(past: Iterable[tuple[Job, Dataset]], policy: Policy) -> Simulation:
    """Judge jobs in the order of their submission. Each comes with its data set under the policy that the job
    keeps; that policy admitted it, so only approval and review are asked of it again.

    The limit for a project counts the jobs given here, without those whose budget came back.
    """
    taken: Counter[str] = Counter()
    judged = []
    for job, dataset in sorted(past, key=lambda pair: pair[0].created_at):
        if job.request.is_of_holder:
            continue  # no rule of a policy is about it
        then = _admitted(job, dataset.declaration.policy)
        other = _under(dataset, policy)
        judged.append(Judged(job, then, _decide(job, other, taken)))
        if job.project is not None and _counts(judged[-1]):
            taken[job.project] += epsilon_of(job.request) or 0
    return Simulation(tuple(judged))


def _decide(job: Job, dataset: Dataset, taken: Counter[str]) -> Decision:
    policy = dataset.declaration.policy
    try:
        _check_named(job, dataset)
        check_policy(job.request, dataset)
        micro_epsilon = epsilon_of(job.request)
        if job.project is not None and job.answered_by is None and micro_epsilon is not None:
            check_project(dataset, project=job.project, micro_epsilon=taken[job.project] + micro_epsilon)
    except RequestError as error:
        return Decision(Admission.REFUSED, None, (error.sentence,))
    return _admitted(job, policy)


def _admitted(job: Job, policy: Policy) -> Decision:
    if job.answered_by is not None:
        # a release that is out answers it at once
        return Decision(Admission.RUNS, Exit.BY_ITSELF, ())
    approval, review = why_approval(job.request, policy), why_review(job.request, policy)
    return Decision(
        Admission.WAITS if approval else Admission.RUNS,
        Exit.REVIEWED if review else Exit.BY_ITSELF,
        tuple(dict.fromkeys(reason for reason in (approval, review) if reason)),
    )


def _check_named(job: Job, dataset: Dataset) -> None:
    """A job of a project is let in by the project's grant, which no policy changes."""
    named = dataset.declaration.policy.data_users
    if job.project is None and job.author not in named and EVERYBODY not in named:
        raise NotAllowed("data_users", f"{job.author} is not among the data users.")


def _counts(judged: Judged) -> bool:
    """Whether the job would have kept what it takes of its project's limit."""
    job = judged.job
    admitted = judged.now.admission is not Admission.REFUSED
    stands = job.charged_at is not None or job.state not in _GIVEN_BACK
    return admitted and job.answered_by is None and stands


def _under(dataset: Dataset, policy: Policy) -> Dataset:
    declaration = dataset.declaration.model_copy(update={"policy": policy})
    return dataset.model_copy(update={"declaration": declaration})
