"""Notices on pages: channels are set, secrets are shown once, and what was given up is tried again."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from serving import Console, words
from told_notices import ADDRESS, HOOK, only_dead

from domain.notice import CHOOSABLE, NoticeKind, NoticeState
from store import channels, notices

PAGE = "/account/notices"
NEW = "https://hooks.example.org/new"


def test_a_webhook_s_secret_is_shown_once(console: Console):
    with console.visit("bob") as bob:
        answer = bob.send(f"{PAGE}/webhooks", url=NEW)
        (secret,) = re.findall(r"whsec_[A-Za-z0-9+/=]+", answer.text)
        assert NEW in bob.get(PAGE).text
        assert "whsec_" not in bob.get(PAGE).text
        (hook,) = re.findall(rf'action="({PAGE}/webhooks/[0-9a-f]+)"', bob.get(PAGE).text)
        rotated = re.findall(r"whsec_[A-Za-z0-9+/=]+", bob.send(hook, action="rotate").text)
        assert rotated != [secret]
        assert bob.send(hook, action="test").status_code == 303
        assert "This is a test" in words(bob.get(PAGE))
        assert bob.send(hook, action="explode").status_code == 422
        assert bob.send(hook, action="remove").status_code == 303
        assert NEW not in bob.get(PAGE).text


def test_what_was_typed_is_kept_and_the_problem_stands_beside_it(console: Console):
    with console.visit("bob") as bob:
        answer = bob.send(f"{PAGE}/webhooks", url="https://elsewhere.example.org/?a=<b>")
        assert answer.status_code == 422
        assert "url: is no address." in words(answer)
        assert "https://elsewhere.example.org/?a=&lt;b&gt;" in answer.text
        answer = bob.send(f"{PAGE}/webhooks", url="https://elsewhere.example.org/")
        assert "Ask the operator to add it to the list." in words(answer)
        answer = bob.send(f"{PAGE}/email", address='bob"@example.org')
        assert answer.status_code == 422
        assert 'value="bob&#34;@example.org"' in answer.text
    with console.database.reading() as connection:
        assert channels.list_webhooks(connection, "bob") == []
        assert channels.find_address(connection, "bob") is None


def test_looking_at_the_link_of_a_mail_confirms_nothing_and_its_button_does(console: Console):
    with console.visit("bob") as bob:
        assert bob.send(f"{PAGE}/email", address="bob@example.org").status_code == 303
        with console.database.transaction() as connection:
            code = channels.new_code(connection, "bob", datetime.now(UTC))
        link = bob.get(f"{PAGE}?code={code}")
        assert f'value="{code}"' in link.text
        assert "not yet confirmed" in words(bob.get(PAGE))
        wrong = bob.send(f"{PAGE}/email/confirmation", code="wrong")
        assert (wrong.status_code, 'value="wrong"' in wrong.text) == (422, True)
        with console.visit("ada") as ada:
            assert ada.send(f"{PAGE}/email/confirmation", code=code).status_code == 404
        assert bob.send(f"{PAGE}/email/confirmation", code=code).status_code == 303
        assert "bob@example.org confirmed" in words(bob.get(PAGE))
        assert bob.send(f"{PAGE}/email/removal").status_code == 303
        assert "bob@example.org" not in bob.get(PAGE).text


def test_a_code_in_an_address_comes_back_as_text(shared_console: Console):
    with shared_console.visit("bob") as bob:
        answer = bob.get(PAGE, params={"code": '"><script>alert(1)</script>'})
    assert "<script>alert" not in answer.text


def test_boxes_that_are_not_ticked_are_off_and_what_is_not_offered_stays(console: Console):
    with console.database.transaction() as connection:
        channels.set_muted(connection, "ada", [NoticeKind.JOB_WAITS, NoticeKind.COMMENT])
    with console.visit("ada") as ada:
        ada.send(f"{PAGE}/kinds", kinds=str(NoticeKind.COMMENT))
        page = ada.get(PAGE).text
    assert re.findall(r'name="kinds" value="(\w+)" checked', page) == ["comment"]
    with console.database.reading() as connection:
        off = channels.muted(connection, "ada")
    assert NoticeKind.JOB_WAITS in off
    assert NoticeKind.COMMENT not in off
    assert NoticeKind.TWIN_WAITS not in off
    assert off < set(CHOOSABLE)


def test_what_was_given_up_is_tried_again_by_its_user_alone(console: Console):
    with console.database.reading() as connection:
        notice = only_dead(connection, "ada")
    with console.visit("bob") as bob, console.visit("holder") as holder:
        assert bob.send(f"{PAGE}/sent/{notice}").status_code == 404
        assert holder.send(f"{PAGE}/sent/{notice}").status_code == 404
    with console.visit("ada") as ada:
        assert "The other side answered, but did not take it." in words(ada.get(PAGE))
        assert ada.send(f"{PAGE}/sent/{notice}").status_code == 303
        assert ada.send(f"{PAGE}/sent/{notice}").status_code == 409
    with console.database.reading() as connection:
        assert notices.get(connection, "ada", notice).state is NoticeState.WAITING


def test_the_operator_s_button_tries_one_sort_again(console: Console):
    with console.visit("olga") as olga:
        page = olga.get("/operation/notices")
        assert ADDRESS not in page.text
        assert HOOK.split("?")[0] not in page.text
        assert "ada" not in words(page)
        wrong = olga.send("/operation/notices", channel="email", problem="explosion")
        assert wrong.status_code == 422
        none = olga.send("/operation/notices", channel="webhook", kind="comment")
        assert none.headers["location"] == "/operation/notices?retried=0"
        done = olga.send("/operation/notices", channel="webhook", kind="release_ready", problem="refused")
        assert done.headers["location"] == "/operation/notices?retried=1"
        assert "1 notice will be tried again" in words(olga.get(done.headers["location"]))


def test_forms_of_somebody_else_s_page_change_nothing(console: Console):
    with console.visit("ada") as ada, console.visit("olga") as other:
        foreign = other.hidden_field()
        for path in ("email/removal", "webhooks", "kinds", "email"):
            answer = ada.client.post(f"{PAGE}/{path}", data={"csrf": foreign, "url": NEW})
            assert answer.status_code == 403
        assert ADDRESS in ada.get(PAGE).text
