"""A row that somebody wrote past the platform, or a disk cut short, keeps nobody from reading the others:
each list shows the rest, whichever column it is. Of data sets, operators and their owners are told which."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import product

import httpx
import pytest
import sqlalchemy as sa
from gateways import all_routes
from serving import Console, words

from domain.entitlement import EntitlementRule, Right
from store import entitlements, users
from store.entitlement_tables import entitlement_rules
from store.tables import Moment, datasets, metadata

PEOPLE = ("ada", "holder", "olga")
WHO = ("holder", "olga", "rival")
# its own tests: tests/pages/test_spoilt_trail.py
ELSEWHERE = {"audit_events"}
COLUMNS = [
    (table.name, column.name)
    for table in metadata.sorted_tables
    for column in table.columns
    if isinstance(column.type, (sa.JSON, sa.Date, Moment)) and table.name not in ELSEWHERE
]
WIDE = [
    (table.name, column.name)
    for table in metadata.sorted_tables
    for column in table.columns
    if (table.name, column.name) not in COLUMNS and table.name not in ELSEWHERE
]
NO_LETTERS = b"\xffA"
NO_VALUES = {"no number": "x", "bytes": b"\xff\x00", "no letters": NO_LETTERS}
FELL = [
    *(("accounts", name) for name in ("cap", "reserved", "spent", "holder")),
    *(("workers", name) for name in ("slots", "skew_s", "version")),
    ("email_addresses", "address"), ("images", "name"), ("notices", "attempts"),
    ("webhooks", "url"),
]  # fmt: skip
KEY = ("platform_facts", "value")
WAYS = {"cut": '{"name": "hei', "another kind": "7", "a field of nobody's": '{"nobody": "\\u0000"}'}


def lists() -> list[str]:
    """All that is read without naming one thing."""
    found = {each.path for each in all_routes() if "GET" in each.methods and "{" not in each.path}
    return sorted(found - {"/logout"})


@contextmanager
def read_tables() -> Iterator[set[str]]:
    """The tables that are read meanwhile, by whatever connection of this process."""
    found: set[str] = set()
    names = re.compile(r"\b(" + "|".join(metadata.tables) + r")\b")

    def look(_1: object, _2: object, statement: str, *_3: object) -> None:
        found.update(names.findall(statement))

    sa.event.listen(sa.Engine, "before_cursor_execute", look)
    try:
        yield found
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", look)


@contextmanager
def spoilt(
    console: Console, table: str, column: str, text: str | bytes, where: str = "1 = 1"
) -> Iterator[None]:
    """Rows of a table; whole again afterwards."""
    with console.database.transaction() as connection:
        triggers = connection.execute(sa.text("SELECT name FROM sqlite_master WHERE type = 'trigger'"))
        for name in triggers.scalars().all():
            connection.execute(sa.text(f"DROP TRIGGER {name}"))
        connection.execute(sa.text(f"CREATE TABLE kept AS SELECT rowid AS row, {column} AS was FROM {table}"))
        value = "CAST(:text AS TEXT)" if text == NO_LETTERS else ":text"
        statement = f"UPDATE {table} SET {column} = {value} WHERE {column} IS NOT NULL AND {where}"
        connection.execute(sa.text(statement), {"text": text})
    try:
        yield
    finally:
        with console.database.transaction() as connection:
            back = f"UPDATE {table} SET {column} = (SELECT was FROM kept WHERE kept.row = {table}.rowid)"
            connection.execute(sa.text(back))
            connection.execute(sa.text("DROP TABLE kept"))


def ways_of(table: str, column: str) -> Mapping[str, str | bytes]:
    if (table, column) not in COLUMNS:
        return NO_VALUES
    return WAYS if isinstance(metadata.tables[table].c[column].type, sa.JSON) else {"no day": "infinity"}


@pytest.mark.parametrize(
    "are_all", [False, pytest.param(True, marks=pytest.mark.deep("each column in one way is asked above"))]
)
def test_no_list_fails_whatever_is_spoilt(console: Console, subtests: pytest.Subtests, are_all: bool) -> None:
    """Each column in one of the ways, asked by one of those who are shown a list; or in all, by everybody.
    Asked are the lists that read its table."""
    with console.database.transaction() as connection:
        tokens = {name: users.renew_token(connection, name=name) for name in PEOPLE}
    with ExitStack() as visits:
        visitors = {name: visits.enter_context(console.visit(name)) for name in PEOPLE}

        def status(name: str, path: str) -> int:
            by = {"Authorization": f"Bearer {tokens[name]}"} if path.startswith(("/api", "/metrics")) else {}
            return visitors[name].get(path, headers=by).status_code

        readers: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for path, name in product(lists(), PEOPLE):
            with read_tables() as tables:
                is_shown = status(name, path) == 200
            for table in tables if is_shown else ():
                readers[table][path].append(name)
        assert {name for names in readers["datasets"].values() for name in names} == set(PEOPLE)
        assert len(readers) > len(metadata.tables) / 2
        for number, (table, column) in enumerate([*COLUMNS, *(WIDE if are_all else [*FELL, KEY])]):
            ways = ways_of(table, column)
            # without a role nobody is shown a list, and without the zone's key there is none to be told
            well = [200] if (table, column) in (*COLUMNS, *FELL) else range(500)
            for way in list(ways) if are_all else [list(ways)[number % len(ways)]]:
                with (
                    suppress(sa.exc.IntegrityError),  # the database itself keeps that one out
                    subtests.test(f"{table}.{column}: {way}"),
                    spoilt(console, table, column, ways[way]),
                ):
                    for place, (path, names) in enumerate(readers[table].items()):
                        for name in names if are_all else [names[(number + place) % len(names)]]:
                            assert status(name, path) in well, (name, path)


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


def test_a_rule_that_is_spoilt_gives_nothing_and_keeps_nobody_from_a_login(console: Console) -> None:
    def known() -> dict[int, EntitlementRule]:
        with console.database.transaction() as connection:
            names = connection.execute(sa.select(entitlement_rules.c.entitlement)).scalars()
            return entitlements.matching(connection, frozenset(names))

    whole = {number for number, rule in known().items() if rule.gives is not Right.ROLE}
    assert len(whole) < len(known())
    with spoilt(console, "entitlement_rules", "about", "<'\n\t>", "gives = 'role'"):
        assert known().keys() == whole
        with console.visit("olga") as olga:
            assert olga.get("/operation/entitlements").status_code == 200


def test_in_place_of_an_amount_that_cannot_be_read_is_the_sentence(console: Console) -> None:
    with console.database.reading() as connection:
        cohort = connection.execute(sa.select(datasets.c.cohort).where(datasets.c.name == "heights")).scalar()
    said = f"what is on record of the budget of cohort {cohort} cannot be read"
    with (
        spoilt(console, "accounts", "spent", "much", f"cohort = '{cohort}' AND kind = 'cohort'"),
        console.visit("holder") as holder,
        console.visit("olga") as olga,
        console.visit("ada") as ada,
    ):
        for visitor, path in ((holder, "/"), (holder, "/budget"), (ada, "/budget"), (olga, "/operation")):
            assert said in words(visitor.get(path)), path
        assert ada.get("/budget/heights").status_code == 409
