"""A run that could not be ended: nobody of the host has a turn beside it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from zones import Bench, given_heights, submit

from worker.execute import execute_chunk
from worker.host_turns import HostTurns
from worker.sandbox.choice import OpenSandbox
from worker.sandbox.protocol import SandboxUnavailable


@dataclass
class Away:
    """A daemon that no slot reaches, nor, for so many times, whoever ends what was left."""

    times: int
    asked: list[str] = field(default_factory=list)

    def open_slot(self, *_: Any, **__: Any) -> Any:
        self.asked.append("slot")
        raise SandboxUnavailable("the daemon is away")

    def reap(self) -> None:
        self.asked.append("reap")
        if self.asked.count("reap") <= self.times:
            raise SandboxUnavailable("the daemon is still away")


def test_no_turn_begins_before_it_is_gone(sqlite_bench: Bench, tmp_path: Path) -> None:
    given_heights(sqlite_bench)
    away = Away(times=2)
    turns = HostTurns(tmp_path, "docker", away.reap)
    zone = replace(sqlite_bench.zone, sandbox=cast(OpenSandbox, away), turns=turns)
    job_id = submit(sqlite_bench)
    sqlite_bench.deliver(sqlite_bench.sent.queue.popleft())
    for expected in (["slot", "reap"], ["slot", "reap", "reap"]):
        with pytest.raises(SandboxUnavailable, match="still away"):
            execute_chunk(zone, job_id, 0)
        assert away.asked == expected
        assert list(tmp_path.glob("turn-mark-docker-*"))
    execute_chunk(zone, job_id, 0)
    assert away.asked == ["slot", "reap", "reap", "reap", "reap", "slot", "reap"]
    assert not list(tmp_path.glob("turn-mark-*"))
