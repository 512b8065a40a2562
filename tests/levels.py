"""A pipeline of two levels, and a sandbox that notes what is run in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from heights import request_fields
from zones import Bench

from worker.sandbox.protocol import NOTHING, RunResult, Sandbox, Slot, SlotOrder

TWO_LEVELS = """\
import os, sys
rows = [line.split("\\t") for line in open("/in/participants.tsv").read().splitlines()[1:]]
if sys.argv[3] == "participant":
    ((person, height),) = rows
    os.mkdir("/out/" + person)
    open("/out/%s/height.txt" % person, "w").write("%r" % float(height))
else:
    people = sorted(name for name in os.listdir("/out") if name.startswith("sub-"))
    assert people == sorted(row[0] for row in rows)
    heights = [float(open("/out/%s/height.txt" % person).read()) for person in people]
    open("/out/result.tsv", "w").write("mean_height\\n%r\\n" % (sum(heights) / len(heights)))
"""
PARTICIPANT = 'import os, sys\nif sys.argv[3] == "participant":\n    '
"""A line behind it is for the participant level alone."""


def two_level_fields(source: str = TWO_LEVELS, **overrides: Any) -> dict[str, Any]:
    """A request for a pipeline with both levels."""
    fields = request_fields(source, **overrides)
    more = {"levels": ["participant", "group"], "command": ["python3", "/pipeline/main.py"]}
    fields["pipeline"]["manifest"] |= more
    return {"pipeline": fields["pipeline"]}


@dataclass(frozen=True)
class Noted:
    """One run: its level, files at the top of /in, all in /out before it, and whether it failed."""

    level: str
    block: Mapping[str, bytes]
    before: Mapping[str, bytes]
    failed: bool

    @property
    def people(self) -> list[str]:
        """Of the table in its input."""
        return [line.split("\t")[0] for line in self.block["participants.tsv"].decode().splitlines()[1:]]


@dataclass(eq=False)
class NotingSandbox:
    """The real one, and a list of its runs."""

    real: Sandbox
    runs: list[Noted] = field(default_factory=list)

    def open_slot(self, order: SlotOrder, *, slot: int) -> Slot:
        return _NotingSlot(self.real.open_slot(order, slot=slot), order, self)  # type: ignore[return-value]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def take(self, level: str) -> list[Noted]:
        """The runs of a level since this was last asked of it."""
        taken = [run for run in self.runs if run.level == level]
        self.runs = [run for run in self.runs if run.level != level]
        return taken


class _NotingSlot:
    def __init__(self, real: Slot, order: SlotOrder, sandbox: NotingSandbox) -> None:
        self._real, self._order, self._sandbox = real, order, sandbox

    def run(
        self, block: Mapping[str, bytes], *, before: Mapping[str, bytes] = NOTHING, **more: Any
    ) -> RunResult:
        result = self._real.run(block, before=before, **more)
        (level,) = self._order.levels
        kept = {path: block[path] for path in block if path.count("/") == 0}
        self._sandbox.runs.append(Noted(level, kept, dict(before), result.outputs is None))
        return result

    def __enter__(self) -> _NotingSlot:
        self._real.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._real.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def noting(bench: Bench) -> tuple[Bench, NotingSandbox]:
    """The same zone with such a sandbox."""
    sandbox = NotingSandbox(bench.zone.sandbox)
    return replace(bench, zone=replace(bench.zone, sandbox=sandbox)), sandbox  # type: ignore[arg-type]
