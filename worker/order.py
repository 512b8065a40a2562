"""What every run of a pipeline gets, the same for each block and on the twin."""

from __future__ import annotations

from domain.pipeline import Pipeline, Resources
from domain.shape import MAX_FILE_BYTES
from worker.sandbox.host_image import HostImage
from worker.sandbox.protocol import Audience, Limits, SlotOrder

MIB = 1024 * 1024


def order_for(pipeline: Pipeline, *, image: HostImage, audience: Audience) -> SlotOrder:
    """The order for a slot that runs this pipeline."""
    manifest = pipeline.manifest
    return SlotOrder(
        image=image,
        code={source.path: source.content for source in pipeline.sources},
        command=manifest.command,
        levels=manifest.levels,
        outputs=tuple(output.file for output in manifest.outputs),
        limits=limits_for(manifest.resources),
        audience=audience,
    )


def limits_for(resources: Resources) -> Limits:
    """A manifest's resources as hard limits of one run."""
    return Limits(
        wall_s=resources.wall_seconds,
        cpu_s=max(1, round(resources.wall_seconds) + 1),
        memory_bytes=resources.memory_mib * MIB,
        processes=resources.processes,
        tmp_bytes=resources.scratch_mib * MIB,
        file_bytes=MAX_FILE_BYTES,
    )
