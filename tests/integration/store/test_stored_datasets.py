"""Versions of a data set share one cohort and one budget; who may not see it learns nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset, given_user, make_user, policy_fields
from undone import undone

from domain.dataset import DatasetState, ImportProblem
from domain.errors import Conflict, InvalidRequest, NotFound, Spoilt
from domain.permissions import Role
from privacy.cost import Cost, Currency
from store import datasets, ledger
from store.tables import datasets as dataset_rows

HOLDER = make_user("holder", Role.RIGHTS_HOLDER)
ADA, EVE = make_user("ada"), make_user("eve")


@pytest.fixture
def connection(database):
    with database.transaction() as connection:
        yield connection


def account(connection, cohort="heights"):
    return ledger.find_account(
        connection, cohort=cohort, kind="cohort", holder=cohort, currency=Currency.EPSILON
    )


def test_a_new_data_set_opens_its_cohorts_account(connection):
    dataset = given_dataset(connection)
    assert (dataset.version, dataset.cohort, dataset.state) == (1, "heights", DatasetState.READY)
    assert account(connection).cap == 10_000_000
    assert datasets.get(connection, dataset.id) == dataset
    assert datasets.delivery_of(connection, dataset.id) == "delivery"


def test_another_version_goes_on_with_the_same_budget(connection):
    given_dataset(connection)
    ledger.reserve(
        connection,
        job_id="job-1",
        cohort="heights",
        author="a",
        project=None,
        cost=Cost.of({Currency.EPSILON: 1_000}),
        now=NOW,
    )
    second = given_dataset(connection, title="Corrected heights")
    assert (second.version, second.cohort) == (2, "heights")
    assert account(connection).reserved == 1_000


def test_registering_again_neither_lowers_nor_raises_the_cap(connection, subtests):
    given_dataset(connection)
    for budget in ("9", "11"):
        with subtests.test(msg=budget), undone(connection):
            with pytest.raises(InvalidRequest, match="neither resets nor raises it"):
                given_dataset(connection, budget_epsilon=budget)
            assert account(connection).cap == 10_000_000


def caps(connection):
    return {a.currency: a.cap for a in ledger.list_accounts(connection, cohort="heights")}


def test_every_declared_budget_opens_an_account(connection):
    given_dataset(connection, budget_delta="1e-6", budget_nats=0.5, budget_releases=3)
    assert caps(connection) == {
        Currency.EPSILON: 10_000_000,
        Currency.DELTA: 10**12,
        Currency.NATS: 500_000,
        Currency.RELEASES: 3,
    }


def test_a_later_version_may_open_another_account_and_drop_none(connection):
    given_dataset(connection)
    given_dataset(connection, budget_nats=0.5)
    assert caps(connection) == {Currency.EPSILON: 10_000_000, Currency.NATS: 500_000}
    for budget in ({}, {"budget_nats": 0.25}):
        with pytest.raises(InvalidRequest, match=r"budget_nats: .* has a budget of 0\.5 nats"):
            given_dataset(connection, **budget)
    assert caps(connection) == {Currency.EPSILON: 10_000_000, Currency.NATS: 500_000}


def test_how_losses_add_up_is_fixed_for_the_cohort(connection):
    given_dataset(connection, accounting="zcdp", budget_delta="1e-6")
    assert list(caps(connection)) == [Currency.RHO]
    with pytest.raises(InvalidRequest, match="accounting: losses of the cohort heights add up by zcdp"):
        given_dataset(connection, budget_delta="1e-6")
    with pytest.raises(InvalidRequest, match=r"budget_epsilon: .* has a budget of .* rho"):
        given_dataset(connection, accounting="zcdp", budget_delta="1e-7")
    given_dataset(connection, name="weights")
    with pytest.raises(InvalidRequest, match=r"accounting: .* by pure_sum, for all its versions"):
        given_dataset(connection, name="weights", accounting="zcdp", budget_delta="1e-6")


def test_data_sets_of_one_cohort_share_its_budget(connection):
    given_dataset(connection)
    other = given_dataset(connection, name="weights", cohort="heights")
    assert other.cohort == "heights"
    assert account(connection, "weights") is None
    with pytest.raises(InvalidRequest, match="budget_epsilon"):
        given_dataset(connection, name="ages", cohort="heights", budget_epsilon="20")


def test_a_version_cannot_leave_its_cohort(connection):
    given_dataset(connection)
    with pytest.raises(InvalidRequest, match="version 1 is in cohort heights"):
        given_dataset(connection, cohort="elsewhere")


def test_the_name_or_cohort_of_somebody_else_is_refused(connection):
    given_dataset(connection)
    with pytest.raises(Conflict, match="the name heights is taken"):
        given_dataset(connection, owner="other")
    with pytest.raises(Conflict, match="cohort heights belongs to somebody else"):
        given_dataset(connection, owner="other", name="weights", cohort="heights")


def test_an_import_ends_once(connection):
    dataset = given_dataset(connection, state=DatasetState.IMPORTING)
    later = NOW + timedelta(seconds=60)
    assert datasets.importing(connection, older_than_s=60, now=later) == [dataset.id]
    assert datasets.importing(connection, older_than_s=61, now=later) == []
    problem = ImportProblem.NOT_UTF8
    assert finish(connection, dataset, problem=problem)
    assert not finish(connection, dataset, snapshot="keyed:1")
    found = datasets.get(connection, dataset.id)
    assert (found.state, found.problem, found.snapshot) == (DatasetState.REFUSED, problem, None)
    assert datasets.importing(connection, older_than_s=0, now=later) == []


def finish(connection, dataset, *, snapshot=None, problem=None):
    return datasets.finish_import(
        connection, dataset_id=dataset.id, snapshot=snapshot, problem=problem, now=NOW
    )


def test_an_import_ends_with_a_snapshot_or_a_problem(connection):
    dataset = given_dataset(connection, state=DatasetState.IMPORTING)
    for both in ({}, {"snapshot": "keyed:1", "problem": ImportProblem.TOO_LARGE}):
        with pytest.raises(ValueError, match="either a snapshot or a problem"):
            finish(connection, dataset, **both)


def test_users_whom_the_policy_names_see_the_newest_ready_version(connection):
    first = given_dataset(connection)
    assert datasets.newest(connection, "heights", ADA) == first
    second = given_dataset(connection, state=DatasetState.IMPORTING)
    assert datasets.newest(connection, "heights", ADA) == first
    finish(connection, second, snapshot="keyed:2")
    assert datasets.newest(connection, "heights", ADA).version == 2
    assert [dataset.version for dataset in datasets.visible_to(connection, ADA)] == [2]


def test_absent_and_forbidden_read_the_same(connection):
    given_dataset(connection)
    given_dataset(connection, name="weights", state=DatasetState.IMPORTING)
    texts = set()
    # as near to what Ada may see as each other, or one of them would be told of it
    for user, name in [(EVE, "heights"), (EVE, "nothing"), (ADA, "weights"), (ADA, "heighten")]:
        with pytest.raises(NotFound) as refusal:
            datasets.newest(connection, name, user)
        texts.add((user, str(refusal.value).replace(name, "NAME")))
    assert len(texts) == 2
    assert datasets.visible_to(connection, EVE) == []
    assert [dataset.name for dataset in datasets.visible_to(connection, ADA)] == ["heights"]


def test_a_refusal_reads_no_declaration(connection):
    """A wide one takes a hundred times as long as an absent name, which tells that there is one."""
    given_dataset(connection)
    connection.execute(sa.update(dataset_rows).values(declaration={"no": "declaration"}))
    for name, role in (("bob", Role.DATA_USER), ("rival", Role.RIGHTS_HOLDER)):
        with pytest.raises(NotFound):
            datasets.newest(connection, "heights", make_user(name, role))
        with pytest.raises(NotFound):
            datasets.newest_registration(connection, "heights", make_user(name, role))
        assert datasets.visible_to(connection, make_user(name, role)) == []
    with pytest.raises(Spoilt):
        datasets.newest(connection, "heights", make_user("ada"))


def test_a_policy_for_everyone_means_every_data_user(connection):
    dataset = given_dataset(connection, policy=policy_fields(data_users=["*"]))
    assert datasets.newest(connection, "heights", EVE) == dataset


def test_the_holder_sees_what_is_being_imported(connection):
    dataset = given_dataset(connection, state=DatasetState.IMPORTING)
    assert datasets.newest(connection, "heights", HOLDER) == dataset
    assert datasets.newest_registration(connection, "heights", HOLDER) == dataset
    for other in (make_user("other", Role.RIGHTS_HOLDER), make_user("holder", Role.OPERATOR)):
        with pytest.raises(NotFound):
            datasets.newest(connection, "heights", other)
    with pytest.raises(NotFound, match="of yours"):
        datasets.newest_registration(connection, "heights", make_user("other", Role.RIGHTS_HOLDER))


def test_a_cohort_lives_while_one_import_has_not_been_refused(connection):
    dataset = given_dataset(connection, state=DatasetState.IMPORTING)
    assert datasets.living_cohorts(connection) == {"heights": "holder"}
    finish(connection, dataset, problem=ImportProblem.FILE_MISSING)
    assert datasets.living_cohorts(connection) == {}


def test_a_refused_version_does_not_bind_the_next_one_to_its_cohort(connection):
    dataset = given_dataset(connection, state=DatasetState.IMPORTING)
    finish(connection, dataset, problem=ImportProblem.SAME_PEOPLE)
    assert given_dataset(connection, cohort="town").cohort == "town"


def test_deliveries_are_settled_when_no_import_waits_for_them(connection):
    dataset = given_dataset(connection, state=DatasetState.IMPORTING)
    assert datasets.settled_deliveries(connection, ["delivery"]) == set()
    finish(connection, dataset, snapshot="keyed:1")
    assert datasets.settled_deliveries(connection, ["delivery", "unknown"]) == {"delivery"}


def test_an_unknown_id(connection):
    given_user(connection)
    with pytest.raises(NotFound, match="no such data set"):
        datasets.get(connection, "nothing")
