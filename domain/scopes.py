"""What a token may be used for: never more than its user's role allows, often less.

Every permission belongs to one scope, so that a new permission is in no token that was made before it was.
"""

from __future__ import annotations

from enum import StrEnum

from domain.permissions import Permission


class Scope(StrEnum):
    READ = "read"
    SUBMIT = "submit"
    REVIEW = "review"
    REGISTER = "register"
    # who is in a project sees what it was granted: no matter for a token that submits
    PROJECTS = "projects"
    ADMINISTER = "administer"
    # the figures of the platform and nothing else: for what collects them
    METRICS = "metrics"
    # make and revoke tokens, none of them wider or longer than the one that is used for it
    TOKENS = "tokens"


P, S = Permission, Scope

SCOPE: dict[Permission, Scope] = {
    P.SELF_READ: S.READ,
    P.DATASET_READ: S.READ,
    P.DATASET_REGISTER: S.REGISTER,
    P.DATASET_END: S.REGISTER,
    # as a registration can
    P.POLICY_CHANGE: S.REGISTER,
    P.BUDGET_READ: S.READ,
    P.BUDGET_ALLOT: S.REGISTER,
    P.PROJECT_READ: S.READ,
    P.PROJECT_LEAD: S.PROJECTS,
    P.GRANT_DECIDE: S.REGISTER,
    P.JOB_SUBMIT: S.SUBMIT,
    P.JOB_READ: S.READ,
    P.JOB_CANCEL: S.SUBMIT,
    P.JOB_DECIDE: S.REVIEW,
    P.RELEASE_READ: S.READ,
    P.RELEASE_DECIDE: S.REVIEW,
    # as an allotment does, it decides what the budget is spent on
    P.TWIN_MAKE: S.REGISTER,
    P.TWIN_DECIDE: S.REVIEW,
    P.TWIN_WITHDRAW: S.REVIEW,
    # whoever takes one agrees to terms in their own name: no matter for a token that looks
    P.TWIN_TAKE: S.SUBMIT,
    P.JOB_COMMENT: S.SUBMIT,
    P.IMAGE_READ: S.READ,
    P.IMAGE_APPROVE: S.ADMINISTER,
    P.USER_ADD: S.ADMINISTER,
    P.USER_READ: S.ADMINISTER,
    P.USER_DISABLE: S.ADMINISTER,
    P.TOKENS_OWN: S.TOKENS,
    P.NOTICES_READ: S.READ,
    # who adds a webhook goes on learning what happens after the token has ended
    P.CHANNELS_OWN: S.TOKENS,
    P.AUDIT_VERIFY: S.READ,
    P.OPERATION_READ: S.READ,
    P.METRICS_READ: S.METRICS,
    P.OPERATION_CHANGE: S.ADMINISTER,
}

ALL = frozenset(Scope)
MEANING: dict[Scope, str] = {
    S.READ: "look at data sets, budgets, projects, jobs and releases",
    S.SUBMIT: "submit and cancel jobs, comment on them, agree to the terms of a scrambled twin",
    S.REVIEW: "decide on jobs, releases and twins",
    S.REGISTER: "register, grant, withdraw data sets, set their policy, allot their budget, have twins made",
    S.PROJECTS: "lead projects: members, and asking for data sets",
    S.ADMINISTER: "manage users, images, workers and maintenance",
    S.METRICS: "read the metrics of the platform",
    S.TOKENS: "make and revoke tokens, and say where notices go",
}


def covers(scopes: frozenset[Scope], permission: Permission) -> bool:
    """Does a token with these scopes reach that far? A permission in no scope is reached by none."""
    return SCOPE.get(permission) in scopes
