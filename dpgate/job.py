"""A job as the platform answers it, which can be followed until it is finished."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from dpgate.calls import Call, DriverT, Look, Part, Pause, Shown, Steps, asked, followed
from dpgate.errors import DpgateError, NotFinished
from dpgate.facts import path_of
from dpgate.models import Release

TERMINAL = {"RELEASED", "WITHHELD", "REJECTED", "CANCELLED", "ERRORED"}


@dataclass(frozen=True)
class Job(Part[DriverT]):
    """A job on record. `refresh` and `wait` return a newer one."""

    id: str
    state: str
    dataset: str
    mechanism: str
    guarantee: str
    cost: dict[str, str]
    runs: int
    due_at: str | None
    answered_by: str | None
    reason: str | None
    raw: dict[str, Any] = field(repr=False)
    is_new: bool = True
    _part: Part[DriverT] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, raw: dict[str, Any], part: Part[DriverT] | None, *, is_new: bool = False) -> Job[DriverT]:
        names = (
            "id",
            "state",
            "dataset",
            "mechanism",
            "guarantee",
            "cost",
            "runs",
            "due_at",
            "answered_by",
            "reason",
        )
        return cls(**{name: raw[name] for name in names}, raw=raw, is_new=is_new, _part=part)

    @property
    def is_finished(self) -> bool:
        return self.state in TERMINAL

    @property
    def is_free(self) -> bool:
        """It has ended and took nothing of a budget: it never ran, or another's release answers it."""
        return self.is_finished and self.raw["charged_at"] is None

    @property
    def turns_over(self) -> int | None:
        """About how many of `raw["turns"]` runs have had their turn by the timetable, which is public."""
        return turns_over(self.raw, datetime.now(UTC))

    @asked
    def refresh(self) -> Call[Job[DriverT]]:
        return self._newer("GET", path_of("jobs", self.id))

    @asked
    def wait(self, *, timeout_s: float = 3600, poll_s: float = 0.5) -> Steps[Job[DriverT]]:
        """The job once it is finished. Raises NotFinished when it takes longer than `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            job: Job[DriverT] = yield self._newer("GET", path_of("jobs", self.id))
            if job.is_finished:
                return job
            yield Pause(poll_s)
        raise NotFinished(f"job {self.id} is not finished after {timeout_s:g} s; ask again later")

    @followed
    def follow(self, *, timeout_s: float = 3600, poll_s: float = 0.5) -> Look[Job[DriverT]]:
        """The job again and again, until it is finished or the time is up."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            job: Job[DriverT] = yield self._newer("GET", path_of("jobs", self.id))
            yield Shown(job)
            if job.is_finished:
                return
            yield Pause(poll_s)

    @asked
    def release(self) -> Call[Release]:
        return Call(Release.of, "GET", path_of("jobs", self.id, "release"))

    @asked
    def cancel(self) -> Call[Job[DriverT]]:
        return self._newer("POST", path_of("jobs", self.id, "cancel"))

    def _repr_html_(self) -> str:
        from dpgate.notebook import job_html

        return job_html(self)

    @property
    def _driver(self) -> DriverT:  # type: ignore[override]
        if self._part is None:
            raise DpgateError("this job did not come from a client")
        return self._part._driver

    def _newer(self, method: str, path: str) -> Call[Job[DriverT]]:
        # the client's, not this job's: who asks for days would keep each job that there was
        return Call(lambda raw: type(self).of(raw, self._part), method, path)


# How far a job's runs are by its timetable: of two public times, a public number and a moment.


def turns_over(job: Mapping[str, Any], now: datetime) -> int | None:
    """About so many turns of the `turns` that a job's JSON states. None: it has no timetable now."""
    turns, begins, due = (job.get(name) for name in ("turns", "begins_at", "due_at"))
    if turns is None or begins is None or due is None:
        return None
    begins_at, due_at = (datetime.fromisoformat(text) for text in (begins, due))
    share = (now - begins_at) / (due_at - begins_at)
    return int(turns * min(max(share, 0), 1))
