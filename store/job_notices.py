"""What becomes of a job, as notices to its author and to those who decide.

A notice says no more than the job's page does, and no earlier: it is written in the transaction of the move
that the page shows. For a release that is the publishing transaction, which runs at the public time of a
padded job (or at a coarse one), whatever its runs did; with a review it is the transaction of a person's
decision. Sending adds a wait that depends on the outbox and on the other side alone, and `at` has whole
seconds, as somebody who reloads the page would find them.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.job import Job
from domain.notice import NoticeKind, service_named
from domain.states import Actor, JobState
from store import notices, reviewers
from store.database import insert_once
from store.ledger import Account, account_of
from store.notice_tables import low_accounts
from store.project_tables import project_members
from store.spoilt import readable
from store.tables import accounts, cohorts, datasets, jobs

LOW_PERCENT = 80
_TOLD = {
    JobState.RELEASED: NoticeKind.RELEASE_READY,
    JobState.ERRORED: NoticeKind.JOB_FAILED,
    JobState.WITHHELD: NoticeKind.JOB_DECIDED,
    JobState.REJECTED: NoticeKind.JOB_DECIDED,
    JobState.CANCELLED: NoticeKind.JOB_DECIDED,
}


def tell_of_move(
    connection: sa.Connection,
    job_id: str,
    after: JobState,
    *,
    actor: Actor,
    by: str | None,
    through: str | None,
    now: datetime,
) -> None:
    """The author learns of a decision and of the end, unless it is their own, and not what a service did in
    their name. Of a withdrawn data set they learn once, and not for each job."""
    if actor is Actor.WITHDRAWAL:
        return
    approved = after is JobState.QUEUED and actor is Actor.RIGHTS_HOLDER
    kind = NoticeKind.JOB_DECIDED if approved else _TOLD.get(after)
    if kind is None:
        return
    wanted = sa.select(jobs.c.author, jobs.c.through, datasets.c.name)
    query = wanted.join(datasets, jobs.c.dataset_id == datasets.c.id)
    row = connection.execute(query.where(jobs.c.id == job_id)).one()
    if actor is Actor.DATA_USER:
        by = None if through else row.author
    services = {"through": row.through, "canceller": through}
    named = {fact: service_named(service) for fact, service in services.items() if service is not None}
    notices.tell(
        connection, kind=kind, subject=job_id, to=[row.author], by=by, now=now, dataset=row.name, state=after,
        **named,
    )  # fmt: skip


def tell_reviewers(
    connection: sa.Connection, kind: NoticeKind, job: Job, dataset: Dataset, now: datetime
) -> None:
    """Those who may decide learn that a job or a release waits for them."""
    to = reviewers.of(connection, dataset.name)
    notices.tell(connection, kind=kind, subject=job.id, to=to, by=job.author, now=now, dataset=dataset.name)


def tell_of_low_budget(
    connection: sa.Connection, *, cohort: str, dataset: str, by: str | None, now: datetime
) -> None:
    """Once for each account, when so much of it is spent or set aside; called after each reservation. `by` is
    the person who made it, who is not told; None when a service did, in their name."""
    taken = accounts.c.spent + accounts.c.reserved
    low = sa.select(accounts).where(
        accounts.c.cohort == cohort,
        # four fifths, without a product that a database could not hold
        taken >= accounts.c.cap - accounts.c.cap // 5,
        accounts.c.id.not_in(sa.select(low_accounts.c.account_id)),
    )
    # somebody else's that cannot be read is not this job's: it covers the job or not, and is refused there
    for account in readable(account_of, connection.execute(low.order_by(accounts.c.id)).all()):
        if insert_once(connection, low_accounts, {"account_id": account.id, "at": now}):
            notices.tell(
                connection,
                kind=NoticeKind.BUDGET_LOW,
                subject=dataset,
                to=_whom(connection, account),
                by=by,
                now=now,
                dataset=dataset,
                currency=account.currency,
                percent=LOW_PERCENT,
                **({"project": account.holder} if account.kind == "project" else {}),
            )


def _whom(connection: sa.Connection, account: Account) -> set[str]:
    """The rights holder, and whoever's part of the budget it is."""
    owner = connection.execute(sa.select(cohorts.c.owner).where(cohorts.c.id == account.cohort)).scalar_one()
    if account.kind == "user":
        return {owner, account.holder}
    if account.kind == "cohort":
        return {owner}
    members = sa.select(project_members.c.member).where(project_members.c.project == account.holder)
    return {owner, *connection.execute(members).scalars()}
