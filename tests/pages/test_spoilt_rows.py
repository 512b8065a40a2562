"""A row that somebody wrote past the platform, or a disk cut short, keeps nobody from reading the others:
each list shows the rest, whichever column it is. Of data sets, operators and their owners are told which."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product

import httpx
import pytest
import sqlalchemy as sa
from gateways import all_routes
from serving import Console, words

from store import users
from store.tables import metadata

PEOPLE = ("ada", "holder", "olga")
WHO = ("holder", "olga", "rival")
# its own tests: tests/pages/test_spoilt_trail.py
ELSEWHERE = {"audit_events"}
COLUMNS = [
    (table.name, column.name)
    for table in metadata.sorted_tables
    for column in table.columns
    if isinstance(column.type, sa.JSON) and table.name not in ELSEWHERE
]
WAYS = {"cut": '{"name": "hei', "another kind": "7", "a field of nobody's": '{"nobody": "\\u0000"}'}


def lists() -> list[str]:
    """All that is read without naming one thing."""
    found = {each.path for each in all_routes() if "GET" in each.methods and "{" not in each.path}
    return sorted(found - {"/logout"})


@contextmanager
def spoilt(console: Console, table: str, column: str, text: str, where: str = "1 = 1") -> Iterator[None]:
    """Rows of a table; whole again afterwards."""
    with console.database.transaction() as connection:
        triggers = connection.execute(sa.text("SELECT name FROM sqlite_master WHERE type = 'trigger'"))
        for name in triggers.scalars().all():
            connection.execute(sa.text(f"DROP TRIGGER {name}"))
        connection.execute(sa.text(f"CREATE TABLE kept AS SELECT rowid AS row, {column} AS was FROM {table}"))
        statement = f"UPDATE {table} SET {column} = :text WHERE {column} IS NOT NULL AND {where}"
        connection.execute(sa.text(statement), {"text": text})
    try:
        yield
    finally:
        with console.database.transaction() as connection:
            back = f"UPDATE {table} SET {column} = (SELECT was FROM kept WHERE kept.row = {table}.rowid)"
            connection.execute(sa.text(back))
            connection.execute(sa.text("DROP TABLE kept"))


@pytest.mark.parametrize(
    "are_all", [False, pytest.param(True, marks=pytest.mark.deep("each column in one way is asked above"))]
)
def test_no_list_fails_whatever_is_spoilt(console: Console, subtests: pytest.Subtests, are_all: bool) -> None:
    """Each column in one of the ways, or in all."""
    with console.database.transaction() as connection:
        tokens = {name: users.renew_token(connection, name=name) for name in PEOPLE}
    with ExitStack() as visits:
        visitors = {name: visits.enter_context(console.visit(name)) for name in PEOPLE}

        def status(name: str, path: str) -> int:
            by = {"Authorization": f"Bearer {tokens[name]}"} if path.startswith(("/api", "/metrics")) else {}
            return visitors[name].get(path, headers=by).status_code

        shown = [asked for asked in product(PEOPLE, lists()) if status(*asked) == 200]
        assert {name for name, _ in shown} == set(PEOPLE)
        for number, (table, column) in enumerate(COLUMNS):
            for way in list(WAYS) if are_all else [list(WAYS)[number % len(WAYS)]]:
                with subtests.test(f"{table}.{column}: {way}"), spoilt(console, table, column, WAYS[way]):
                    assert {asked: found for asked in shown if (found := status(*asked)) != 200} == {}


def test_the_others_are_shown_and_the_spoilt_one_is_named(console: Console) -> None:
    with console.database.transaction() as connection:
        tokens = {name: users.renew_token(connection, name=name) for name in PEOPLE}

    def ask(name: str, path: str) -> httpx.Response:
        with console.visit() as nobody:
            return nobody.get(f"/api/v1{path}", headers={"Authorization": f"Bearer {tokens[name]}"})

    before = {each["name"] for each in ask("ada", "/datasets").json()}
    jobs = {each["id"] for each in ask("ada", "/jobs").json() if each["dataset"] != "heights"}
    said = "what is on record of data set heights cannot be read"
    for table, column in (("datasets", "declaration"), ("policies", "body")):
        with spoilt(console, table, column, WAYS["cut"], "name = 'heights'"):
            assert {each["name"] for each in ask("holder", "/datasets").json()} & before == before - {
                "heights"
            }
            seen = {each["name"] for each in ask("ada", "/datasets").json()}
            assert seen == before - {"heights"}
            assert {each["id"] for each in ask("ada", "/jobs").json()} == jobs
            refused = ask("holder", "/datasets/heights")
            assert (refused.status_code, said in refused.json()["detail"]) == (409, True)
            (sentence,) = ask("olga", "/operation").json()["unreadable"]
            assert said in sentence
            with (
                console.visit("holder") as holder,
                console.visit("olga") as olga,
                console.visit("rival") as rival,
            ):
                for visitor, path in ((holder, "/"), (olga, "/operation")):
                    assert said in words(visitor.get(path))
                assert holder.get("/datasets/heights").status_code == 409
                assert said not in words(rival.get("/"))
