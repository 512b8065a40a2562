"""The arithmetic of the account, on both databases."""

from __future__ import annotations

import itertools

import pytest
import sqlalchemy as sa
from factories import NOW, given_account
from given_projects import given_project
from sqlalchemy.exc import IntegrityError
from undone import undone

from domain.errors import BudgetExceeded, InvalidRequest, PlatformError
from privacy.cost import Cost, Currency
from store import allotments, ledger
from store.tables import ledger_entries

CAP = 1_000_000


@pytest.fixture
def connection(database):
    with database.transaction() as connection:
        given_account(connection, cap=CAP)
        yield connection


def reserve(
    connection, job_id="job-1", amount=400_000, *, author="ada", project=None, currency=Currency.EPSILON
):
    ledger.reserve(
        connection,
        job_id=job_id,
        cohort="heights",
        author=author,
        project=project,
        cost=Cost.of({currency: amount}),
        now=NOW,
    )


def taken(connection, kind="cohort", holder="heights"):
    account = ledger.find_account(
        connection, cohort="heights", kind=kind, holder=holder, currency=Currency.EPSILON
    )
    assert (account.reserved, account.spent) == from_entries(connection, account.id)
    return account.reserved, account.spent


def from_entries(connection, account_id):
    query = sa.select(ledger_entries).where(ledger_entries.c.account_id == account_id)
    total = dict.fromkeys(("reserve", "charge", "refund"), 0)
    for row in connection.execute(query):
        total[row.action] += row.amount
    return total["reserve"] - total["charge"] - total["refund"], total["charge"]


def allot(connection, kind, holder, cap):
    return allotments.allot(
        connection, cohort="heights", kind=kind, holder=holder, currency=Currency.EPSILON, cap=cap
    )


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


def test_a_reservation_is_settled_once(connection, subtests):
    for first, second in itertools.product((ledger.charge, ledger.refund), repeat=2):
        with subtests.test(msg=f"{first.__name__}, {second.__name__}"), undone(connection):
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


def test_nothing_is_settled_without_a_reservation(connection):
    for settle in (ledger.charge, ledger.refund):
        with pytest.raises(PlatformError, match="job-1 has no reservation"):
            settle(connection, job_id="job-1", now=NOW)
        assert taken(connection) == (0, 0)


NO_AMOUNTS = [0, -1, -400_000, True, 1.0, 0.5, float("nan"), float("inf"), 2**63, "1", None]


def test_no_amount_but_a_positive_integer(connection, subtests):
    for amount in [*NO_AMOUNTS, 10**9 + 1]:
        with subtests.test(msg=repr(amount)), undone(connection):
            with pytest.raises(ValueError, match="a positive whole number of units"):
                reserve(connection, amount=amount)
            assert taken(connection) == (0, 0)


def test_no_cap_but_a_positive_integer(connection, subtests):
    for cap in NO_AMOUNTS:
        with subtests.test(msg=repr(cap)), undone(connection):
            with pytest.raises(ValueError, match="a positive integer of units"):
                allot(connection, "user", "ada", cap)
            with pytest.raises(ValueError, match="a positive integer of units"):
                given_account(connection, cohort="other", cap=cap)
            assert taken(connection) == (0, 0)


def test_a_currency_without_an_account(connection, subtests):
    for currency in Currency:
        with subtests.test(msg=currency), undone(connection):
            with pytest.raises(BudgetExceeded, match=f"this data set has no budget of {currency}"):
                ledger.reserve(
                    connection,
                    job_id="j",
                    cohort="nowhere",
                    author="ada",
                    project=None,
                    cost=Cost.of({currency: 1}),
                    now=NOW,
                )
            with pytest.raises(BudgetExceeded, match=f"this data set has no budget of {currency}"):
                allotments.allot(
                    connection, cohort="nowhere", kind="user", holder="ada", currency=currency, cap=1_000
                )


def test_an_account_is_opened_once(connection):
    reserve(connection)
    assert given_account(connection, cap=CAP * 2).cap == CAP
    assert taken(connection) == (400_000, 0)


def test_currencies_of_one_cohort_do_not_mix(connection):
    given_account(connection, currency=Currency.NATS, cap=100_000)
    reserve(connection, amount=CAP)
    reserve(connection, "job-2", 100_000, currency=Currency.NATS)
    with pytest.raises(BudgetExceeded, match=r"nats: 0\.000001 is more than the 0 left"):
        reserve(connection, "job-3", 1, currency=Currency.NATS)
    assert taken(connection) == (CAP, 0)


def test_a_share_of_one_currency_does_not_bind_another(connection):
    given_account(connection, currency=Currency.NATS, cap=100_000)
    allot(connection, "user", "ada", 1_000)
    reserve(connection, amount=100_000, currency=Currency.NATS)
    with pytest.raises(BudgetExceeded, match="of the user ada"):
        reserve(connection, "job-2", 1_001)


def test_a_project_pays_in_every_currency_that_a_job_costs(connection):
    given_account(connection, currency=Currency.NATS, cap=100_000)
    given_project(connection, "sleep", members=("ada",))
    allot(connection, "project", "sleep", 500_000)
    with pytest.raises(InvalidRequest, match="no budget of nats is allotted to a project sleep"):
        reserve(connection, amount=1_000, project="sleep", currency=Currency.NATS)


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
    given_project(connection, "sleep", members=("ada",))
    project = allot(connection, "project", "sleep", 500_000)
    assert allotments.members(connection, project) == {"ada"}
    reserve(connection, amount=300_000, project="sleep")
    ledger.charge(connection, job_id="job-1", now=NOW)
    assert taken(connection, "project", "sleep") == taken(connection) == (0, 300_000)
    for author, asked in [("bob", "sleep"), ("ada", "dream")]:
        with pytest.raises(InvalidRequest, match=f"to a project {asked} of which {author} is a member"):
            reserve(connection, "job-2", project=asked, author=author)
    with pytest.raises(BudgetExceeded, match="of the project sleep"):
        reserve(connection, "job-2", 300_000, project="sleep")


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


def test_accounts_stand_by_whose_they_are_and_epsilon_first_whatever_was_opened_first(connection):
    for kind, holder in (("user", "bob"), ("project", "sleep"), ("cohort", "weights")):
        for currency in (Currency.DELTA, Currency.EPSILON):
            ledger.open_account(
                connection, cohort="weights", kind=kind, holder=holder, currency=currency, cap=CAP
            )
    found = ledger.list_accounts(connection, cohort="weights")
    assert [(account.kind, str(account.currency)) for account in found] == [
        ("cohort", "epsilon"), ("cohort", "delta"), ("project", "epsilon"), ("project", "delta"),
        ("user", "epsilon"), ("user", "delta"),
    ]  # fmt: skip


def test_the_standing_of_a_charge_does_not_change_with_later_ones(connection):
    for number, amount in enumerate((100_000, 200_000, 300_000)):
        reserve(connection, f"job-{number}", amount)
    for number in (1, 0, 2):
        ledger.charge(connection, job_id=f"job-{number}", now=NOW)
    found = [
        standing
        for number in range(3)
        for standing in ledger.standings(connection, job_id=f"job-{number}", cohort="heights")
    ]
    assert [(standing.before, standing.after) for standing in found] == [
        (200_000, 300_000),
        (0, 200_000),
        (300_000, 600_000),
    ]
    assert {standing.cap for standing in found} == {CAP}
