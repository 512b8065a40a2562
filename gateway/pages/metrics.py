"""Figures for Prometheus. Every label is public and from a fixed list; nothing counts anything in data.

There is no figure of runs, chunks, slots or messages, and no duration of anything that a worker does: these
may depend on data. They need the token of an operator: behind a proxy on the same host every caller seems to
come from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from domain.image import ImageState
from domain.messages import WhyDropped
from domain.operation import StuckKind, WorkerState
from domain.permissions import Permission, User
from domain.states import JobState
from gateway.access import TheDatabase, requires
from gateway.oidc.faults import OF_ACCOUNTS, Fault
from gateway.oidc.providers import Providers
from gateway.oidc.refusals import OTHER
from gateway.overview import Overview, overview
from store import history, images
from store.images import Image

router = APIRouter(include_in_schema=False)
PATH = "/metrics"
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
WAITING = (JobState.QUEUED, JobState.PREPARING)


@dataclass(frozen=True)
class Metric:
    """Its values by label; the empty label where there is one value."""

    name: str
    meaning: str
    values: Mapping[str, float]
    kind: str = "gauge"

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self.name} {self.meaning}"
        yield f"# TYPE {self.name} {self.kind}"
        for label, value in self.values.items():
            yield f"{self.name}{{{label}}} {value}" if label else f"{self.name} {value}"


@router.get(PATH)
def show_metrics(
    request: Request,
    _user: Annotated[User, Depends(requires(Permission.METRICS_READ))],
    database: TheDatabase,
) -> Response:
    found = overview(database, request.app.state.looks.now())
    with database.reading() as connection:
        waited = history.waiting_since(connection, WAITING, now=found.now)
        known = images.listed(connection)
    shown = [*metrics(found, round(waited.total_seconds()), known), not_let_in(request.app.state.providers)]
    lines = [line for one in shown for line in one.lines()]
    return Response("\n".join(lines) + "\n", media_type=MEDIA_TYPE)


def metrics(found: Overview, waited_s: int, known: list[Image]) -> list[Metric]:
    """All of them; docs/reference/metrics.md explains each."""
    by_worker = Counter(worker.state for worker in found.workers)
    by_kind = Counter(one.kind for one in found.stuck)
    by_image = Counter(image.state for image in known)
    return [
        Metric("dpgate_info", "The version that runs.", {f'version="{found.version}"': 1}),
        Metric(
            "dpgate_ready",
            "Whether the gateway can do its work.",
            {"": int(found.readiness.is_ready)},
        ),
        Metric("dpgate_jobs", "Jobs by state.", {_state(state): n for state, n in found.jobs.items()}),
        Metric(
            "dpgate_longest_wait_seconds",
            "How long the job has waited that may run and waits the longest.",
            {"": waited_s},
        ),
        Metric("dpgate_images", "Images by state.", {_state(each): by_image[each] for each in ImageState}),
        Metric(
            "dpgate_workers", "Workers by state.", {_state(each): by_worker[each] for each in WorkerState}
        ),
        Metric(
            "dpgate_stuck",
            "Things that do not move, by kind.",
            {f'kind="{kind}"': by_kind[kind] for kind in StuckKind},
        ),
        Metric(
            "dpgate_last_sweep_timestamp_seconds",
            "When a look at what others left last ended, to the minute; 0 for never.",
            {"": found.last_sweep_at.timestamp() if found.last_sweep_at else 0},
        ),
        Metric(
            "dpgate_messages_dropped",
            "Messages in Redis that were none of ours, of workers that are there since each started.",
            {f'reason="{why}"': found.dropped[why] for why in WhyDropped},
        ),
        Metric("dpgate_disk_full", "Whether a disk is full.", {"": int(found.readiness.disk == "full")}),
        Metric("dpgate_clocks_off", "Workers whose clock is off.", {"": len(found.off_clocks)}),
        Metric("dpgate_maintenance", "Whether maintenance goes on.", {"": int(bool(found.maintenance))}),
        Metric("dpgate_notices_dead", "Notices that were given up.", {"": found.notices_dead}),
        Metric("dpgate_refused_logins", "Refused logins noted in the last day.", {"": found.logins.noted}),
    ]


def not_let_in(providers: Providers) -> Metric:
    """Of this process, since it started. Reasons are words of a fixed list: each has a figure, be it 0."""
    counted = dict.fromkeys((*Fault, *OF_ACCOUNTS, OTHER), 0) | providers.refusals.counts()
    return Metric(
        "dpgate_logins_not_let_in_total",
        "Logins and tokens of identity providers that were refused, by reason.",
        {f'reason="{reason}"': count for reason, count in counted.items()},
        kind="counter",
    )


def _state(state: str) -> str:
    return f'state="{state}"'
