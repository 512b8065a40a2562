"""Entitlements that an identity provider vouches for, and the rights that they give here.

An entitlement names a group of people elsewhere, in the form of AARC-G069:
`urn:<namespace>:group:<group>[:<subgroup>][:role=<role>]#<authority>`. It is compared letter by letter, the
authority included: another authority's group of the same name is another group. There are no patterns.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from domain.model import Model, Slug
from domain.permissions import Role

MAX_RULES = 100
"""Of one thing: of one data set, of one project, or of the platform's roles."""
MAX_HELD = 1000
"""Entitlements of one person that are looked at."""
MAX_ENTITLEMENT = 512
# services are named in the platform's settings, by their client
SERVICE = "client:"


class Right(StrEnum):
    """What an entitlement can give: a role on the platform; to a rights holder, votes on a data set; to a
    data user, a place in a project, or one from which to lead it."""

    ROLE = "role"
    REVIEWER = "reviewer"
    MEMBER = "member"
    LEAD = "lead"


IN_PROJECT = frozenset({Right.MEMBER, Right.LEAD})


def _exact(value: str) -> str:
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError("must be one word of ordinary characters, as the provider writes it")
    if "*" in value:
        raise ValueError("must name one group: entitlements are compared letter by letter, without patterns")
    if value.startswith(SERVICE):
        raise ValueError("must name a group of people; a service is named in DPGATE_OIDC_ROLES")
    if value.lower().startswith("urn:") and value.count("#") > 1:
        raise ValueError("must have one authority, behind the only #")
    return value


Entitlement = Annotated[
    str, StringConstraints(min_length=3, max_length=MAX_ENTITLEMENT), AfterValidator(_exact)
]


class RoleEntitlement(Model):
    """Whoever is entitled to this has this role."""

    entitlement: Entitlement
    role: Role


class ReviewerEntitlement(Model):
    """Whoever is entitled to this, and is a rights holder here, reviews the data set."""

    entitlement: Entitlement


class ProjectEntitlement(Model):
    """Whoever is entitled to this, and is a data user here, is a member of the project, or leads it too."""

    entitlement: Entitlement
    leads: bool = False


class EntitlementRule(Model):
    """That an entitlement gives a right. `about` is a role, or the name of a data set or project."""

    id: str
    entitlement: str
    gives: Right
    about: str
    made_by: Slug
    made_at: datetime


def is_usable(claimed: object) -> bool:
    """Can this entry of a claim be somebody's entitlement? A service's name cannot."""
    return (
        isinstance(claimed, str) and 0 < len(claimed) <= MAX_ENTITLEMENT and not claimed.startswith(SERVICE)
    )
