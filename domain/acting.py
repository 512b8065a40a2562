"""What a service may do for a person: read what they read, submit and withdraw jobs. Default deny.

What it does counts as the person's: their budget, policy and notices. So it gets nothing that outlives its
token (tokens, webhooks), nothing in which the person gives their word (comments, terms, leading a project),
and no role but the researcher's: who decides on data, or runs the platform, does so in person.
"""

from __future__ import annotations

from domain.permissions import DEEDS, ROLE_WORDS, Permission, Role, User
from domain.refusals import rights

P = Permission
FOR_PEOPLE = frozenset(
    {
        P.SELF_READ, P.DATASET_READ, P.BUDGET_READ, P.PROJECT_READ, P.JOB_SUBMIT, P.JOB_READ, P.JOB_CANCEL,
        P.RELEASE_READ, P.IMAGE_READ, P.NOTICES_READ,
    }
)  # fmt: skip


def check_acting(user: User, permission: Permission) -> None:
    """Raises NotAllowed for what no service does for anybody."""
    if user.through is not None and permission not in FOR_PEOPLE:
        raise rights.SERVICE(deed=DEEDS[permission])


def check_can_be_acted_for(role: Role) -> None:
    """Raises NotAllowed for people whose rights reach further than a researcher's."""
    if role is not Role.DATA_USER:
        raise rights.SERVICE_FOR_ROLE(role=ROLE_WORDS[role][0])
