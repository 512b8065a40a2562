"""Signed approvals in the worker zone, for data whose mandate names approvers.

A vote is a row of the platform. Where a rights holder wants a person before each job, and not a row, their
mandate names whose keys count; the worker charges when as many of these have signed as the policy asks for.
Counts of a twin are the rights holder's own wish, for which nobody votes: the key of the mandate signs them.
"""

from __future__ import annotations

from typing import Any

from domain.admission import needs_signature
from domain.approval import JobApproval, approval_in, request_digest
from domain.job import Job
from domain.mandate import Mandate, mandate_in
from store.envelopes import is_signed, key_id
from store.zone_ledger import Kind, Page


def accept(page: Page, envelope: dict[str, Any]) -> bool:
    """Whether it is on record from now on: one of a key that some mandate for this name has named, or that
    has signed one."""
    try:
        approval = approval_in(envelope)
    except (ValueError, KeyError, TypeError):
        return False
    of_name = [entry for entry in page.having(Kind.MANDATE) if entry.subject.split()[1] == approval.dataset]
    keys = {key for entry in of_name for key in mandate_in(entry.body).approvers.values()}
    holders = {entry.subject.split()[0] for entry in of_name}
    keys |= {
        entry.body["key"] for entry in page.having(Kind.ENROLLED) if key_id(entry.body["key"]) in holders
    }
    signer = next((key for key in sorted(keys) if is_signed(envelope, by=key)), None)
    if signer is None:
        return False
    page.add(Kind.APPROVAL, f"{key_id(signer)} {approval.digest}", envelope)
    return True


def are_given(page: Page, job: Job, mandate: Mandate, *, holder: str) -> bool:
    """Whether as many approvers have signed for this job as it is now, none of them its author; or, for
    counts of a twin, the key of the mandate, `holder`."""
    if not mandate.approvers or not needs_signature(job.request, mandate.policy):
        return True
    wanted = JobApproval(
        dataset=mandate.dataset,
        version=mandate.version,
        job=job.id,
        author=job.author,
        request=request_digest(job.request),
    )

    def has_signed(key: str) -> bool:
        return page.find(Kind.APPROVAL, f"{key_id(key)} {wanted.digest}") is not None

    others = {key for name, key in mandate.approvers.items() if name != job.author}
    if job.request.is_of_holder and has_signed(holder):
        return True
    return sum(map(has_signed, others)) >= mandate.policy.votes
