"""The outbox and the channels: who is told what, by whom it is claimed, and whose it is."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from factories import given_dataset, given_job, given_user, make_job_request
from undone import undone

from domain.errors import Conflict, InvalidRequest, NotFound, TooMany
from domain.notice import CHOOSABLE, Channel, NoticeKind, NoticeState, SendProblem
from domain.permissions import Role
from domain.states import Actor, JobState
from privacy.cost import Currency
from store import channels, jobs, ledger, notices, outbox, users
from store.database import Database
from store.job_notices import tell_of_low_budget
from store.notice_tables import email_addresses, webhooks
from store.tables import accounts

HOOK = "https://hooks.example.org/in"


def told(connection: sa.Connection, name: str) -> list[tuple[NoticeKind, str]]:
    """Kind and state of all that somebody was told, as it came."""
    found = notices.of_user(connection, name)
    return sorted((one.notice.kind, str(one.notice.facts.get("state", ""))) for one in found)


def given_reach(connection: sa.Connection, *names: str, now: datetime) -> None:
    """A webhook for each of them."""
    for name in names:
        given_user(connection, name, Role.RIGHTS_HOLDER if "holder" in name else Role.DATA_USER)
        channels.add_webhook(connection, name, HOOK, now)


def test_each_channel_of_each_addressee_gets_a_row(database: Database, now: datetime):
    with database.transaction() as connection:
        given_reach(connection, "ada", "bob", now=now)
        channels.add_webhook(connection, "ada", f"{HOOK}/2", now)
        channels.set_address(connection, "ada", "ada@example.org", now)
        given_user(connection, "zoe")
        kind, to = NoticeKind.COMMENT, ("ada", "bob", "zoe", "ada")
        assert notices.tell(connection, kind=kind, subject="job-0001", to=to, now=now) == 3
        channels.confirm(connection, "ada", channels.new_code(connection, "ada", now), now)
        assert notices.tell(connection, kind=kind, subject="job-0001", to=to, now=now, by="bob") == 3
        channels.set_muted(connection, "ada", CHOOSABLE)  # the database knows each
        channels.set_muted(connection, "ada", [kind])
        assert notices.tell(connection, kind=kind, subject="job-0001", to=to, now=now) == 1
        other = NoticeKind.JOB_WAITS
        assert notices.tell(connection, kind=other, subject="job-0001", to=to, now=now) == 4
        users.disable(connection, name="ada", now=now)
        assert notices.tell(connection, kind=other, subject="job-0001", to=to, now=now) == 1


def test_a_refused_transaction_tells_nobody(database: Database, now: datetime):
    with database.transaction() as connection:
        given_reach(connection, "ada", now=now)

    def refused() -> None:
        with database.transaction() as connection:
            notices.tell(connection, kind=NoticeKind.COMMENT, subject="job-0001", to=["ada"], now=now)
            raise NotFound("job", "there is no such job.")

    with pytest.raises(NotFound):
        refused()
    with database.reading() as connection:
        assert notices.of_user(connection, "ada") == []


def test_a_moment_of_a_notice_has_whole_seconds(database: Database, now: datetime):
    with database.transaction() as connection:
        given_reach(connection, "ada", now=now)
        late = now + timedelta(microseconds=123456)
        notices.tell(connection, kind=NoticeKind.RELEASE_READY, subject="job-0001", to=["ada"], now=late)
        assert notices.of_user(connection, "ada")[0].notice.at == now


def test_the_life_of_a_job_reaches_its_author(database: Database, now: datetime):
    with database.transaction() as connection:
        given_reach(connection, "ada", "holder", now=now)
        for state in (JobState.RELEASED, JobState.WITHHELD, JobState.REJECTED, JobState.ERRORED):
            given_job(connection, state=state, project=None, mechanism=_epsilon(state))
        waiting = given_job(connection, mechanism=_epsilon(JobState.SUBMITTED))
        jobs.move(
            connection, waiting.id, JobState.SUBMITTED, JobState.QUEUED, actor=Actor.RIGHTS_HOLDER,
            by="holder", now=now,
        )  # fmt: skip
        # one's own withdrawal is no news
        jobs.move(
            connection,
            waiting.id,
            JobState.QUEUED,
            JobState.CANCELLED,
            actor=Actor.DATA_USER,
            by="ada",
            now=now,
        )
        assert told(connection, "ada") == [
            (NoticeKind.JOB_DECIDED, "QUEUED"), (NoticeKind.JOB_DECIDED, "REJECTED"),
            (NoticeKind.JOB_DECIDED, "WITHHELD"), (NoticeKind.JOB_FAILED, "ERRORED"),
            (NoticeKind.RELEASE_READY, "RELEASED"),
        ]  # fmt: skip
        facts = [one.notice.facts for one in notices.of_user(connection, "ada")]
        assert {frozenset(one) for one in facts} == {frozenset({"dataset", "state"})}


def test_little_budget_is_told_once(database: Database, now: datetime):
    with database.transaction() as connection:
        given_reach(connection, "ada", "holder", now=now)
        dataset = given_dataset(connection, budget_epsilon="1")
        for number, epsilon in enumerate(("0.5", "0.3", "0.1")):
            jobs.submit(
                connection, job_id=f"job-000{number}", author="ada", dataset=dataset,
                request=make_job_request(mechanism={"name": "sample_aggregate", "epsilon": epsilon}),
                image_digest=None, now=now,
            )  # fmt: skip
            count = len(told(connection, "holder"))
            assert count == (0 if number == 0 else 1)
        # what comes back and goes again is told no more
        jobs.move(
            connection, "job-0002", JobState.SUBMITTED, JobState.CANCELLED, actor=Actor.DATA_USER, now=now
        )
        (notice,) = notices.of_user(connection, "holder")
        assert notice.notice.facts == {"dataset": "heights", "currency": "epsilon", "percent": 80}
        assert told(connection, "ada") == []


def test_four_fifths_are_counted_in_whole_units(database: Database, now: datetime, subtests: pytest.Subtests):
    with database.transaction() as connection:
        given_reach(connection, "holder", now=now)
        dataset = given_dataset(connection)
        known = {"cohort": dataset.cohort, "kind": "user", "holder": "ada", "currency": Currency.RELEASES}
        for cap, taken, low in ((5, 3, False), (5, 4, True), (1, 1, True), (2**61, 2**60, False)):
            with subtests.test(msg=f"{taken} of {cap}"), undone(connection):
                ledger.open_account(connection, **known, cap=cap)
                own = sa.update(accounts).where(accounts.c.holder == "ada")
                connection.execute(own.values(reserved=taken))
                tell_of_low_budget(connection, cohort=dataset.cohort, dataset=dataset.name, by="ada", now=now)
                assert len(told(connection, "holder")) == low


def test_nobody_touches_what_is_somebody_else_s(database: Database, now: datetime):
    with database.transaction() as connection:
        given_reach(connection, "ada", "bob", now=now)
        (hook,) = channels.list_webhooks(connection, "ada")
        notices.tell(connection, kind=NoticeKind.COMMENT, subject="job-0001", to=["ada"], now=now)
        (delivery,) = notices.of_user(connection, "ada")
        notice_id = delivery.notice.id
        for forbidden in (
            lambda: channels.get_webhook(connection, "bob", hook.id),
            lambda: channels.remove_webhook(connection, "bob", hook.id),
            lambda: channels.rotate_secret(connection, "bob", hook.id, now),
            lambda: notices.get(connection, "bob", notice_id),
            lambda: notices.retry(connection, "bob", notice_id, now),
        ):
            with pytest.raises(NotFound):
                forbidden()
        assert channels.signing_secrets(connection, "bob", hook.id, now) is None
        with pytest.raises(Conflict, match="WAITING"):
            notices.retry(connection, "ada", notice_id, now)


def test_a_code_confirms_once_for_a_day_and_for_its_user(database: Database, now: datetime):
    with database.transaction() as connection:
        for name in ("ada", "bob"):
            given_user(connection, name)
            channels.set_address(connection, name, f"{name}@example.org", now)
        old = channels.new_code(connection, "ada", now)
        code = channels.new_code(connection, "ada", now)
        assert code not in str(connection.execute(sa.select(email_addresses)).all())
        for name, typed, at in (
            ("bob", code, now), ("ada", old, now), ("ada", "", now), ("ada", "x", now),
            ("ada", code, now + timedelta(days=1)), ("zoe", code, now), ("bob", "", now),
        ):  # fmt: skip
            with pytest.raises((InvalidRequest, NotFound)):
                channels.confirm(connection, name, typed, at)
        channels.confirm(connection, "ada", code, now)
        with pytest.raises(NotFound):
            channels.confirm(connection, "ada", code, now)
        assert not channels.set_address(connection, "ada", "ada@example.org", now)
        assert channels.set_address(connection, "ada", "ada@example.net", now)
        found = channels.find_address(connection, "ada")
        assert found is not None
        assert found.confirmed_at is None


def test_limits_of_what_people_cause_at_will(database: Database, now: datetime):
    with database.transaction() as connection:
        given_user(connection, "ada")
        asked = {"kind": NoticeKind.CONFIRMATION, "name": "ada", "channel": Channel.EMAIL}
        for _ in range(5):
            notices.tell_channel(connection, **asked, now=now)
        with pytest.raises(TooMany) as refused:
            notices.tell_channel(connection, **asked, now=now + timedelta(hours=1))
        assert refused.value.retry_after_s == 23 * 3600
        notices.tell_channel(connection, **asked, now=now + timedelta(days=1))
        for number in range(channels.MOST_WEBHOOKS):
            channels.add_webhook(connection, "ada", f"{HOOK}/{number}", now)
        with pytest.raises(Conflict, match="5 webhooks"):
            channels.add_webhook(connection, "ada", f"{HOOK}/more", now)
        with pytest.raises(InvalidRequest, match="cannot be switched off"):
            channels.set_muted(connection, "ada", [NoticeKind.CONFIRMATION])


def test_an_address_that_was_removed_does_not_make_room_for_more_mails(database: Database, now: datetime):
    with database.transaction() as connection:
        given_user(connection, "ada")
        for number in range(5):
            channels.set_address(connection, "ada", f"victim{number}@example.org", now)
            notices.tell_channel(
                connection, kind=NoticeKind.CONFIRMATION, name="ada", channel=Channel.EMAIL, now=now
            )
            (claimed,) = outbox.claim(connection, now, limit=9)
            outbox.finish(connection, claimed, None, now)
        channels.remove_address(connection, "ada")
        with pytest.raises(TooMany):
            notices.tell_channel(
                connection, kind=NoticeKind.CONFIRMATION, name="ada", channel=Channel.EMAIL, now=now
            )


def test_the_operator_sees_counts_and_revives_one_sort(database: Database, now: datetime):
    with database.transaction() as connection:
        given_reach(connection, "ada", now=now)
        for kind, problem in (
            (NoticeKind.COMMENT, SendProblem.NO_CHANNEL), (NoticeKind.JOB_DECIDED, SendProblem.NO_CHANNEL),
            (NoticeKind.COMMENT, None),
        ):  # fmt: skip
            notices.tell(connection, kind=kind, subject="job-0001", to=["ada"], now=now)
            (claimed,) = outbox.claim(connection, now, limit=9)
            outbox.finish(connection, claimed, problem, now)
        assert {(one.kind, one.state, one.count) for one in notices.standing(connection)} == {
            (NoticeKind.COMMENT, NoticeState.DEAD, 1), (NoticeKind.COMMENT, NoticeState.SENT, 1),
            (NoticeKind.JOB_DECIDED, NoticeState.DEAD, 1),
        }  # fmt: skip
        assert notices.retry_all(connection, problem=SendProblem.TIMEOUT, now=now) == 0
        assert notices.retry_all(connection, kind=NoticeKind.COMMENT, channel=Channel.WEBHOOK, now=now) == 1
        assert notices.retry_all(connection, now=now) == 1
        assert len(outbox.claim(connection, now, limit=9)) == 2


def test_old_notices_are_forgotten(database: Database, now: datetime):
    with database.transaction() as connection:
        given_reach(connection, "ada", now=now)
        for problem in (None, SendProblem.NO_CHANNEL):
            notices.tell(connection, kind=NoticeKind.COMMENT, subject="job-0001", to=["ada"], now=now)
            (claimed,) = outbox.claim(connection, now, limit=9)
            outbox.finish(connection, claimed, problem, now)
        assert outbox.forget_old(connection, now + outbox.SENT_KEPT) == 0
        assert outbox.forget_old(connection, now + outbox.DEAD_KEPT) == 1
        assert outbox.forget_old(connection, now + outbox.DEAD_KEPT + timedelta(seconds=1)) == 1


def test_secrets_are_long_and_never_shown_by_accident(database: Database, now: datetime):
    with database.transaction() as connection:
        given_user(connection, "ada")
        hook, secret = channels.add_webhook(connection, "ada", HOOK, now)
        found = channels.signing_secrets(connection, "ada", hook.id, now)
        assert found is not None
        assert connection.execute(sa.select(webhooks.c.secret)).scalar_one() == secret
    assert len(secret) >= len("whsec_") + 44
    assert secret not in repr(found) + repr(hook)


def _epsilon(state: JobState) -> dict[str, str]:
    """Another question for each."""
    return {"name": "sample_aggregate", "epsilon": f"0.{1 + list(JobState).index(state)}"}


def test_mails_that_are_on_their_way_count_though_their_address_is_removed(database: Database, now: datetime):
    """Else whoever removes it in time sends as many codes as they like to somebody else's address."""
    with database.transaction() as connection:
        given_user(connection, "ada")

    def bother() -> None:
        with database.transaction() as connection:
            channels.set_address(connection, "ada", "victim@example.org", now)
            notices.tell_channel(
                connection, kind=NoticeKind.CONFIRMATION, name="ada", channel=Channel.EMAIL, now=now
            )
        with database.transaction() as connection:
            (claimed,) = outbox.claim(connection, now, limit=1)
        with database.transaction() as connection:
            channels.remove_address(connection, "ada")
        with database.transaction() as connection:
            outbox.finish(connection, claimed, None, now)

    for _ in range(notices.MOST_A_DAY[NoticeKind.CONFIRMATION]):
        bother()
    with pytest.raises(TooMany, match="within a day"):
        bother()
