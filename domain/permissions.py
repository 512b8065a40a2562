"""Who may do what: one table from role to permission, then the rules that need the object.

Default deny: a permission that no row names belongs to nobody, a route without a permission does not start.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from domain.model import Model, Slug
from domain.refusals import rights


class Role(StrEnum):
    DATA_USER = "data_user"
    RIGHTS_HOLDER = "rights_holder"
    OPERATOR = "operator"


class Permission(StrEnum):
    SELF_READ = "self.read"
    DATASET_READ = "dataset.read"
    DATASET_REGISTER = "dataset.register"
    DATASET_END = "dataset.end"
    POLICY_CHANGE = "policy.change"
    BUDGET_READ = "budget.read"
    BUDGET_ALLOT = "budget.allot"
    PROJECT_READ = "project.read"
    PROJECT_LEAD = "project.lead"
    GRANT_DECIDE = "grant.decide"
    JOB_SUBMIT = "job.submit"
    JOB_READ = "job.read"
    JOB_CANCEL = "job.cancel"
    JOB_DECIDE = "job.decide"
    RELEASE_READ = "release.read"
    RELEASE_DECIDE = "release.decide"
    TWIN_MAKE = "twin.make"
    TWIN_DECIDE = "twin.decide"
    TWIN_WITHDRAW = "twin.withdraw"
    TWIN_TAKE = "twin.take"
    JOB_COMMENT = "job.comment"
    IMAGE_READ = "image.read"
    IMAGE_APPROVE = "image.approve"
    USER_ADD = "user.add"
    USER_READ = "user.read"
    USER_DISABLE = "user.disable"
    TOKENS_OWN = "tokens.own"
    NOTICES_READ = "notices.read"
    CHANNELS_OWN = "channels.own"
    AUDIT_VERIFY = "audit.verify"
    OPERATION_READ = "operation.read"
    OPERATION_CHANGE = "operation.change"
    METRICS_READ = "metrics.read"


P, R = Permission, Role

GRANTS: dict[Permission, frozenset[Role]] = {
    P.SELF_READ: frozenset(R),
    P.DATASET_READ: frozenset({R.DATA_USER, R.RIGHTS_HOLDER}),
    P.DATASET_REGISTER: frozenset({R.RIGHTS_HOLDER}),
    P.DATASET_END: frozenset({R.RIGHTS_HOLDER}),
    P.POLICY_CHANGE: frozenset({R.RIGHTS_HOLDER}),
    P.BUDGET_READ: frozenset({R.DATA_USER, R.RIGHTS_HOLDER}),
    P.BUDGET_ALLOT: frozenset({R.RIGHTS_HOLDER}),
    P.PROJECT_READ: frozenset({R.DATA_USER, R.RIGHTS_HOLDER}),
    P.PROJECT_LEAD: frozenset({R.DATA_USER}),
    P.GRANT_DECIDE: frozenset({R.RIGHTS_HOLDER}),
    P.JOB_SUBMIT: frozenset({R.DATA_USER}),
    P.JOB_READ: frozenset({R.DATA_USER, R.RIGHTS_HOLDER, R.OPERATOR}),
    P.JOB_CANCEL: frozenset({R.DATA_USER, R.OPERATOR}),
    P.JOB_DECIDE: frozenset({R.RIGHTS_HOLDER}),
    P.RELEASE_READ: frozenset({R.DATA_USER, R.RIGHTS_HOLDER}),
    P.RELEASE_DECIDE: frozenset({R.RIGHTS_HOLDER}),
    P.TWIN_MAKE: frozenset({R.RIGHTS_HOLDER}),
    P.TWIN_DECIDE: frozenset({R.RIGHTS_HOLDER}),
    P.TWIN_WITHDRAW: frozenset({R.RIGHTS_HOLDER}),
    P.TWIN_TAKE: frozenset({R.DATA_USER, R.RIGHTS_HOLDER}),
    P.JOB_COMMENT: frozenset({R.DATA_USER, R.RIGHTS_HOLDER}),
    P.IMAGE_READ: frozenset(R),
    P.IMAGE_APPROVE: frozenset({R.OPERATOR}),
    P.USER_ADD: frozenset({R.OPERATOR}),
    P.USER_READ: frozenset({R.OPERATOR}),
    P.USER_DISABLE: frozenset({R.OPERATOR}),
    P.TOKENS_OWN: frozenset(R),
    P.NOTICES_READ: frozenset(R),
    P.CHANNELS_OWN: frozenset(R),
    P.AUDIT_VERIFY: frozenset({R.RIGHTS_HOLDER, R.OPERATOR}),
    P.OPERATION_READ: frozenset({R.OPERATOR}),
    P.OPERATION_CHANGE: frozenset({R.OPERATOR}),
    P.METRICS_READ: frozenset({R.OPERATOR}),
}

# what each lets somebody do, in words: in refusals and on the pages
DEEDS: dict[Permission, str] = {
    P.SELF_READ: "see who you are, and the key that certificates are signed with",
    P.DATASET_READ: "see data sets and fetch twins",
    P.DATASET_REGISTER: "register a data set or a new version",
    P.DATASET_END: "withdraw a data set of one's own, have it erased",
    P.POLICY_CHANGE: "change a data set's policy, see its history, simulate another one",
    P.BUDGET_READ: "see what is left of a budget",
    P.BUDGET_ALLOT: "allot a part of the budget to a project or user",
    P.PROJECT_READ: "see one's projects; for a rights holder those that asked for their data sets",
    P.PROJECT_LEAD: "make a project, change its members, ask for data sets, leave",
    P.GRANT_DECIDE: "grant a project a data set, refuse, change or end it",
    P.JOB_SUBMIT: "submit a job",
    P.JOB_READ: "see jobs and their states",
    P.JOB_CANCEL: "withdraw a job",
    P.JOB_DECIDE: "approve or reject a job before it runs",
    P.RELEASE_READ: "read a release",
    P.RELEASE_DECIDE: "read a release in review; release or withhold it",
    P.TWIN_MAKE: "plan better twins of an own data set, have their counts made, withdraw them",
    P.TWIN_DECIDE: "approve or refuse a twin before researchers may fetch it",
    P.TWIN_WITHDRAW: "withdraw a scrambled twin at once",
    P.TWIN_TAKE: "agree to the terms of a scrambled twin and download it",
    P.JOB_COMMENT: "read and write comments on a job",
    P.IMAGE_READ: "list images",
    P.IMAGE_APPROVE: "approve an image by digest, withdraw the approval, retire the image",
    P.USER_ADD: "add users",
    P.USER_READ: "list users",
    P.USER_DISABLE: "end every session and token of a user",
    P.TOKENS_OWN: "make, list and revoke tokens of one's own",
    P.NOTICES_READ: "see one's own notices and where they go",
    P.CHANNELS_OWN: "set one's own e-mail address and webhooks, and what is told",
    P.AUDIT_VERIFY: "walk the audit trail's hash chain",
    P.OPERATION_READ: "see workers, storage, what is stuck, and Prometheus metrics",
    P.METRICS_READ: "read the metrics of the platform",
    P.OPERATION_CHANGE: "drain workers, have stuck things taken up again, begin and end maintenance",
}

# in a word, for people; programs go by the role itself
ROLE_NAMES: dict[Role, str] = {
    R.DATA_USER: "researcher",
    R.RIGHTS_HOLDER: "rights holder",
    R.OPERATOR: "operator",
}

# what people with a role are called: one of them, and several
ROLE_WORDS: dict[Role, tuple[str, str]] = {
    R.DATA_USER: ("a researcher", "researchers"),
    R.RIGHTS_HOLDER: ("a rights holder", "rights holders"),
    R.OPERATOR: ("an operator", "operators"),
}


class User(Model):
    """A person or service that holds a token. A user has exactly one role: two hats are two users."""

    name: Slug
    role: Role
    # the client of the service that acts for them in this request
    through: Annotated[str | None, Field(exclude_if=lambda value: value is None)] = None


def is_allowed(user: User, permission: Permission) -> bool:
    return user.role in GRANTS.get(permission, frozenset())


def check_allowed(user: User, permission: Permission) -> None:
    """Raises NotAllowed unless the user's role holds the permission."""
    if not is_allowed(user, permission):
        who = " or ".join(ROLE_WORDS[role][1] for role in Role if role in GRANTS.get(permission, frozenset()))
        raise rights.ROLE(name=user.name, role=ROLE_WORDS[user.role][0], who=who, deed=DEEDS[permission])


def may_see_dataset(
    user: User,
    *,
    owner: str,
    data_users: tuple[str, ...],
    is_granted: bool = False,
    reviews: bool = False,
) -> bool:
    """A rights holder sees the data sets that they own or review, a data user those whose policy names them
    or that are granted to a project of theirs."""
    if user.role is Role.RIGHTS_HOLDER:
        return user.name == owner or reviews
    return user.role is Role.DATA_USER and (is_granted or is_named(user, data_users))


def is_named(user: User, data_users: tuple[str, ...]) -> bool:
    """May they use the data set without any project?"""
    return user.name in data_users or "*" in data_users


def may_see_job(user: User, *, author: str, reviews: bool) -> bool:
    """The author, those who review the data set, and operators (who see states, never releases)."""
    if user.role is Role.DATA_USER:
        return user.name == author
    return user.role is Role.OPERATOR or reviews


def check_independent(user: User, *, author: str) -> None:
    """Nobody decides on their own job."""
    if user.name == author:
        raise rights.OWN_JOB()
