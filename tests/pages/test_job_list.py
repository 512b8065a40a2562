"""The list of jobs as a page: parts, filters, and what was mistyped."""

from __future__ import annotations

import html
import re

import sqlalchemy as sa
from serving import Console, words
from story import RELEASED, WAITING

from store.tables import jobs as rows

OLDER = re.compile(r'href="(/jobs\?[^"]*before=[^"]*)"')


def test_older_jobs_are_behind_a_link_that_keeps_what_was_asked(console: Console) -> None:
    columns = [column for column in rows.c if column.name not in ("id", "once")]
    with console.database.transaction() as connection:
        (released,) = connection.execute(sa.select(*columns).where(rows.c.id == RELEASED))
        many = [{"id": f"job-many-{number:03d}", **released._mapping} for number in range(150)]
        connection.execute(sa.insert(rows), many)
    with console.visit("ada") as ada:
        first = ada.get("/jobs?show=released&dataset=heights")
        link = OLDER.search(first.text)
        assert link is not None
        path = html.unescape(link[1])
        second = ada.get(path)
    assert "show=released" in path and "dataset=heights" in path  # noqa: PT018
    numbers = [set(re.findall(r"/jobs/(job-many-\d{3})\"", part.text)) for part in (first, second)]
    assert not numbers[0] & numbers[1]
    assert len(numbers[0] | numbers[1]) == 150
    assert OLDER.search(second.text) is None


def test_a_list_shows_what_was_asked_for(shared_console: Console) -> None:
    with shared_console.visit("ada") as ada:
        everything, nothing = ada.get("/jobs").text, words(ada.get("/jobs?since=2999-01-01"))
        released = ada.get("/jobs?show=released").text
        elsewhere = ada.get("/jobs?dataset=commuters").text
    assert f"/jobs/{RELEASED}" in everything
    assert f"/jobs/{RELEASED}" in released
    assert WAITING not in released
    assert RELEASED not in elsewhere
    assert "No such job." in nothing


def test_what_was_mistyped_is_named_beside_its_field(shared_console: Console) -> None:
    with shared_console.visit("ada") as ada:
        for typed, said in (
            ("since=yesterday", 'id="since-wrong"'),
            ("dataset=No+Name", 'id="dataset-wrong"'),
            ("before=job-of-nobody", 'id="before-wrong"'),
        ):
            answer = ada.get(f"/jobs?{typed}")
            assert (answer.status_code, said in answer.text) == (200, True)
