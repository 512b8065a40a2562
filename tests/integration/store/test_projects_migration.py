"""Shares that rights holders allotted to projects go on as projects with grants, of the same people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from factories import NOW, make_declaration, make_policy, make_user

from domain.permissions import Role
from privacy.cost import Cost, Currency
from store import allotments, datasets, granting, grants, ledger, projects
from store.database import Database

PEOPLE = {"ada": "data_user", "bob": "data_user", "eve": "data_user", "holder": "rights_holder",
          "rival": "rights_holder"}  # fmt: skip
# name, owner, cohort
DATASETS = (("heights", "holder", "town"), ("weights", "holder", "town"), ("bones", "rival", "bones"))
# cohort, kind, holder, currency, members
ACCOUNTS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("town", "cohort", "town", "epsilon", ()),
    ("town", "project", "sleep", "epsilon", ("ada",)),
    ("bones", "cohort", "bones", "epsilon", ()),
    ("bones", "project", "sleep", "epsilon", ("eve",)),
    ("bones", "project", "sleep-2", "epsilon", ()),
    ("town", "project", "sleep", "nats", ("ada", "bob")),
)


@pytest.fixture(params=["sqlite", "postgresql"])
def migrated(request: pytest.FixtureRequest, brought: Any) -> Iterator[Database]:
    """A database as the version before left it, brought to this version's form."""
    with brought(request.param, "0006", _as_it_was) as database:
        yield database


def _as_it_was(connection: sa.Connection) -> None:
    def insert(table: str, **values: Any) -> None:
        names = ", ".join(values)
        given = ", ".join(f":{name}" for name in values)
        connection.execute(sa.text(f"INSERT INTO {table} ({names}) VALUES ({given})"), values)

    now = NOW.isoformat(sep=" ")
    for name, role in PEOPLE.items():
        insert("users", name=name, role=role, token_id=f"t-{name}", token_hash="h", created_at=now)
    for cohort, owner in (("town", "holder"), ("bones", "rival")):
        insert("cohorts", id=cohort, owner=owner, created_at=now)
    policy = json.dumps(make_policy(data_users=[]).model_dump(mode="json"))
    for name, owner, cohort in DATASETS:
        declared = make_declaration(name=name).model_dump_json()
        insert(
            "datasets", id=f"d-{name}", name=name, version=1, owner=owner, cohort=cohort,
            declaration=declared, delivery="x", state="READY", snapshot="keyed:0", created_at=now,
        )  # fmt: skip
        insert(
            "policies", name=name, number=1, body=policy, changed_by=owner, at=now, reason="",
        )  # fmt: skip
    for number, (cohort, kind, holder, currency, members) in enumerate(ACCOUNTS, start=1):
        insert(
            "accounts", id=number, cohort=cohort, kind=kind, holder=holder, currency=currency,
            cap=1_000_000, reserved=0, spent=0,
        )  # fmt: skip
        for member in members:
            insert("project_members", account_id=number, member=member)


def test_each_rights_holder_keeps_a_project_of_their_own_people(migrated: Database) -> None:
    with migrated.reading() as connection:
        found = {name: projects.get(connection, name) for name in ("sleep", "sleep-2", "sleep-3")}
        assert [(one.made_by, one.members, one.lead, one.ends_on) for one in found.values()] == [
            ("holder", ("ada", "bob"), None, None),
            ("rival", (), None, None),
            ("rival", ("eve",), None, None),
        ]
        assert found["sleep-3"].title == "sleep"
        assert found["sleep"].made_at == NOW


def test_members_see_what_was_allotted_to_them_and_nothing_of_another(
    migrated: Database, subtests: pytest.Subtests
) -> None:
    sees = {"ada": {"heights", "weights"}, "bob": {"heights", "weights"}, "eve": {"bones"}}
    for name, wanted in sees.items():
        with subtests.test(msg=name), migrated.reading() as connection:
            visible = datasets.visible_to(connection, make_user(name))
            assert {dataset.name for dataset in visible} == wanted
            assert grants.granted_to(connection, make_user(name), NOW) == wanted


def test_the_accounts_go_on(migrated: Database) -> None:
    with migrated.transaction() as connection:
        for author, project, cohort in (("bob", "sleep", "town"), ("eve", "sleep-3", "bones")):
            ledger.reserve(
                connection, job_id=f"job-{author}", cohort=cohort, author=author, project=project,
                cost=Cost.of({Currency.EPSILON: 400_000}), now=NOW,
            )  # fmt: skip
            (share,) = [
                account
                for account in allotments.shares_of(connection, project=project, cohort=cohort)
                if account.currency is Currency.EPSILON
            ]
            assert (share.cap, share.reserved) == (1_000_000, 400_000)


def test_the_rights_holder_goes_on_to_allot_and_can_end_it(migrated: Database) -> None:
    holder = make_user("holder", Role.RIGHTS_HOLDER)
    with migrated.transaction() as connection:
        heights = datasets.newest(connection, "heights", holder)
        granting.give_kept(connection, project="sleep", dataset=heights, members=("bob",), by=holder, now=NOW)
        assert projects.get(connection, "sleep").members == ("bob",)
        assert grants.granted_to(connection, make_user("ada"), NOW) == frozenset()
        granting.end(connection, project="sleep", dataset="heights", reason="Done.", by=holder, now=NOW)
        assert grants.granted_to(connection, make_user("bob"), NOW) == {"weights"}
