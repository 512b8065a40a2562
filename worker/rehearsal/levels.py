"""The two levels of a pipeline on the twin, where its author may hear how every run went."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from domain.errors import PipelineError
from domain.pipeline import Pipeline
from privacy.plan import RunPlan, members
from worker.levels import ParticipantLevel, PersonOutputs, has_participant_level
from worker.rehearsal.failures import place_of, why
from worker.rehearsal.slots import TwinSlots
from worker.sandbox.protocol import NOTHING, RunResult, Slot
from worker.stage import People

Progress = Callable[[int, int], None]
"""Runs made, and runs to make. What it raises ends the rehearsal."""


@dataclass(frozen=True)
class ParticipantRuns:
    """What the participant level took: runs, seconds of the slowest; and which files are no person's."""

    runs: int = 0
    longest_s: float = 0.0
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupRuns:
    """Group runs in one slot, after the participant level of everybody, where the pipeline has one."""

    slot: Slot
    people: People
    level: ParticipantLevel | None
    participants: ParticipantRuns
    images_with: Callable[[str], Sequence[str]] = lambda _name: ()
    _by_person: dict[str, RunResult] = field(default_factory=dict)

    def run(self, names: Sequence[str]) -> RunResult:
        before = self.level.before(names) if self.level else NOTHING
        return self.slot.run(self.people.view(names), before=before)

    def run_person(self, person: str) -> RunResult:
        """Run on one person, once: the same run is the whole twin's and a block's."""
        if person not in self._by_person:
            self._by_person[person] = self.run([person])
        return self._by_person[person]

    def of_plan(
        self, plan: RunPlan, progress: Progress, *, first: int | None = None
    ) -> Iterator[tuple[RunResult, float]]:
        """Every run of the plan in order, or only the first ones, each with its seconds."""
        # any key will do: the twin's people are nobody
        key = hashlib.sha256(b"twin").digest()
        wanted = range(plan.runs if first is None else min(first, plan.runs))
        in_run = members(plan, self.people.names, key=key, wanted=wanted)
        for run in wanted:
            started = time.monotonic()
            names = in_run[run]
            result = self._by_person[names[0]] if self._is_known(names) else self.run(names)
            yield result, time.monotonic() - started
            progress(run + 1, len(wanted))

    def _is_known(self, names: Sequence[str]) -> bool:
        return len(names) == 1 and names[0] in self._by_person


@contextmanager
def open_groups(
    slots: TwinSlots, pipeline: Pipeline, people: People, outputs: PersonOutputs, progress: Progress
) -> Iterator[GroupRuns]:
    """Run the participant level for whoever has no outcome among `outputs`, then open a slot for group runs.

    Raises PipelineError for the first person whose run fails, with its own words.
    """
    level, found = None, ParticipantRuns()
    if has_participant_level(pipeline):
        level = ParticipantLevel(pipeline, slots.order.image.digest, people, outputs)
        found = _run_participants(slots, level, progress)
    with slots.for_groups() as slot:
        yield GroupRuns(slot, people, level, found, slots.images_with)


def _run_participants(slots: TwinSlots, level: ParticipantLevel, progress: Progress) -> ParticipantRuns:
    left = [person for person in level.people.names if not level.is_done(person)]
    if not left:
        return ParticipantRuns()
    longest, dropped = 0.0, set[str]()
    with slots.for_participants() as slot:
        for done, person in enumerate(left, start=1):
            started = time.monotonic()
            outcome = level.run(slot, person)
            longest = max(longest, time.monotonic() - started)
            if outcome.result.outputs is None:
                place = place_of(level.pipeline, level.people, slots.images_with)
                told = why(outcome.result.detail, level.pipeline, place)
                raise PipelineError(f"participant level of {person}: {told}")
            dropped |= set(outcome.dropped)
            progress(done, len(left))
    return ParticipantRuns(len(left), longest, tuple(sorted(dropped)))
