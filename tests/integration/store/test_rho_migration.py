"""Cohorts that counted rho by the older conversion: their cap is what the declared budgets give now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from factories import declaration_fields

from store import datasets, ledger
from store.database import Database

NOW = "2026-03-02 09:30:00+00:00"
BUDGETS = {"accounting": "zcdp", "budget_epsilon": "10", "budget_delta": "1e-6"}
OLDER, TIGHT = 1_353_014_690_168, 1_539_278_763_866  # pico-rho of (10, 10^-6)
PERSON = (
    "INSERT INTO users (name, role, token_id, token_hash, created_at) "
    "VALUES ('holder', 'rights_holder', 't', 'h', :now)"
)
A_COHORT = "INSERT INTO cohorts VALUES (:cohort, 'holder', :now)"
A_POLICY = "INSERT INTO policies VALUES ('heights', 1, :policy, 'holder', :now, 'declared')"
A_DATASET = (
    "INSERT INTO datasets (id, name, version, owner, cohort, declaration, delivery, state, created_at) "
    "VALUES ('d', 'heights', 1, 'holder', 'heights', :declared, 'x', 'IMPORTING', :now)"
)
AN_ACCOUNT = (
    "INSERT INTO accounts (cohort, kind, holder, currency, cap, reserved, spent) "
    "VALUES (:cohort, :kind, :holder, :currency, :cap, 3, 5)"
)
ACCOUNTS = (
    ("heights", "cohort", "heights", "rho", OLDER),
    ("heights", "project", "one", "rho", 7_000),
    ("sums", "cohort", "sums", "epsilon", 10_000_000),
)


def fill(connection: sa.Connection) -> None:
    fields = declaration_fields() | BUDGETS
    connection.execute(sa.text(PERSON), {"now": NOW})
    for cohort in ("heights", "sums"):
        connection.execute(sa.text(A_COHORT), {"cohort": cohort, "now": NOW})
    connection.execute(sa.text(A_POLICY), {"policy": json.dumps(fields["policy"]), "now": NOW})
    connection.execute(sa.text(A_DATASET), {"declared": json.dumps(fields), "now": NOW})
    for account in ACCOUNTS:
        row = dict(zip(("cohort", "kind", "holder", "currency", "cap"), account, strict=True))
        connection.execute(sa.text(AN_ACCOUNT), row)


@pytest.fixture(params=["sqlite", "postgresql"])
def carried(request: pytest.FixtureRequest, brought: Any) -> Iterator[Database]:
    with brought(request.param, "0020", fill) as database:
        yield database


def test_only_the_cap_of_the_cohort_that_counts_rho_is_raised(carried: Database) -> None:
    with carried.reading() as connection:
        found = {
            (a.cohort, a.kind): (a.cap, a.reserved, a.spent)
            for cohort in ("heights", "sums")
            for a in ledger.list_accounts(connection, cohort=cohort)
        }
    assert found == {
        ("heights", "cohort"): (TIGHT, 3, 5),
        ("heights", "project"): (7_000, 3, 5),
        ("sums", "cohort"): (10_000_000, 3, 5),
    }


def test_what_the_declaration_allows_is_what_the_account_has(carried: Database) -> None:
    """Else a further version, which declares the same, would be refused."""
    with carried.reading() as connection:
        (allowed,) = datasets.get(connection, "d").declaration.caps.values()
    assert allowed == TIGHT
