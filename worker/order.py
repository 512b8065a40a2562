"""What every run of a pipeline gets, the same for each block and on the twin."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from domain.environment import Resources
from domain.image import SyscallTable
from domain.pipeline import Pipeline
from sandbox_images.supervisor.warm_r import PACKAGES, PROGRAM
from sandbox_images.supervisor.warmup import LIBRARIES
from worker.images.entry_point import command_of
from worker.sandbox.protocol import Audience, Image, Limits, SlotOrder, Syscalls

MIB = 1024 * 1024
_PYTHON = ("python3", "python")
_SOURCES = "/pipeline/"
_ATTACHED = re.compile(rb"(?:library|require\w*|Namespace)\s*\(\s*[\"']?([\w.]+)|([\w.]+)(?=::)")
_IMPORT = re.compile(rb"^\s*(?:import|from)\s+(.*)$", re.MULTILINE)


def order_for(
    pipeline: Pipeline,
    *,
    image: Image,
    audience: Audience,
    syscalls: SyscallTable = SyscallTable.STRICT,
    warm: bool = True,
    roots: tuple[Path, ...] = (),
) -> SlotOrder:
    """The order for a slot that makes this pipeline's group runs.

    `syscalls` and `warm` are what the operator approved the image for; warm also takes a Python script as
    command. `roots` are folders of this host from which an input may be bound.
    """
    manifest = pipeline.manifest
    return SlotOrder(
        image=image,
        code={source.path: source.content for source in pipeline.sources},
        command=command_of(image, manifest.command),
        levels=("participant",) if manifest.is_person_by_person else ("group",),
        outputs=tuple(output.file for output in manifest.outputs),
        limits=limits_for(manifest.resources, file_bytes=manifest.max_output_bytes),
        audience=audience,
        environment=manifest.environment,
        syscalls=Syscalls(syscalls.value),
        warm=libraries_of(pipeline) if warm and is_warm_script(pipeline) else None,
        roots=roots,
    )


def for_participants(order: SlotOrder) -> SlotOrder:
    """The same pipeline's order for runs of the participant level: one person in, whatever they write out."""
    return replace(order, levels=("participant",), outputs=(), tree=True)


def is_warm_script(pipeline: Pipeline) -> bool:
    """Whether an interpreter that already runs can take it: a script of the pipeline's own, and no flags.

    R is handed the names of scripts by a shell script, which has its own way with spaces; and it follows its
    environment when it starts, to profiles and packages of whoever sets it: see check_order.
    """
    command = pipeline.manifest.command
    if len(command) < 2 or not command[1].startswith(_SOURCES):
        return False
    if command[0] not in (*_PYTHON, PROGRAM):
        return False
    if command[0] == PROGRAM and (" " in command[1] or pipeline.manifest.environment):
        return False
    return command[1].removeprefix(_SOURCES) in {source.path for source in pipeline.sources}


def libraries_of(pipeline: Pipeline) -> tuple[str, ...]:
    """Those of the platform's own list that the sources seem to import; read as text, never run.

    One too many costs a run some page faults; one too few is loaded by the run itself.
    """
    lines = [line for source in pipeline.sources for line in _IMPORT.findall(source.content)]
    words = {word.decode() for line in lines for word in re.findall(rb"[a-z_]+", line)}
    if pipeline.manifest.command[0] == PROGRAM:
        found = [pair for source in pipeline.sources for pair in _ATTACHED.findall(source.content)]
        named = {word.decode() for pair in found for word in pair}
        return tuple(name for name in PACKAGES if name in named)
    return tuple(name for name in LIBRARIES if name in words)


def limits_for(resources: Resources, *, file_bytes: int) -> Limits:
    """A manifest's resources as hard limits of one run; `file_bytes`: of any one declared output."""
    return Limits(
        wall_s=resources.wall_seconds,
        cpu_s=max(1, round(resources.wall_seconds) + 1),
        memory_bytes=resources.memory_mib * MIB,
        processes=resources.processes,
        tmp_bytes=resources.scratch_mib * MIB,
        output_bytes=resources.output_mib * MIB,
        file_bytes=file_bytes,
    )
