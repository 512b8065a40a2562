"""What every run of a pipeline gets, the same for each block and on the twin."""

from __future__ import annotations

import re

from domain.image import SyscallTable
from domain.pipeline import Pipeline, Resources
from domain.shape import MAX_FILE_BYTES
from sandbox_images.supervisor.warmup import LIBRARIES
from worker.sandbox.protocol import Audience, Image, Limits, SlotOrder, Syscalls

MIB = 1024 * 1024
_PYTHON = ("python3", "python")
_SOURCES = "/pipeline/"
_IMPORT = re.compile(rb"^\s*(?:import|from)\s+(.*)$", re.MULTILINE)


def order_for(
    pipeline: Pipeline,
    *,
    image: Image,
    audience: Audience,
    syscalls: SyscallTable = SyscallTable.STRICT,
    warm: bool = True,
) -> SlotOrder:
    """The order for a slot that runs this pipeline.

    `syscalls` and `warm` are what the operator approved the image for; warm also takes a Python script as
    command.
    """
    manifest = pipeline.manifest
    return SlotOrder(
        image=image,
        code={source.path: source.content for source in pipeline.sources},
        command=manifest.command,
        levels=manifest.levels,
        outputs=tuple(output.file for output in manifest.outputs),
        limits=limits_for(manifest.resources),
        audience=audience,
        environment=manifest.environment,
        syscalls=Syscalls(syscalls.value),
        warm=libraries_of(pipeline) if warm and is_python_script(pipeline) else None,
    )


def is_python_script(pipeline: Pipeline) -> bool:
    """Whether an interpreter that already runs can take it: a script of the pipeline's own, and no flags."""
    command = pipeline.manifest.command
    if len(command) < 2 or command[0] not in _PYTHON or not command[1].startswith(_SOURCES):
        return False
    return command[1].removeprefix(_SOURCES) in {source.path for source in pipeline.sources}


def libraries_of(pipeline: Pipeline) -> tuple[str, ...]:
    """Those of the platform's own list that the sources seem to import; read as text, never run.

    One too many costs a run some page faults; one too few is loaded by the run itself.
    """
    lines = [line for source in pipeline.sources for line in _IMPORT.findall(source.content)]
    words = {word.decode() for line in lines for word in re.findall(rb"[a-z_]+", line)}
    return tuple(name for name in LIBRARIES if name in words)


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
