"""Deliberate mistakes in the real source of the ledger must each fail a named check (privacy.md T10)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import ledger_checks as checks
import pytest
import test_ledger_race
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
        checks.check_spent,
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
    "a cap may be a float": (
        checks.check_caps,
        "not isinstance(cap, int)",
        "not isinstance(cap, int | float)",
    ),
    "a cap may be negative": (checks.check_caps, "not 0 < cap < ", "not -(2**62) < cap < "),
    "one currency that covers is enough": (
        checks.check_one_is_not_enough,
        "if reserved != len(ids):",
        "if not reserved:",
    ),
    "a currency without an account is free": (
        checks.check_unknown_currency,
        "            raise no_budget(currency)\n",
        "            continue\n",
    ),
    "every currency takes the amount of epsilon": (
        checks.check_exact,
        "(accounts.c.currency == c.value, sa.bindparam(c.value, type_=sa.BigInteger)) for c in Currency",
        '(accounts.c.currency == c.value, sa.bindparam("epsilon", type_=sa.BigInteger)) for c in Currency',
    ),
    "a user's share is ignored": (
        checks.check_shares,
        '(accounts.c.kind == "user")',
        '(accounts.c.kind == "nobody")',
    ),
}


@pytest.fixture
def wide(postgresql_url) -> Iterator[Database]:
    """What is tested with mutants are the checks: one database is enough for that."""
    database = Database(postgresql_url, pool_size=checks.CLIENTS + 1)
    yield database
    database.close()


@pytest.mark.parametrize("name", LEDGER_MUTANTS)
def test_a_mutant_of_the_ledger_is_caught(wide, name):
    check, old, new = LEDGER_MUTANTS[name]
    broken = mutant(ledger, old, new, mistake=name)
    with pytest.raises(CAUGHT):
        check(wide, broken)


def test_a_mutant_in_which_nothing_is_changed_passes(wide):
    checks.check_refund(wide, mutant(ledger, "_RESERVED = (", "_RESERVED = ("))


def test_the_real_ledger_is_asked_the_same_on_both_databases():
    """Or else a check that nothing passes would catch every mutant."""
    asked = Path(test_ledger_race.__file__).read_text()
    assert all(f"checks.{check.__name__}(" in asked for check, _, _ in LEDGER_MUTANTS.values())
