"""Rehearsals through the client: a pipeline on the twin, run by the platform. `client.rehearsals`."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, Pause, Steps, asked
from dpgate.errors import NotFinished
from dpgate.forecasts import Forecast
from dpgate.previews import Preview


@dataclass(frozen=True)
class Rehearsal:
    """A rehearsal. `runs` and `preview` hold what it gave, once it is DONE and read by its id."""

    id: str
    state: str
    dataset: str
    title: str
    block_size: int
    done: int
    total: int
    problem: str | None
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Rehearsal:
        names = ("id", "state", "dataset", "title", "block_size", "done", "total", "problem")
        return cls(**{name: raw[name] for name in names}, raw=raw)

    @property
    def is_finished(self) -> bool:
        return self.state in ("DONE", "FAILED")

    @property
    def runs(self) -> dict[str, Any] | None:
        """Shape, numbers, blocks, outputs and messages, all of the twin."""
        found: dict[str, Any] | None = self.raw.get("runs")
        return found

    @property
    def preview(self) -> Preview | None:
        """The error to expect of a release with Laplace noise at each epsilon, block size and aggregator;
        `client.rehearsals.forecast` has the other mechanisms."""
        return Preview.of_rehearsal(self.raw)


class Rehearsals(Part[DriverT]):
    """The part of a client that rehearses."""

    @asked
    def request(
        self,
        dataset: str,
        pipeline: dict[str, Any],
        *,
        block_size: int = 10,
        runs_of: str | None = None,
        mechanism: str | None = None,
        rehearsal_id: str | None = None,
    ) -> Call[Rehearsal]:
        """Have a pipeline (manifest and sources) run on the twin; costs nothing. `runs_of` takes over the
        runs of an earlier rehearsal of the same code, where only bounds or names have changed. `mechanism`
        (pac or stability_calibrated) asks for the runs that its forecast needs, too."""
        body = {"dataset": dataset, "pipeline": pipeline, "block_size": block_size, "runs_of": runs_of}
        if mechanism is not None:
            body["mechanism"] = mechanism
        place = quote(rehearsal_id or str(uuid.uuid4()), safe="")
        return Call(Rehearsal.of, "PUT", f"/rehearsals/{place}", json=body)

    @asked
    def get(self, rehearsal_id: str) -> Call[Rehearsal]:
        return _found(rehearsal_id)

    @asked
    def forecast(self, rehearsal: Rehearsal | str, mechanism: dict[str, Any]) -> Call[Forecast]:
        """The error to expect of every output at one choice of a mechanism, written as in a job's request.
        Costs nothing. PAC and stability-calibrated noise need a rehearsal that was asked for with them."""
        rehearsal_id = rehearsal if isinstance(rehearsal, str) else rehearsal.id
        path = f"/rehearsals/{quote(rehearsal_id, safe='')}/forecast"
        return Call(Forecast.of, "POST", path, json={"mechanism": mechanism})

    @asked
    def all(self) -> Call[list[Rehearsal]]:
        """Yours, newest first, without what they gave."""
        return Call(lambda raw: [Rehearsal.of(one) for one in raw], "GET", "/rehearsals")

    @asked
    def wait(
        self,
        rehearsal: Rehearsal,
        *,
        timeout_s: float = 900,
        poll_s: float = 0.5,
        progress: Callable[[int, int], None] | None = None,
    ) -> Steps[Rehearsal]:
        """The rehearsal once it is DONE or FAILED. Raises NotFinished when it takes longer."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            found = yield _found(rehearsal.id)
            if progress is not None:
                progress(found.done, found.total)
            if found.is_finished:
                return found
            yield Pause(poll_s)
        raise NotFinished(f"rehearsal {rehearsal.id} is not finished after {timeout_s:g} s; ask again later")


def _found(rehearsal_id: str) -> Call[Rehearsal]:
    return Call(Rehearsal.of, "GET", f"/rehearsals/{quote(rehearsal_id, safe='')}")
