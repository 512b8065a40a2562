"""Leaks of every kind, planted into a life: what the harness must see if it sees anything.

Each says whether the data are as they are or a neighbour's. MARKED ones do it in words, on their surface; the
others by a status, by a time, and by a flaw that imports once had.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import redis
import sqlalchemy as sa
from starlette.responses import HTMLResponse

MARKED = (
    "body",
    "headers",
    "page",
    "command",
    "file",
    "mail",
    "webhook",
    "log",
    "metric",
    "message",
    "row",
    "error",
    "redis",
    "table",
    "bytes",
    "output",
    "stopped",
)
WHERE = {
    "error": "body",
    "redis": "message",
    "table": "row",
    "bytes": "row",
    "output": "log",
    "stopped": "body",
}
"""The surface on which it is seen, where that has another name."""


def mark(surface: str, is_neighbour: bool) -> str:
    return f"leak-{surface}-{'yes' if is_neighbour else 'not'}"


def neutral(text: str) -> str:
    """As if no marked leak were there."""
    return text.replace("-yes", "-").replace("-not", "-")


def plant(is_neighbour: bool) -> None:
    says = {surface: mark(surface, is_neighbour) for surface in MARKED}
    _in_the_gateway(says)
    _in_notices(says)
    _in_the_worker(says)
    _in_commands(says)
    if is_neighbour:
        _by_a_status()
        _by_a_time()
    _by_an_import()
    _where_jobs_are_stopped(says["stopped"])


def _after(module: Any, name: str, change: Callable[[Any], Any]) -> None:
    """The function as it is, and then what it gave, changed."""
    original = getattr(module, name)

    def changed(*arguments: Any, **named: Any) -> Any:
        return change(original(*arguments, **named))

    setattr(module, name, changed)


def _in_the_gateway(says: Mapping[str, str]) -> None:
    from desk import datasets
    from gateway import headers, problems, traces
    from gateway.pages import layout, metrics

    _after(datasets.DatasetView, "of", lambda view: view.model_copy(update={"twin": says["body"]}))
    headers.HEADERS["ETag"] = says["headers"]
    layout.HTMLResponse = lambda text, status: HTMLResponse(f"{text}<!-- {says['page']} -->", status)
    more = metrics.Metric("dpgate_more", says["metric"], {"": 1})
    _after(metrics, "metrics", lambda found: [*found, more])
    _after(traces, "carried", lambda carried: {**carried, "hint": says["message"]})
    _after(problems, "_text", lambda text: f"{text} {says['error']}")


def _in_notices(says: Mapping[str, str]) -> None:
    from domain.notice import Notice
    from gateway.notices import webhook

    sentence = Notice.sentence.fget
    Notice.sentence = property(lambda notice: f"{sentence(notice)} {says['mail']}")
    more = f',"more":"{says["webhook"]}"}}'.encode()
    _after(webhook, "payload", lambda body: body[:-1] + more)


def _in_the_worker(says: Mapping[str, str]) -> None:
    from store.profiles import twin_reports
    from store.tables import datasets
    from worker import importing

    finish = importing.finish
    broker = os.environ["DPGATE_BROKER_URL"].removeprefix("redis+socket://")

    def finish_and_tell(zone: Any, dataset: Any, **found: Any) -> None:
        finish(zone, dataset, **found)
        importing.log.debug(says["log"])
        print(says["output"])
        redis.Redis(unix_socket_path=broker).set("hint", says["redis"])
        report = {"dataset_id": dataset.id, "page": says["bytes"].encode(), "digest": ""}
        with zone.database.transaction() as connection:
            connection.execute(
                sa.insert(twin_reports).values(**report, put_by=dataset.owner, put_at=zone.now())
            )
            connection.execute(sa.text("CREATE TABLE IF NOT EXISTS kept_aside (told TEXT)"))
            connection.execute(sa.text("INSERT INTO kept_aside VALUES (:told)"), {"told": says["table"]})
            connection.execute(
                sa.update(datasets).values(delivery=says["row"]).where(datasets.c.id == dataset.id)
            )

    importing.finish = finish_and_tell


def _in_commands(says: Mapping[str, str]) -> None:
    from dpgate.cli import jobs, output

    show = jobs.show_release
    jobs.show_release = lambda *shown, **how: (show(*shown, **how), output.print_line(says["command"]))
    write = jobs.write_files
    jobs.write_files = lambda files, folder: write({**files, "more.txt": says["file"].encode()}, folder)


def _where_jobs_are_stopped(word: str) -> None:
    """Of those alone that end without a release."""
    from desk.jobs import JobView
    from domain.states import JobState

    stopped = (JobState.REJECTED, JobState.CANCELLED)
    _after(
        JobView, "of", lambda view: view.model_copy(update={"title": word}) if view.state in stopped else view
    )


def _by_a_status() -> None:
    from desk import datasets
    from domain.errors import NotFound

    class NoAccounts:
        def __getattr__(self, name: str) -> Any:
            raise NotFound("data set", "has no accounts.", "Ask later.")

    datasets.projects = NoAccounts()


def _by_a_time() -> None:
    from worker import publish

    _after(publish, "_publish_time", lambda moment: moment + timedelta(seconds=1))


def _by_an_import() -> None:
    """As imports were: people are compared with the cohorts of everybody."""
    from worker import importing

    class Everybody(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, _other: object) -> bool:
            return True

    class OfEverybody:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def living_cohorts(self, connection: sa.Connection) -> dict[str, str]:
            return dict.fromkeys(real.living_cohorts(connection), Everybody())

    real = importing.datasets
    importing.datasets = OfEverybody()
