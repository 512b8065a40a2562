"""A number that somebody wrote into releases past the platform is on no page, in no answer, in no command."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from serving import Console, words
from story import IN_REVIEW, RELEASED
from waiting import PATIENCE_S

from dpgate import Client
from dpgate.cli.app import run
from dpgate.cli.exit_codes import ExitCode
from dpgate.credentials import Login
from dpgate.errors import RequestRefused
from store import users

SAYS = "is not what the worker zone has signed"
FORGED = "77.125"
PAGES = {
    "ada": [f"/jobs/{RELEASED}/{what}" for what in ("release", "certificate.json", "files/result.tsv")],
    "holder": [f"/jobs/{RELEASED}/release", f"/reviews/{IN_REVIEW}"],
}


def forge(console: Console) -> None:
    """Somebody with the database's account makes the first number of each release another."""
    text = f"UPDATE releases SET body = json_set(body, '$.values[0].value', {FORGED})"
    with console.database.transaction() as connection:
        connection.execute(sa.text("DROP TRIGGER releases_no_update"))
        connection.execute(sa.text(text))


def test_no_page_shows_it_and_each_says_why(console: Console, subtests: pytest.Subtests) -> None:
    forge(console)
    for person, paths in PAGES.items():
        with console.visit(person) as visitor:
            for path in paths:
                with subtests.test(path):
                    answer = visitor.get(path)
                    assert answer.status_code == 409
                    assert FORGED not in answer.text
                    assert SAYS in words(answer)
            # what shows no number goes on
            assert visitor.get("/jobs").status_code == 200
            assert visitor.get(f"/jobs/{RELEASED}").status_code == 200


def test_no_program_is_given_it(
    console: Console,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    subtests: pytest.Subtests,
) -> None:
    forge(console)
    with console.database.transaction() as connection:
        tokens = {name: users.renew_token(connection, name=name) for name in ("ada", "holder")}
    monkeypatch.setenv("DPGATE_TOKEN", tokens["ada"])
    monkeypatch.setenv("DPGATE_URL", console.url)
    for command in (["result", RELEASED], ["result", RELEASED, "--json"], ["cite", RELEASED]):
        with subtests.test(" ".join(command)):
            assert run(command) == ExitCode.CONFLICT
            said = capsys.readouterr()
            assert FORGED not in said.out + said.err
            assert SAYS in " ".join((said.out + said.err).split())
    with Client(Login(console.url, tokens["ada"])) as client, pytest.raises(RequestRefused, match=SAYS):
        client.release(RELEASED)
    for name, path in (("ada", f"{RELEASED}/citation"), ("holder", f"{IN_REVIEW}/review")):
        with subtests.test(path), console.visit() as visitor:
            token = {"Authorization": f"Bearer {tokens[name]}"}
            answer = visitor.get(f"/api/v1/jobs/{path}", headers=token, timeout=PATIENCE_S)
            assert (answer.status_code, answer.json()["problems"][0]["code"]) == (409, "release_rewritten")
