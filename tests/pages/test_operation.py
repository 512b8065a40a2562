"""The operator's page and the figures for Prometheus: complete, and without a word about data or secrets."""

from __future__ import annotations

import re

import sqlalchemy as sa
from factories import IMAGE
from serving import Console, words
from story import PASSWORD
from told_workers import DRAINS, LIVE, LOST

from domain.image import ImageState
from domain.messages import WhyDropped
from domain.operation import StuckKind, WorkerState
from domain.states import JobState
from gateway.config import GatewaySettings
from gateway.pages.operation_platform import shown
from store import history, images, users
from store.operation_tables import workers

NEW = "sha256:" + "2b" * 32


def test_an_image_is_approved_for_a_table_and_withdrawn(console: Console):
    with console.visit("olga") as olga:
        assert olga.send(f"/operation/images/{NEW}", decision="approve").status_code == 422
        assert olga.send(f"/operation/images/{NEW}", decision="approve", syscalls="all").status_code == 422
        olga.send(f"/operation/images/{NEW}", decision="approve", syscalls="standard")
        olga.send(f"/operation/images/{IMAGE}", decision="withdraw")
    with console.database.reading() as connection:
        found = {image.digest: image for image in images.listed(connection)}
    assert found[NEW].state is ImageState.APPROVED
    assert found[NEW].syscalls == "standard"
    assert found[IMAGE].state is ImageState.WITHDRAWN


def test_reports_of_workers_are_sentences(shared_console: Console):
    with shared_console.visit("olga") as olga:
        text = words(olga.get("/operation/workers"))
    assert "started with profile standard; missing: cgroup." in text
    assert "was looked at with profile standard; every feature is there." in text


def test_two_workers_of_a_host_that_do_not_see_each_others_turns_are_told_apart(console: Console):
    with console.visit("olga") as olga:
        assert "not seen by" not in words(olga.get("/operation/workers"))
        with console.database.transaction() as connection:
            for name, door in ((LIVE, "1:1"), (DRAINS, "1:2"), (LOST, "1:3")):
                values = {"host": "one", "door": door}
                connection.execute(sa.update(workers).where(workers.c.name == name).values(**values))
        text = words(olga.get("/operation/workers"))
    assert f"not seen by {DRAINS} on the same host" in text
    assert f"not seen by {LIVE} on the same host" in text
    assert text.count("not seen by") == 2, "who is lost is not there"


def test_dropped_messages_are_counted_where_an_operator_looks(console: Console):
    with console.database.transaction() as connection:
        token = users.renew_token(connection, name="olga")
        counts = {WhyDropped.CODE: 3, WhyDropped.UNREADABLE: 1}
        connection.execute(sa.update(workers).where(workers.c.name == LIVE).values(dropped=counts))
        # of one that is gone, nobody can do anything about it
        connection.execute(sa.update(workers).where(workers.c.name == LOST).values(dropped={"more": 7}))
    with console.visit("olga") as olga:
        first, page = words(olga.get("/operation")), words(olga.get("/operation/workers"))
        figures = olga.get("/metrics", headers={"Authorization": f"Bearer {token}"}).text
        told = olga.get("/api/v1/operation/workers", headers={"Authorization": f"Bearer {token}"}).json()
    assert "dropped: 3 without a code of this platform and 1 that cannot be read. Look who writes" in first
    assert "4 messages since its start: 3 without a code of this platform, 1 that cannot be read" in page
    for reason, count in {"code": 3, "unreadable": 1, "unknown": 0, "more": 0}.items():
        assert f'dpgate_messages_dropped{{reason="{reason}"}} {count}\n' in figures
    assert {one["name"]: one["dropped"] for one in told}[LIVE] == counts


def test_settings_show_no_secret():
    settings = GatewaySettings(
        database_url=f"postgresql+psycopg://dpgate:{PASSWORD}@db/dpgate",
        broker_url=f"rediss://:{PASSWORD}@r/0",
    )
    found = dict(shown(settings))
    assert found["DPGATE_DATABASE_URL"] == "postgresql+psycopg (hidden)"
    assert PASSWORD not in str(found)
    assert set(found) == {f"DPGATE_{name.upper()}" for name in GatewaySettings.model_fields}


def test_metrics_need_the_token_of_an_operator_and_hold_fixed_labels(console: Console):
    with console.database.transaction() as connection:
        tokens = {name: users.renew_token(connection, name=name) for name in ("olga", "ada", "holder")}
    with console.visit() as nobody, console.visit("olga") as by_cookie:
        assert nobody.get("/metrics").status_code == 401
        assert by_cookie.get("/metrics").status_code == 401
        answers = {
            name: nobody.get("/metrics", headers={"Authorization": f"Bearer {token}"})
            for name, token in tokens.items()
        }
    assert {name: answer.status_code for name, answer in answers.items()} == {
        "olga": 200, "ada": 403, "holder": 403,
    }  # fmt: skip
    text = answers["olga"].text
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) .+|dpgate_[a-z_]+(\{[a-z]+="[^"]*"\})? \d+(\.\d+)?', line)
    labels = set(re.findall(r'(?:state|kind)="([^"]*)"', text))
    assert labels == {*JobState, *ImageState, *WorkerState, *StuckKind}
    with console.database.reading() as connection:
        released = history.jobs_by_state(connection)[JobState.RELEASED]
    assert f'dpgate_jobs{{state="RELEASED"}} {released}' in text
    assert released > 1
