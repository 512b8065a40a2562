"""Users, tokens and images on record."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import timedelta

import pytest
import sqlalchemy as sa
from factories import IMAGE, NOW, given_image, given_user
from typer.testing import CliRunner

from domain.errors import Conflict, InvalidRequest, NotFound, Unauthenticated
from domain.permissions import Role
from dpgate.cli.app import whole
from store import images, users
from store.database import Database
from store.first_operator import token_of_operator
from store.identities import slug
from store.tables import audit_events as events
from store.zone_ledger import Kind
from worker.catching_up import zone_ledger


@pytest.fixture
def connection(database):
    with database.transaction() as connection:
        yield connection


@pytest.fixture
def token(connection):
    _, token = users.add(connection, name="ada", role=Role.DATA_USER, now=NOW)
    return token


def test_a_token_names_its_user(connection, token):
    assert users.authenticate(connection, token).name == "ada"


WRONG = {
    "nothing": lambda token: "",
    "its form": lambda token: "dpgate",
    "its dots": lambda token: "dpgate..",
    "one letter less": lambda token: token[:-1],
    "one letter more": lambda token: token + "x",
    "another last letter": lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"),
    "another form": lambda token: token.replace("dpgate", "other"),
    "capitals": lambda token: token.upper(),
    "a space before": lambda token: " " + token,
    "a line's end": lambda token: token + "\n",
    "another id": lambda token: token.replace(token.split(".")[1], "0" * 16),
    "no secret": lambda token: ".".join([*token.split(".")[:2], ""]),
    "zeros for dots": lambda token: token.replace(".", "\0"),
    "one in another": lambda token: f"dpgate.\0.{token}",
    "half a letter": lambda token: "dpgate.\ud800.x",
    "a statement": lambda token: "dpgate.' OR 1=1 --.x",
    "a megabyte": lambda token: "x" * 1_000_000,
}


def test_every_wrong_token_is_refused_in_the_same_words(connection, token, subtests):
    for what, change in WRONG.items():
        with subtests.test(msg=what):
            with pytest.raises(Unauthenticated) as refusal:
                users.authenticate(connection, change(token))
            said = str(refusal.value)
            assert (
                said
                == "authorization: the token is not valid. Log in with `dpgate login --url https://dpgate.example.org`."
            )


def test_only_a_hash_of_the_secret_is_kept(connection, token):
    kept = str(connection.execute(sa.text("SELECT * FROM users")).all())
    _, token_id, secret = token.split(".")
    assert token_id in kept
    assert secret not in kept


def test_a_renewed_token_replaces_the_old_one(connection, token):
    fresh = users.renew_token(connection, name="ada")
    assert users.authenticate(connection, fresh).name == "ada"
    with pytest.raises(Unauthenticated):
        users.authenticate(connection, token)
    with pytest.raises(NotFound, match="no user bob"):
        users.renew_token(connection, name="bob")


def test_a_name_is_taken_once(connection, token):
    with pytest.raises(Conflict, match="a user ada exists already"):
        users.add(connection, name="ada", role=Role.OPERATOR, now=NOW)
    assert [user.role for user in users.listed(connection)] == [Role.DATA_USER]


def test_unknown_members_are_named(connection, token):
    users.check_exist(connection, ("ada",))
    with pytest.raises(NotFound, match="members: there is no user bob"):
        users.check_exist(connection, ("ada", "bob"))


def test_an_image_runs_only_once_approved(connection):
    images.announce(connection, digest=IMAGE, name="python", description="", now=NOW)
    with pytest.raises(InvalidRequest, match="no image python is approved on this platform"):
        images.approved(connection, "python")
    images.approve(connection, digest=IMAGE, by="ops", now=NOW)
    found = images.approved(connection, "python")
    assert (found.digest, found.approved_by, found.approved_at) == (IMAGE, "ops", NOW)


def test_the_newest_approval_of_a_name_counts(connection):
    newer = "sha256:" + "2b" * 32
    given_image(connection)
    images.announce(connection, digest=newer, name="python", description="", now=NOW)
    assert images.approved(connection, "python").digest == IMAGE
    images.approve(connection, digest=newer, by="ops", now=NOW + timedelta(seconds=1))
    assert images.approved(connection, "python").digest == newer


def test_a_second_announcement_does_not_take_back_an_approval(connection):
    first = given_image(connection)
    again = images.announce(connection, digest=IMAGE, name="other", description="other", now=NOW)
    assert again == first
    assert images.listed(connection) == [first]


def test_an_unknown_image(connection):
    for call in (
        lambda: images.get(connection, "x"),
        lambda: images.approve(connection, digest="x", by="a", now=NOW),
    ):
        with pytest.raises(NotFound, match="no image x"):
            call()


def test_given_user_is_found_again(connection):
    assert given_user(connection, "eve") == given_user(connection, "eve")


def test_a_user_name_keeps_the_letters_of_what_somebody_is_called() -> None:
    called = {
        "José": "jose",
        "Øyvind": "oyvind",
        "O'Brien": "o-brien",
        "Nguyễn Đức": "nguyen-duc",
        "李": "user",
    }
    assert {name: slug(name) for name in called} == called


def test_whoever_has_the_database_makes_the_first_operator_and_renews_their_token(connection, token):
    first = token_of_operator(connection, name="olga", now=NOW)
    assert users.authenticate(connection, first).role is Role.OPERATOR
    second = token_of_operator(connection, name="olga", now=NOW)
    assert users.authenticate(connection, second).name == "olga"
    with pytest.raises(Unauthenticated):
        users.authenticate(connection, first)
    query = sa.select(events.c.actor, events.c.action, events.c.subject).order_by(events.c.number)
    assert [tuple(row) for row in connection.execute(query)] == [
        ("host", "user.add", "olga"),
        ("host", "user.renew_token", "olga"),
    ]


def test_a_name_that_is_taken_becomes_no_operator(connection, token):
    token_of_operator(connection, name="olga", now=NOW)
    users.disable(connection, name="olga", now=NOW)
    for name, why in (("ada", "has another role"), ("olga", "was disabled")):
        with pytest.raises(Conflict, match=why):
            token_of_operator(connection, name=name, now=NOW)
    assert users.authenticate(connection, token).role is Role.DATA_USER


def test_a_platform_begins_from_nothing_by_three_commands(tmp_path):
    """Tables, the first operator, the worker zone: what `dpgate up` does by itself."""
    url, folder = f"sqlite:///{tmp_path}/new.sqlite", tmp_path / "zone"

    def typed(*words):
        return CliRunner().invoke(whole(), [*words, "--database-url", url])

    assert typed("database", "upgrade", "--json").exit_code == 0
    found = json.loads(typed("database", "operator", "olga", "--json").stdout)
    with closing(Database(url)) as database, database.reading() as connection:
        assert users.authenticate(connection, found["token"]).name == "olga"
    begun = typed("zone", "begin", "--zone-folder", str(folder))
    assert "Keep a copy" in begun.stdout, begun.output
    with zone_ledger(folder).reading() as page:
        assert [entry.kind for entry in page.entries()] == [Kind.CAUGHT_UP]
    again = typed("zone", "begin", "--zone-folder", str(folder))
    assert "is not empty" in str(again.exception)
