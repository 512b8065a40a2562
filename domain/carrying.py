"""Time for a run's files on their way in and out: from public values, the pipeline's and the declaration's.

A run that could make its successor start late would tell it, by the clock, about other people; and so would a
person who brings more than there is time for.
"""

from __future__ import annotations

import math

from domain.dataset import Declaration
from domain.dataset.person_size import person_bytes
from domain.formats import FORMATS
from domain.pipeline import Manifest
from domain.schedule import RUN_OVERHEAD_S
from domain.shape import FileShape, NiftiShape, Shape
from privacy.plan import Blocks, RunPlan

MIB_PER_S = 20
"""Of output files that are collected, sealed and written to disk, or read, opened and laid into the next run:
half of what was measured on two busy cores."""

FREE_MIB = 16
"""Of the output folder, where only named outputs of bounded size are read: within every run's overhead."""

FREED_MIB_PER_S = 4096
"""Of a run's memory and scratch space, which the kernel takes back when it is ended: measured at
5 GiB a second on two busy cores. A run that wants to be slow to die fills all that it may have."""

FREED_AT_ONCE_MIB = 1024
"""Within every run's overhead."""

DYING_S, DYING_S_PER_PROCESS, DYING_SHARE_OF_WALL = 0.5, 0.02, 0.6
"""Of a run that is killed: what its processes hold beside memory, such as many thousand mappings or watched
descriptors each. The slowest of `benchmarks/lateness.py` took 3.7 s for 256 processes on two busy cores. Who
builds longer dies longer: 64 processes, each forked by the one before, took 5.3 s after 10 s of building."""

VOXELS_PER_S = 8 * 2**20

BRINGING_MIB_PER_S = 100
"""Of rows and files that are opened and laid into a run: a third of what was measured."""

PIECE_S, PIECE_MIB = 1 / 250, 1
"""To open one piece of a sealed table, doubled on a busy host: a person's rows are in one at the least."""


def carrying_s(manifest: Manifest, shape: Shape) -> float:
    """Seconds of every turn of this pipeline beyond its wall clock limit and the overhead of any run."""
    resources = manifest.resources
    size, held = resources.output_mib, resources.memory_mib + resources.scratch_mib
    is_carried_on = manifest.carries_on
    files = size / MIB_PER_S if is_carried_on else max(0, size - FREE_MIB) / MIB_PER_S
    reading = sum(map(_reading_s, shape.files))
    freeing = max(0, held - FREED_AT_ONCE_MIB) / FREED_MIB_PER_S
    return round(files + freeing + max(0.0, reading - RUN_OVERHEAD_S / 2), 3)


def dying_s(manifest: Manifest) -> float:
    """Seconds from when a run of this pipeline is killed until nothing of it is left; its memory apart, for
    which every turn has room."""
    resources = manifest.resources
    built = DYING_SHARE_OF_WALL * resources.wall_seconds
    return round(DYING_S + DYING_S_PER_PROCESS * resources.processes + built, 3)


def person_s(declaration: Declaration, *, people: int) -> float:
    """Seconds to bring one of so many people to a run, with the most that anybody may have."""
    mib = person_bytes(declaration) / 2**20
    pieces = min(len(declaration.tables), math.ceil(declaration.most_people * mib / PIECE_MIB) / people)
    return round(mib / BRINGING_MIB_PER_S + pieces * PIECE_S, 6)


def people_of_run(plan: RunPlan, declaration: Declaration) -> int:
    """The most people of one run: the slots of a block, or everybody."""
    return plan.most_in_run if isinstance(plan, Blocks) else declaration.most_people


def _reading_s(shape: FileShape) -> float:
    voxels = shape.voxels if isinstance(shape, NiftiShape) else 0
    return FORMATS[shape.format].reading_s + voxels / VOXELS_PER_S
