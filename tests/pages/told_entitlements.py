"""What groups of people's organisations give in the story; one of the names is an attack."""

from __future__ import annotations

import sqlalchemy as sa
from factories import NOW
from told_projects import ODD, SLEEP

from domain.entitlement import Right
from domain.permissions import Role
from store import entitlements

GROUP = "urn:mace:example.org:group:heart:sleep:role=member#idp.example.org"
HOSTILE_GROUP = "urn:mace:example.org:group:</code><script>document.title='run'</script>#idp.example.org"


def give_entitlements(connection: sa.Connection) -> None:
    for entitlement, gives, about, by in (
        ("urn:mace:example.org:group:heart:stewards#idp.example.org", Right.ROLE, Role.RIGHTS_HOLDER, "olga"),
        ("urn:mace:example.org:group:heart:board#idp.example.org", Right.REVIEWER, "heights", "holder"),
        (GROUP, Right.MEMBER, SLEEP, "ada"),
        ("urn:mace:example.org:group:heart:sleep:role=lead#idp.example.org", Right.LEAD, SLEEP, "ada"),
        (HOSTILE_GROUP, Right.MEMBER, ODD, "bob"),
    ):
        entitlements.make(connection, entitlement, gives=gives, about=about, by=by, now=NOW)
    entitlements.settle(
        connection, "bob", entitlements.matching(connection, frozenset({GROUP, HOSTILE_GROUP})), now=NOW
    )
