"""The arithmetic of the account, on both databases."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from factories import NOW, given_account, given_user
from sqlalchemy.exc import IntegrityError

from domain.errors import BudgetExceeded, InvalidRequest, PlatformError
from store import ledger
from store.tables import ledger_entries

CAP = 1_000_000


@pytest.fixture
def connection(database):
    with database.transaction() as connection:
        given_account(connection, cap=CAP)
        yield connection


def reserve(connection, job_id="job-1", amount=400_000, *, author="ada", project=None):
    ledger.reserve(
        connection,
        job_id=job_id,
        cohort="heights",
        author=author,
        project=project,
        micro_epsilon=amount,
        now=NOW,
    )


def taken(connection, kind="cohort", holder="heights"):
    account = ledger.find_account(connection, cohort="heights", kind=kind, holder=holder)
    assert (account.reserved, account.spent) == from_entries(connection, account.id)
    return account.reserved, account.spent


def from_entries(connection, account_id):
    query = sa.select(ledger_entries).where(ledger_entries.c.account_id == account_id)
    total = dict.fromkeys(("reserve", "charge", "refund"), 0)
    for row in connection.execute(query):
        total[row.action] += row.micro_epsilon
    return total["reserve"] - total["charge"] - total["refund"], total["charge"]


def allot(connection, kind, holder, cap):
    return ledger.allot(connection, cohort="heights", kind=kind, holder=holder, cap=cap)


def test_reserve_then_charge(connection):
    reserve(connection)
    assert taken(connection) == (400_000, 0)
    ledger.charge(connection, job_id="job-1", now=NOW)
    assert taken(connection) == (0, 400_000)


def test_reserve_then_refund(connection):
    reserve(connection)
    ledger.refund(connection, job_id="job-1", now=NOW)
    assert taken(connection) == (0, 0)


def test_the_whole_cap_can_be_reserved_and_not_one_micro_more(connection):
    reserve(connection, amount=CAP)
    with pytest.raises(BudgetExceeded, match=r"epsilon: 0.001 is more than the 0 left .*Nothing was charged"):
        reserve(connection, "job-2", 1_000)
    assert taken(connection) == (CAP, 0)


def test_spent_budget_counts_as_much_as_reserved(connection):
    reserve(connection, amount=700_000)
    ledger.charge(connection, job_id="job-1", now=NOW)
    with pytest.raises(BudgetExceeded, match=r"0.4 is more than the 0.3 left .*cap 1, spent 0.7, reserved 0"):
        reserve(connection, "job-2", 400_000)


def test_refunded_budget_can_be_used_again(connection):
    reserve(connection, amount=CAP)
    ledger.refund(connection, job_id="job-1", now=NOW)
    reserve(connection, "job-2", CAP)
    assert taken(connection) == (CAP, 0)


@pytest.mark.parametrize("first", [ledger.charge, ledger.refund])
@pytest.mark.parametrize("second", [ledger.charge, ledger.refund])
def test_a_reservation_is_settled_once(connection, first, second):
    reserve(connection)
    first(connection, job_id="job-1", now=NOW)
    before = taken(connection)
    with pytest.raises(IntegrityError), connection.begin_nested():
        second(connection, job_id="job-1", now=NOW)
    assert taken(connection) == before


def test_a_job_reserves_once(connection):
    reserve(connection)
    with pytest.raises(IntegrityError), connection.begin_nested():
        reserve(connection)
    assert taken(connection) == (400_000, 0)


@pytest.mark.parametrize("settle", [ledger.charge, ledger.refund])
def test_nothing_is_settled_without_a_reservation(connection, settle):
    with pytest.raises(PlatformError, match="job-1 has no reservation"):
        settle(connection, job_id="job-1", now=NOW)
    assert taken(connection) == (0, 0)


@pytest.mark.parametrize(
    "amount", [0, -1, -400_000, True, 1.0, 0.5, float("nan"), float("inf"), 10**9 + 1, 2**63, "1", None]
)
def test_no_amount_but_a_positive_integer(connection, amount):
    with pytest.raises(ValueError, match="a positive integer of micro-epsilon"):
        reserve(connection, amount=amount)
    with pytest.raises(ValueError, match="a positive integer of micro-epsilon"):
        allot(connection, "user", "ada", amount)
    with pytest.raises(ValueError, match="a positive integer of micro-epsilon"):
        given_account(connection, cohort="other", cap=amount)
    assert taken(connection) == (0, 0)


def test_a_cohort_without_an_account(connection):
    with pytest.raises(PlatformError, match="cohort nowhere has no account"):
        ledger.reserve(
            connection, job_id="j", cohort="nowhere", author="ada", project=None, micro_epsilon=1_000, now=NOW
        )
    with pytest.raises(PlatformError, match="cohort nowhere has no account"):
        ledger.allot(connection, cohort="nowhere", kind="user", holder="ada", cap=1_000)


def test_a_users_share_binds_in_addition(connection):
    allot(connection, "user", "ada", 500_000)
    reserve(connection, amount=400_000)
    assert taken(connection, "user", "ada") == (400_000, 0)
    with pytest.raises(BudgetExceeded, match="left of the budget of the user ada"), connection.begin_nested():
        reserve(connection, "job-2", 200_000)
    assert taken(connection) == taken(connection, "user", "ada") == (400_000, 0)
    reserve(connection, "job-3", 600_000, author="bob")
    assert taken(connection) == (CAP, 0)


def test_a_projects_share_is_for_its_members(connection):
    given_user(connection, "ada")
    project = allot(connection, "project", "sleep", 500_000)
    ledger.set_members(connection, project, ("ada", "ada"))
    assert ledger.members(connection, project) == {"ada"}
    reserve(connection, amount=300_000, project="sleep")
    ledger.charge(connection, job_id="job-1", now=NOW)
    assert taken(connection, "project", "sleep") == taken(connection) == (0, 300_000)
    for author, asked in [("bob", "sleep"), ("ada", "dream")]:
        with pytest.raises(InvalidRequest, match=f"to a project {asked} of which {author} is a member"):
            reserve(connection, "job-2", project=asked, author=author)
    with pytest.raises(BudgetExceeded, match="of the project sleep"):
        reserve(connection, "job-2", 300_000, project="sleep")


def test_members_can_be_replaced(connection):
    for name in ("ada", "bob"):
        given_user(connection, name)
    project = allot(connection, "project", "sleep", 500_000)
    ledger.set_members(connection, project, ("ada",))
    ledger.set_members(connection, project, ("bob",))
    assert ledger.members(connection, project) == {"bob"}


def test_a_share_is_part_of_the_whole_and_not_less_than_what_is_taken(connection):
    with pytest.raises(InvalidRequest, match="more than the whole budget of 1"):
        allot(connection, "user", "ada", CAP + 1)
    allot(connection, "user", "ada", 500_000)
    reserve(connection)
    with pytest.raises(InvalidRequest, match=r"0\.4 of this allocation is taken already"):
        allot(connection, "user", "ada", 399_999)
    assert allot(connection, "user", "ada", 400_000).left == 0
    kinds = [account.kind for account in ledger.list_accounts(connection, cohort="heights")]
    assert kinds == ["cohort", "user"]


def test_the_standing_of_a_charge_does_not_change_with_later_ones(connection):
    for number, amount in enumerate((100_000, 200_000, 300_000)):
        reserve(connection, f"job-{number}", amount)
    for number in (1, 0, 2):
        ledger.charge(connection, job_id=f"job-{number}", now=NOW)
    found = [ledger.standing(connection, job_id=f"job-{number}", cohort="heights") for number in range(3)]
    assert [(standing.before, standing.after) for standing in found] == [
        (200_000, 300_000),
        (0, 200_000),
        (300_000, 600_000),
    ]
    assert {standing.cap for standing in found} == {CAP}
