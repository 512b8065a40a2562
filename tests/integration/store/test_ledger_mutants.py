"""Deliberate mistakes in the real source of the ledger must each fail a named check (privacy.md T10)."""

from __future__ import annotations

from collections.abc import Iterator

import ledger_checks as checks
import pytest
from mutants import mutant
from sqlalchemy.exc import SQLAlchemyError

from domain.errors import PlatformError, RequestError
from store import ledger
from store.database import Database

CAUGHT = (AssertionError, pytest.fail.Exception, SQLAlchemyError, RequestError, PlatformError)

LEDGER_MUTANTS = {
    "the check of what is left is removed": (
        checks.check_race,
        "_RESERVE = _change(LedgerAction.RESERVE, _LEFT >= _AMOUNT, ",
        "_RESERVE = _change(LedgerAction.RESERVE, ",
    ),
    "one more than is left is let through": (checks.check_exact, "_LEFT >= _AMOUNT", "_LEFT >= _AMOUNT - 1"),
    "spent budget is forgotten": (
        checks.check_race,
        "_LEFT = accounts.c.cap - accounts.c.reserved - accounts.c.spent",
        "_LEFT = accounts.c.cap - accounts.c.reserved",
    ),
    "a refusal is not noticed": (checks.check_race, "if reserved != len(ids):", "if False:"),
    "a charge needs no reservation": (
        checks.check_unreserved,
        "    if not entries:\n        raise",
        "    if not entries:\n        return\n        raise",
    ),
    "a charge keeps the reservation": (
        checks.check_race,
        "LedgerAction.CHARGE, reserved=accounts.c.reserved - _AMOUNT, spent=",
        "LedgerAction.CHARGE, spent=",
    ),
    "a refund gives back spent budget": (
        checks.check_refund,
        "_REFUND = _change(LedgerAction.REFUND, reserved=accounts.c.reserved - _AMOUNT)",
        "_REFUND = _change(LedgerAction.REFUND, spent=accounts.c.spent - _AMOUNT)",
    ),
    "an amount may be a float": (
        checks.check_amounts,
        "not isinstance(amount, int)",
        "not isinstance(amount, int | float)",
    ),
    "an amount may be negative": (
        checks.check_amounts,
        "not 0 < amount <= ",
        "not -MAX_MICRO_EPSILON < amount <= ",
    ),
    "a user's share is ignored": (
        checks.check_shares,
        '(accounts.c.kind == "user")',
        '(accounts.c.kind == "nobody")',
    ),
}


@pytest.fixture
def wide(database_url) -> Iterator[Database]:
    database = Database(database_url, pool_size=checks.CLIENTS + 1)
    yield database
    database.close()


@pytest.mark.parametrize("name", LEDGER_MUTANTS)
def test_a_mutant_of_the_ledger_is_caught(wide, name):
    check, old, new = LEDGER_MUTANTS[name]
    broken = mutant(ledger, old, new)
    with pytest.raises(CAUGHT):
        check(wide, broken)


@pytest.mark.parametrize(
    "check", sorted({row[0] for row in LEDGER_MUTANTS.values()}, key=lambda check: check.__name__)
)
def test_the_same_checks_pass_for_the_real_ledger(wide, check):
    check(wide, mutant(ledger, "_RESERVED = (", "_RESERVED = ("))
