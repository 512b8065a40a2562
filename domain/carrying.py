"""Time for a run's files on their way in and out, of which a pipeline decides how many: from public values.

A run that could make its successor start late would tell it, by the clock, about other people.
"""

from __future__ import annotations

from domain.pipeline import Manifest
from domain.schedule import RUN_OVERHEAD_S
from domain.shape import FileShape, NiftiShape, Shape

MIB_PER_S = 20
"""Of output files that are collected, sealed and written to disk, or read, opened and laid into the next run:
half of what was measured on two busy cores."""

FREE_MIB = 16
"""Of the output folder, where only named outputs of bounded size are read: within every run's overhead."""

READING_S = {"text": 0.0, "json": 0.05, "npy": 0.05, "mat": 0.5, "nifti": 0.2}
"""Of one file, at the most that its reader takes, doubled."""

VOXELS_PER_S = 8 * 2**20


def carrying_s(manifest: Manifest, shape: Shape) -> float:
    """Seconds of every turn of this pipeline beyond its wall clock limit and the overhead of any run."""
    size = manifest.resources.output_mib
    is_carried_on = "participant" in manifest.levels
    files = size / MIB_PER_S if is_carried_on else max(0, size - FREE_MIB) / MIB_PER_S
    reading = sum(map(_reading_s, shape.files))
    return round(files + max(0.0, reading - RUN_OVERHEAD_S / 2), 3)


def _reading_s(shape: FileShape) -> float:
    voxels = shape.voxels if isinstance(shape, NiftiShape) else 0
    return READING_S[shape.format] + voxels / VOXELS_PER_S
