"""Which people each run of a job sees: from public numbers, identifiers and a key.

The number of runs never depends on how many people there really are. Nothing here looks at row numbers, file
order or data. `HalfSamples` places one identifier at a time; `Blocks` deals people, and its key must be
secret and of one job; `LeaveOneOut` carries no formal guarantee.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from privacy.half_samples import WORLDS, half_samples
from privacy.leave_one_out import leave_one_out
from privacy.partition import assign_blocks


@dataclass(frozen=True)
class Blocks:
    """`repeats` independent keyed partitions into `blocks` disjoint blocks; run r * blocks + b is block b of
    partition r. `people` is the PUBLIC nominal size: so many slots are spread over the blocks."""

    blocks: int
    people: int
    repeats: int = 1

    @property
    def runs(self) -> int:
        return self.blocks * self.repeats

    @property
    def most_in_run(self) -> int:
        """Of the people of one block, however many there are in the data."""
        return -(-self.people // self.blocks)


@dataclass(frozen=True)
class HalfSamples:
    """64 fixed half-samples ("worlds"): every person is in exactly 32 of them."""

    runs: int = WORLDS


@dataclass(frozen=True)
class LeaveOneOut:
    """Run 0 sees everybody, run i (from 1) everybody but one person; `people` is the PUBLIC nominal size.

    With fewer people than that the last runs see everybody; with more, some are never left out.
    """

    people: int

    @property
    def runs(self) -> int:
        return self.people + 1


RunPlan = Blocks | HalfSamples | LeaveOneOut


def members(
    plan: RunPlan, names: Sequence[str], *, key: bytes, wanted: Iterable[int]
) -> dict[int, list[str]]:
    """The people of the wanted runs (run numbers 0..plan.runs-1), in the order of `names`.

    The same key always gives the same people: one key per job for blocks, one per cohort for half-samples.
    Raises ValueError for a key or a name that cannot be used and for a run that the plan does not have.
    """
    if isinstance(plan, HalfSamples):
        return half_samples(names, key=key, wanted=wanted)
    if isinstance(plan, LeaveOneOut):
        return leave_one_out(names, key=key, people=plan.people, wanted=wanted)
    return _blocks(plan, names, key=key, wanted=wanted)


def _blocks(plan: Blocks, names: Sequence[str], *, key: bytes, wanted: Iterable[int]) -> dict[int, list[str]]:
    runs: dict[int, list[str]] = {run: [] for run in wanted}
    if not all(0 <= run < plan.runs for run in runs):
        raise ValueError(f"a wanted run must be from 0 to {plan.runs - 1}.")
    for repeat in {run // plan.blocks for run in runs}:
        blocks = _dealt(tuple(names), key=key, blocks=plan.blocks, people=plan.people, repeat=repeat)
        for name, block in zip(names, blocks, strict=True):
            run = None if block is None else repeat * plan.blocks + block
            if run in runs:
                runs[run].append(name)
    return runs


@lru_cache(maxsize=4)  # the chunks of one job follow each other, and each asks for a few blocks of all
def _dealt(
    names: tuple[str, ...], *, key: bytes, blocks: int, people: int, repeat: int
) -> Sequence[int | None]:
    return tuple(assign_blocks(names, key=key, blocks=blocks, people=people, repeat=repeat))
