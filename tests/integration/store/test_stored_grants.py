"""Grants on record: what they open, what ends it at once, and what stays."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset, given_job, given_user, make_user, policy_fields
from given_projects import given_ask, given_grant, given_project, last_day, refuses
from undone import undone

from domain.errors import Conflict, InvalidRequest, NotAllowed, NotFound
from domain.model import parse
from domain.permissions import Role, User
from domain.project import GrantState, ProjectState, Terms
from domain.states import JobState
from privacy.cost import Currency
from store import audit, channels, datasets, granting, grants, history, ledger, notices, projects, users
from store.history import Wanted

ADA, BOB, EVE = (make_user(name) for name in ("ada", "bob", "eve"))
HOLDER, RIVAL = (make_user(name, Role.RIGHTS_HOLDER) for name in ("holder", "rival"))
OLGA = make_user("olga", Role.OPERATOR)
AFTER = datetime.combine(last_day(), datetime.min.time(), NOW.tzinfo) + timedelta(days=1)


@pytest.fixture
def connection(database):
    """Ada leads `sleep` with bob; nobody may use `heights` by its policy."""
    with database.transaction() as connection:
        for user in (ADA, BOB, EVE, HOLDER, RIVAL, OLGA):
            given_user(connection, user.name, user.role)
        given_dataset(connection, policy=policy_fields(data_users=[]), budget_nats="0.5")
        given_project(connection, members=("ada", "bob"))
        yield connection


def check(connection: sa.Connection, user: User = BOB, *, now: datetime = NOW, **asked: str) -> None:
    named = {"project": "sleep", "dataset": "heights", **asked}
    grants.check_spending(connection, user=user, now=now, **named)


def terms(**fields: Any) -> Terms:
    return parse(Terms, fields)


def seen(connection: sa.Connection, user: User) -> list[str]:
    return [dataset.name for dataset in datasets.visible_to(connection, user)]


def share(connection: sa.Connection, currency: Currency = Currency.EPSILON) -> ledger.Account | None:
    return ledger.find_account(
        connection, cohort="heights", kind="project", holder="sleep", currency=currency
    )


def test_a_project_alone_opens_nothing(connection):
    assert seen(connection, ADA) == []
    with refuses("was not granted heights", NotAllowed):
        check(connection)
    given_ask(connection)
    assert seen(connection, ADA) == []
    with refuses("has asked for, and was not granted, heights", NotAllowed):
        check(connection)


def test_a_grant_opens_one_data_set_to_the_members(connection):
    given_dataset(connection, name="weights", policy=policy_fields(data_users=[]))
    granted = given_grant(connection, amounts={"epsilon": "2", "nats": 0.25})
    assert (granted.state, granted.ends_on) == (GrantState.GRANTED, last_day())
    assert seen(connection, ADA) == seen(connection, BOB) == ["heights"]
    assert seen(connection, EVE) == []
    assert datasets.newest(connection, "heights", BOB).name == "heights"
    assert grants.granted_to(connection, BOB, NOW) == {"heights"}
    check(connection)
    with refuses("there is no project sleep of yours", NotAllowed):
        check(connection, EVE)
    with refuses("was not granted weights", NotAllowed):
        check(connection, dataset="weights")
    assert [share(connection, c).cap for c in (Currency.EPSILON, Currency.NATS)] == [2_000_000, 250_000]


def test_a_grant_is_for_data_users_only(connection, subtests):
    given_grant(connection)
    for role in (Role.RIGHTS_HOLDER, Role.OPERATOR):
        with subtests.test(msg=role), undone(connection):
            users.set_role(connection, name="bob", role=role)
            assert grants.granted_to(connection, make_user("bob", role), NOW) == frozenset()


def end_grant(connection: sa.Connection) -> None:
    granting.end(connection, project="sleep", dataset="heights", reason="Done.", by=HOLDER, now=NOW)


def withdraw(connection: sa.Connection) -> None:
    granting.withdraw(connection, project="sleep", dataset="heights", by=ADA, now=NOW)


def leave(connection: sa.Connection) -> None:
    projects.remove_member(connection, "sleep", "bob", by=BOB, now=NOW)


def be_removed(connection: sa.Connection) -> None:
    projects.remove_member(connection, "sleep", "bob", by=ADA, now=NOW)


def close(connection: sa.Connection) -> None:
    projects.close(connection, "sleep", by=ADA, now=NOW)


ENDINGS = (
    (end_grant, "has no longer a grant of heights"),
    (withdraw, "has no longer a grant of heights"),
    (leave, "no project sleep of yours"),
    (be_removed, "no project sleep of yours"),
    (close, "sleep is closed"),
)


def test_what_ends_access_ends_it_at_once(connection, subtests):
    given_grant(connection)
    check(connection)
    for ending, words in ENDINGS:
        with subtests.test(msg=ending.__name__), undone(connection):
            ending(connection)
            with refuses(words, NotAllowed):
                check(connection)
            assert seen(connection, BOB) == []
            with pytest.raises(NotFound, match="no data set heights that you may use"):
                datasets.newest(connection, "heights", BOB)
            # the account stays; nothing new can be reserved on it by way of the project
            assert share(connection).cap == 2_000_000


def test_the_clock_ends_a_project_and_a_grant(connection):
    given_grant(connection, ends_on=str(last_day() - timedelta(days=1)))
    check(connection, now=AFTER - timedelta(days=1, seconds=1))
    with refuses("has no longer a grant", NotAllowed):
        check(connection, now=AFTER - timedelta(seconds=1))
    with refuses(f"sleep ended on {last_day()}", NotAllowed):
        check(connection, now=AFTER)
    assert grants.granted_to(connection, BOB, AFTER - timedelta(days=2)) == {"heights"}
    assert grants.granted_to(connection, BOB, AFTER - timedelta(seconds=1)) == frozenset()
    assert projects.get(connection, "sleep").state(AFTER) is ProjectState.ENDED


def test_jobs_on_their_way_outlive_a_grant(connection):
    given_grant(connection)
    job = given_job(connection, author="bob", project="sleep", state=JobState.PREPARING)
    assert grants.unfinished(connection, grants.find(connection, "sleep", "heights")) == 1
    end_grant(connection)
    ledger.charge(connection, job_id=job.id, now=NOW)
    assert share(connection).spent == 500_000


def test_amounts_change_within_the_whole_and_what_is_taken(connection):
    given_grant(connection)
    given_job(connection, author="bob", project="sleep")
    change = {"project": "sleep", "dataset": "heights", "by": HOLDER, "now": NOW}
    granting.change(connection, terms=terms(amounts={"epsilon": "0.5"}), **change)
    assert share(connection).cap == 500_000
    for amount, words in (
        ("0.4", r"0\.5 of this allocation is taken already"),
        ("11", "more than the whole"),
    ):
        with refuses(words, InvalidRequest), connection.begin_nested():
            granting.change(connection, terms=terms(amounts={"epsilon": amount}), **change)
    with refuses("no budget of rho"), connection.begin_nested():
        granting.change(connection, terms=terms(amounts={"rho": "1"}), **change)
    with refuses("Name what changes", InvalidRequest):
        granting.change(connection, terms=terms(reason="Nothing."), **change)
    earlier = granting.change(connection, terms=terms(ends_on=str(NOW.date())), **change)
    assert (earlier.ends_on, share(connection).cap) == (NOW.date(), 500_000)
    assert grants.granted_to(connection, BOB, NOW + timedelta(days=1)) == frozenset()
    granting.change(connection, terms=terms(ends_on=str(last_day())), **change)
    assert grants.granted_to(connection, BOB, NOW + timedelta(days=1)) == {"heights"}


CANNOT_BE = (
    ({}, "amounts: are missing"),
    ({"amounts": {"epsilon": "1"}, "ends_on": str(last_day() + timedelta(days=1))}, "after the project's"),
    ({"amounts": {"epsilon": "1"}, "ends_on": "2026-03-01"}, "2026-03-01 is over"),
    ({"amounts": {"epsilon": "10.000001"}}, "more than the whole budget of 10"),
)


def test_a_grant_that_cannot_be_leaves_the_ask_as_it_was(connection, subtests):
    asked = given_ask(connection)
    for fields, words in CANNOT_BE:
        with subtests.test(msg=words):
            with refuses(words, InvalidRequest), connection.begin_nested():
                granting.grant(
                    connection, project="sleep", dataset="heights", terms=terms(**fields), by=HOLDER, now=NOW
                )
            assert grants.find(connection, "sleep", "heights") == asked
            assert share(connection) is None


def test_refused_asked_again_and_granted(connection):
    given_ask(connection)
    with refuses("heights is asked for already", Conflict):
        given_ask(connection)
    refused = granting.refuse(
        connection, project="sleep", dataset="heights", reason="Say more.", by=HOLDER, now=NOW
    )
    assert (refused.state, refused.reason, refused.decided_by) == (GrantState.REFUSED, "Say more.", "holder")
    with refuses("was refused heights", NotAllowed):
        check(connection)
    given_grant(connection)
    check(connection)
    with refuses("heights is granted already", Conflict):
        given_ask(connection)
    with refuses("this is GRANTED now, not ASKED", Conflict):
        granting.refuse(connection, project="sleep", dataset="heights", reason="x", by=HOLDER, now=NOW)


def test_every_step_is_on_record(connection):
    given_grant(connection, reason="A good plan.")
    end_grant(connection)
    number = grants.find(connection, "sleep", "heights").number
    events = history.events(connection, Wanted(), among=history.about(f"grant:{number}"))
    assert [(event.action, event.actor, event.details["reason"]) for event in events] == [
        ("grant.end", "holder", "Done."),
        ("grant.give", "holder", "A good plan."),
        ("grant.ask", "ada", "Its ages, for the comparison."),
    ]
    assert events[1].details["amounts"] == {"epsilon": "2"}
    of_project = history.events(connection, Wanted(), among=history.about("project:sleep"))
    assert [event.action for event in of_project] == ["project.members", "project.make"]
    seen = {}
    for holder in (HOLDER, RIVAL):
        own = history.concerning(connection, holder)
        seen[holder.name] = {e.subject for e in history.events(connection, Wanted(), among=own)}
    assert {f"grant:{number}", "project:sleep"} <= seen["holder"]
    assert not {f"grant:{number}", "project:sleep"} & seen["rival"]
    assert audit.verify(connection).intact


def test_only_its_rights_holder_decides_on_a_grant(connection):
    given_ask(connection)
    asked = {"project": "sleep", "dataset": "heights", "now": NOW}
    steps = (
        lambda by: granting.grant(connection, terms=terms(amounts={"epsilon": "1"}), by=by, **asked),
        lambda by: granting.refuse(connection, reason="x", by=by, **asked),
    )
    for step in steps:
        for stranger in (RIVAL, EVE, OLGA):
            with refuses("there is no project sleep of yours", NotFound):
                step(stranger)
        with refuses("there is no grant of heights to sleep for you", NotFound):
            step(ADA)
    assert grants.waiting_asks(connection, RIVAL) == []
    assert [grant.dataset for grant in grants.waiting_asks(connection, HOLDER)] == ["heights"]


def test_an_ask_does_not_say_whether_there_is_such_a_data_set(connection):
    there, absent = given_ask(connection), given_ask(connection, dataset="nothing")
    same = {"number": 0, "dataset": "x"}
    assert there.model_copy(update=same) == absent.model_copy(update=same)
    assert [grant.dataset for grant in grants.waiting_asks(connection, HOLDER)] == ["heights"]


def test_people_are_told_of_what_others_did(connection):
    for name in ("ada", "bob", "holder", "rival"):
        channels.add_webhook(connection, name, "https://hooks.example.org/in", NOW)
    given_grant(connection)
    given_ask(connection, dataset="nothing")
    end_grant(connection)

    def told(name: str) -> list[tuple[str, Any, Any]]:
        found = [one.notice for one in notices.of_user(connection, name)]
        return sorted((one.kind, one.facts["dataset"], one.facts.get("decision")) for one in found)

    assert told("holder") == [("grant_asked", "heights", None)]
    assert told("ada") == [("grant_decided", "heights", "end"), ("grant_decided", "heights", "give")]
    assert told("bob") == told("rival") == []
