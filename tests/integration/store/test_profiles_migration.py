"""Data sets and drafts that carried the digest of a profile: nothing of it is left, on both databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from factories import declaration_fields

from domain.registration_draft import problems
from store import datasets, drafts
from store.database import Database
from store.tables import metadata

NOW = "2026-03-02 09:30:00+00:00"
DIGEST = "sha256:" + "5e" * 32
FLAGGED = [{"table": "participants.tsv", "column": "sex"}]
PROFILE = {"profile": {"digest": DIGEST, "flagged": FLAGGED}}
PERSON = (
    "INSERT INTO users (name, role, token_id, token_hash, created_at) "
    "VALUES ('holder', 'rights_holder', 't', 'h', :now)"
)
A_COHORT = "INSERT INTO cohorts VALUES ('heights', 'holder', :now)"
A_POLICY = "INSERT INTO policies VALUES ('heights', 1, :policy, 'holder', :now, 'declared')"
A_DATASET = (
    "INSERT INTO datasets (id, name, version, owner, cohort, declaration, delivery, state, created_at) "
    "VALUES (:id, 'heights', :version, 'holder', 'heights', :declared, 'x', 'IMPORTING', :now)"
)
A_DRAFT = "INSERT INTO registration_drafts VALUES (:id, 'holder', 1, :content, :now, :now)"


def fill(connection: sa.Connection) -> None:
    fields = declaration_fields()
    known = {"now": NOW, "policy": json.dumps(fields["policy"])}
    for statement in (PERSON, A_COHORT, A_POLICY):
        connection.execute(sa.text(statement), known)
    for version, more in ((1, {}), (2, PROFILE)):
        row = {"id": f"heights-{version}", "version": version, "declared": json.dumps(fields | more)}
        connection.execute(sa.text(A_DATASET), {"now": NOW, **row})
    for draft, content in (
        ("with", {"declaration": fields | PROFILE, "done": ["about"]}),
        ("without", {"declaration": fields, "done": []}),
        ("wrong", {"declaration": {"profile": "typed by hand"}, "done": []}),
    ):
        connection.execute(sa.text(A_DRAFT), {"now": NOW, "id": draft, "content": json.dumps(content)})


@pytest.fixture(params=["sqlite", "postgresql"])
def carried(request: pytest.FixtureRequest, brought: Any) -> Iterator[Database]:
    with brought(request.param, "0016", fill) as database:
        yield database


def test_no_row_of_any_table_has_the_digest(carried: Database) -> None:
    with carried.reading() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(sa.select(table)).all():
                assert DIGEST not in repr(tuple(row)), table.name


def test_versions_are_otherwise_as_they_were_and_twins_of_both_alike(carried: Database) -> None:
    with carried.reading() as connection:
        one, two = (datasets.get(connection, f"heights-{version}") for version in (1, 2))
    assert one.declaration == two.declaration
    assert two.declaration.profile is None


def test_a_draft_keeps_what_its_owner_has_still_to_decide(carried: Database) -> None:
    with carried.reading() as connection:
        kept = {one.id: one.content for one in drafts.of_owner(connection, "holder")}
    assert kept["with"]["declaration"]["profile"] == {"flagged": FLAGGED}
    (problem,) = problems(kept["with"]["declaration"])
    assert "sex of participants.tsv may identify people and nobody decided" in problem.problem
    assert kept["without"] == {"declaration": declaration_fields(), "done": []}
    assert kept["wrong"] == {"declaration": {"profile": "typed by hand"}, "done": []}
