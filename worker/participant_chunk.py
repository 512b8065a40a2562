"""One chunk of the participant level: each of its people alone in a sandbox, each at their turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from domain.schedule import MOST_TURNS
from privacy.participant_turns import participant_turns
from privacy.partition import derive_key
from worker.cancelling import staging, watched
from worker.chunk import Chunk, grid_of, order_of, participant_level
from worker.levels import ParticipantLevel
from worker.order import for_participants
from worker.sandbox.protocol import SandboxUnavailable, Slot
from worker.time_grid import TimeGrid
from worker.zone import WorkerZone


def run_people(zone: WorkerZone, chunk: Chunk) -> None:
    """Whoever has no outcome yet runs in their turn, and it is kept at once.

    In padded timing the turns of all others, of people who are done and of nobody, are runs on nobody: the
    host counts runs in numbers that a run can read, and those must not tell how many people there are.
    """
    with staging(zone, chunk):
        level = participant_level(zone, chunk)
        people = people_of(zone, chunk, level)
    grid = grid_of(chunk)
    with (
        zone.sandbox.open_slot(for_participants(order_of(zone, chunk)), slot=zone.slot) as slot,
        watched(zone, chunk, slot),
    ):
        for turn, within_s in _made(grid, slot, chunk.schedule.turns_of(chunk.number), people):
            person = people.get(turn)
            if person is not None and not level.is_done(person):
                level.run(slot, person, within_s=within_s)
            elif grid.padded:
                slot.run(level.people.view([]), within_s=within_s)
    grid.end(len(chunk.schedule.turns_of(chunk.number)), dying_s=chunk.schedule.dying_s)


def _made(
    grid: TimeGrid, slot: Slot, own: range, people: Mapping[int, str]
) -> Iterator[tuple[int, float | None]]:
    """Each turn when it has come, and the seconds within which its run has to have ended. An outcome is kept
    for later jobs, and must be the person's own: what is not ready at its turn is made behind the others, at
    an edge of the grid, and the chunk is late."""
    if not grid.padded:
        for turn in people:
            yield turn, None
        return
    turns, missed = sorted({*own, *people}), []
    for turn in turns:
        place = turn - own.start
        if slot.take_turn(place, on_time=grid.wait_for(place)):
            yield turn, grid.left_s(place)
        else:
            missed.append(turn)
    place = turns[-1] - own.start
    for turn in missed:
        place = _next_place(grid, slot, place + 1)
        yield turn, grid.left_s(place)


def _next_place(grid: TimeGrid, slot: Slot, place: int) -> int:
    """The first from there on that can be had; SandboxUnavailable where this host lets go of nobody."""
    for later in range(place, place + MOST_TURNS):
        if slot.take_turn(later, on_time=grid.wait_for(later)):
            return later
    raise SandboxUnavailable("no place of a slot becomes free: this host does not let go of what was killed")


def people_of(zone: WorkerZone, chunk: Chunk, level: ParticipantLevel) -> Mapping[int, str]:
    """This chunk's people by turn. The last chunk also has those for whom there are no turns."""
    schedule = chunk.schedule
    key = derive_key(zone.keys.partition, dataset_id=chunk.dataset.id, job_id=chunk.job.id)
    everybody = participant_turns(level.people.names, key=key, turns=schedule.turns)
    turns = schedule.turns_of(chunk.number)
    is_last = chunk.number == schedule.participant_chunks - 1
    return {
        turn: person
        for turn, person in everybody.items()
        if turn in turns or (is_last and turn >= turns.stop)
    }
