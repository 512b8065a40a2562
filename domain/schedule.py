"""When a job's runs happen and when its release becomes visible, from public values only.

A job of k runs is cut into chunks; a chunk makes its runs one after the other on a fixed grid of
`quantum` seconds, whatever each run does. So the end of the last chunk is known before the first run.

Where a pipeline has a participant level, chunks of that level come first, numbered from 0: together they have
as many turns as there may be people, taken or not. Chunks of group runs follow when all of them are done.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from domain.model import Model

# What a run may cost beyond its wall limit: start, kill ladder, collection.
RUN_OVERHEAD_S = 0.5
# Places of a slot at the most: a run that is slow to die has the turns of the others for it.
MOST_SEATS = 4
# Before the first run, for each further place.
SEAT_S = 0.3
# What a job may cost beyond its runs: opening the snapshot (by public nominal size) and the release.
JOB_OVERHEAD_S = 2.0
# Of this, for opening the snapshot: no padded run starts earlier, however little there was to open. The rest
# is for messages and the release.
OPENING_S = 1.0
# A first run that is not ready then is put off by a multiple of this; what is left has room for one of them,
# and for the release.
PUT_OFF_S = 0.5
STAGING_S_PER_PERSON = 1 / 20_000
# Until a chunk that found no free slot asks again.
QUEUEING_S = 3.0
# No chunk runs longer, so that a redelivered or re-queued chunk never waits for hours.
LONGEST_CHUNK_S = 900.0
# Nor has a chunk of the participant level more turns: a slot renews itself after some hundred runs, and a run
# must not see how many people came before it.
MOST_TURNS = 200


class Schedule(Model):
    """`runs` runs of at most `wall_s` seconds each, staging included, over `slots` parallel slots.

    Before them, where there is a participant level, `turns` turns for runs of `wall_s` with one person each.
    """

    runs: int
    wall_s: float
    slots: int
    nominal_size: int
    turns: int = 0
    carrying_s: float = 0  # for a run's files on their way in and out, where they may be many or large
    person_s: float = 0  # to bring the most rows and files of one person to a run
    people: int = 1  # the most in one run of the group level
    dying_s: float = 0  # from when a run is ended until nothing of it is left, at the most

    @property
    def quantum_s(self) -> float:
        """Of a group run: the turn that it takes."""
        return self._turn_s(self.people)

    @property
    def participant_quantum_s(self) -> float:
        """Of a run with one person."""
        return self._turn_s(1)

    def _turn_s(self, people: int) -> float:
        works = self.wall_s + RUN_OVERHEAD_S + self.carrying_s + people * self.person_s
        return max(works, self.dying_s / (MOST_SEATS - 1))

    def seats_of(self, chunk: int) -> int:
        """The places that its runs take in turn, so that each has ended when its place is wanted again."""
        turns = self.participant_chunk_size if self.is_participant(chunk) else self.chunk_size
        return min(self._seats(self.quantum_of(chunk)), turns)

    def _seats(self, quantum_s: float) -> int:
        return 1 + min(math.ceil(self.dying_s / quantum_s), MOST_SEATS - 1)

    def quantum_of(self, chunk: int) -> float:
        return self.participant_quantum_s if self.is_participant(chunk) else self.quantum_s

    @property
    def chunk_size(self) -> int:
        """Group runs of one chunk."""
        return self._share(self.runs, self.quantum_s)

    @property
    def participant_chunk_size(self) -> int:
        """Turns of one chunk of the participant level."""
        return min(self._share(self.turns, self.participant_quantum_s), MOST_TURNS)

    @property
    def participant_chunks(self) -> int:
        """Numbered from 0; the number of the first chunk of group runs is this."""
        return math.ceil(self.turns / self.participant_chunk_size)

    @property
    def group_chunks(self) -> int:
        return math.ceil(self.runs / self.chunk_size)

    @property
    def chunks(self) -> int:
        return self.participant_chunks + self.group_chunks

    def is_participant(self, chunk: int) -> bool:
        return chunk < self.participant_chunks

    def turns_of(self, chunk: int) -> range:
        """The turns of a chunk of the participant level."""
        size = self.participant_chunk_size
        return range(chunk * size, min((chunk + 1) * size, self.turns))

    def runs_of(self, chunk: int) -> range:
        """The runs of a chunk of the group level."""
        first = (chunk - self.participant_chunks) * self.chunk_size
        return range(first, min(first + self.chunk_size, self.runs))

    @property
    def width(self) -> int:
        """Chunks that are at work at once."""
        return min(self.slots, max(self.participant_chunks, self.group_chunks))

    @property
    def staging_s(self) -> float:
        return self.first_run_s + JOB_OVERHEAD_S - OPENING_S

    @property
    def first_run_s(self) -> float:
        """Seconds from the claim of a chunk to its first run, which is staged by then; padded mode."""
        opening_s = OPENING_S + SEAT_S * (self._seats(self.participant_quantum_s) - 1)
        return opening_s + self.nominal_size * STAGING_S_PER_PERSON + self.people * self.person_s

    @property
    def chunk_s(self) -> float:
        """The longest that one chunk of group runs takes on a healthy worker."""
        return self.staging_s + self.chunk_size * self.quantum_s + self.dying_s

    @property
    def participant_chunk_s(self) -> float:
        """The same of a chunk of the participant level."""
        return self.staging_s + self.participant_chunk_size * self.participant_quantum_s + self.dying_s

    def longest_s(self, chunk: int) -> float:
        """A lease that ran out after this means a dead worker."""
        return self.participant_chunk_s if self.is_participant(chunk) else self.chunk_s

    @property
    def visible_after_s(self) -> float:
        """Seconds from the charge to the release, padded mode."""
        before = math.ceil(self.participant_chunks / self.slots) * self.participant_chunk_s
        return before + math.ceil(self.group_chunks / self.slots) * self.chunk_s

    def _share(self, count: int, quantum_s: float) -> int:
        even = math.ceil(count / self.slots)
        return max(1, min(even, int(LONGEST_CHUNK_S // quantum_s)))


@dataclass(frozen=True)
class Busy:
    """A job that runs: it has so many of the platform's slots, at the most until it is due."""

    due: float
    slots: int


def begins_at(*, now: float, busy: Sequence[Busy], slots: int, capacity: int) -> float:
    """When so many of the platform's slots are free for a job that is charged now, for all that is public."""
    busy = [job for job in busy if job.due > now]
    ends = sorted({now, *(job.due + QUEUEING_S for job in busy)})
    return next((end for end in ends if _taken_at(end, busy) + slots <= capacity), ends[-1])


def _taken_at(moment: float, busy: Sequence[Busy]) -> int:
    return sum(job.slots for job in busy if job.due + QUEUEING_S > moment)


def padded_time(*, due: float, finished: float, late_tick_s: float) -> float:
    """The public time of a release: `due`, or the first tick after it that the platform could make.

    A job misses `due` where the platform was busy or broken, or where bringing the data to the runs took
    longer than the schedule foresaw.
    """
    if finished <= due:
        return due
    return due + math.ceil((finished - due) / late_tick_s) * late_tick_s


def coarse_time(*, finished: float, step_s: float) -> float:
    """The next multiple of `step_s` at or after the end of the runs."""
    return math.ceil(finished / step_s) * step_s
