"""What a notice may say, when it is tried again, and how it is signed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.errors import HeaderDefect, HeaderParseError

import pytest

from domain.notice import (
    CHOOSABLE,
    FACTS,
    MOST_ATTEMPTS,
    Notice,
    NoticeKind,
    SendProblem,
    check_facts,
    check_mail_address,
    check_subject,
    kinds_for,
    next_attempt,
    service_named,
)
from domain.permissions import Role
from gateway.notices.mail import message_of
from gateway.notices.webhook import signature
from gateway.pages.notices import MEANING

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
HOSTILE = ("a\r\nBcc: eve@example.org", "a\nb", "a\x00", "<b>", "é", "", "-x", "x" * 81)


def make_notice(kind: NoticeKind = NoticeKind.RELEASE_READY, **facts: str | int) -> Notice:
    return Notice("msg_0123", kind, "job-0001", NOW, check_facts(facts))


def test_attempts_come_later_and_later_and_end():
    waits = []
    for attempts in range(1, MOST_ATTEMPTS):
        at = next_attempt(attempts, NOW)
        assert at is not None
        waits.append(at - NOW)
    assert waits == sorted(waits)
    assert waits[0] == timedelta(minutes=1)
    assert waits[-1] == timedelta(hours=12)
    assert next_attempt(MOST_ATTEMPTS, NOW) is None


@pytest.mark.parametrize("name", ["reason", "value", "epsilon", "comment", "mean_age"])
def test_no_notice_carries_a_reason_or_a_number_of_a_release(name: str):
    assert name not in FACTS
    with pytest.raises(ValueError, match="no fact of a notice"):
        check_facts({name: "4"})


def test_a_service_is_named_whatever_a_provider_calls_it():
    for service, begins, named in (
        ("workbench", "workbench", "workbench"),
        ("https://bench.example/", "A service", "a service"),
        ("", "A service", "a service"),
    ):
        notice = make_notice(dataset="heights", through=service_named(service))
        assert notice.sentence.endswith(f"can be read. {begins} submitted it in your name.")
        ended = make_notice(NoticeKind.JOB_DECIDED, state="CANCELLED", canceller=service_named(service))
        assert ended.sentence == f"Your job on a data set was cancelled through {named}."
    assert make_notice(dataset="heights").sentence.endswith("can be read.")


def test_facts_are_plain_words_and_whole_numbers(subtests):
    for value in (*HOSTILE, 0.5, True):
        with subtests.test(value=value), pytest.raises(ValueError, match="plain word"):
            check_facts({"dataset": value})


def test_a_subject_is_an_id_or_a_name(subtests: pytest.Subtests):
    for subject in (*HOSTILE, "a b", "a/b", "a?b", "../x"):
        with subtests.test(subject=subject), pytest.raises(ValueError, match="subject"):
            check_subject(subject)


def test_every_kind_says_something_with_and_without_facts(subtests: pytest.Subtests):
    for kind in NoticeKind:
        with subtests.test(kind=kind):
            full = make_notice(kind, **dict.fromkeys(FACTS, "heights"))
            bare = make_notice(kind)
            for notice in (full, bare):
                assert notice.sentence.endswith(".")
                assert "{" not in notice.sentence + notice.path
                assert notice.path.startswith("/")
            assert kind in MEANING


def test_every_kind_that_can_be_switched_off_is_somebody_s():
    assert {kind for role in Role for kind in kinds_for(role)} == set(CHOOSABLE)


def test_every_problem_has_a_sentence():
    assert all(problem.sentence.endswith(".") for problem in SendProblem)


@pytest.mark.parametrize(
    "hostile", ["a@b.org\r\nBcc: eve@e.org", "a@b.org\n", '"a\nb"@c.org', "a@b\r\n c.org"]
)
def test_no_address_can_end_a_header(hostile: str):
    """Addresses are checked when they are typed; the mail itself is the second lock."""
    with pytest.raises(ValueError, match=r"must be an e-mail address"):
        check_mail_address(hostile)
    with pytest.raises((ValueError, HeaderParseError, HeaderDefect)):
        message_of(make_notice(), to=hostile, sender="dpgate@e.org", public_url=None, code=None, now=NOW)


AN_ADDRESS_IS_ONE_PLAIN_ADDRESS = (
    "a@b.org, eve@e.org",
    "<a@b.org>",
    "Ada <a@b.org>",
    "a b@c.org",
    "a@",
    "@b",
    "a@b..org",
    "a@-b.org",
)


def test_an_address_is_one_plain_address(subtests: pytest.Subtests):
    for wrong in AN_ADDRESS_IS_ONE_PLAIN_ADDRESS:
        with subtests.test(wrong=wrong):
            with pytest.raises(ValueError, match=r"must be an e-mail address"):
                check_mail_address(wrong)
            assert check_mail_address("ada.l+dpgate@mail.example.org") == "ada.l+dpgate@mail.example.org"


def test_a_signature_is_that_of_the_specification():
    """The example that implementations of Standard Webhooks are tested with."""
    made = signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "1614265330",
        b'{"test": 2432232314}',
    )
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
