"""The container of one level of a pipeline."""

from collections.abc import Mapping

from sandbox_images.supervisor.order import command_line
from worker.sandbox.protocol import Audience, Limits, SlotOrder

from .create_body import Amounts, Part
from .settings import DockerSettings
from .volumes import Room, Volume

_THREAD_COUNTS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "BLIS")
FIXED_ENVIRONMENT = {
    "HOME": "/tmp",  # noqa: S108 - inside the container
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
    # one core per slot: more threads would only fight, and each counts against the process limit
    **{f"{library}_NUM_THREADS": "1" for library in _THREAD_COUNTS},
}


def payload_part(
    settings: DockerSettings,
    order: SlotOrder,
    level: str,
    *,
    user: int,
    volumes: tuple[Volume, ...],
    of_image: Mapping[str, str],
    core: str,
    labels: Mapping[str, str],
) -> Part:
    """`of_image`: the image's own environment. `volumes` exist already."""
    limits = order.limits
    return Part(
        image=order.image.digest,
        command=tuple(command_line(order.command, level)),
        environment={**of_image, **FIXED_ENVIRONMENT, **order.environment},
        user=user,
        volumes=volumes,
        temporary=Room(limits.tmp_bytes, limits.inodes, user),
        amounts=_amounts(limits),
        syscalls=order.syscalls,
        runtime=settings.runtime,
        core=core,
        labels=labels,
        output=order.audience is Audience.TWIN,
    )


def _amounts(limits: Limits) -> Amounts:
    return Amounts(
        # /tmp, /dev/shm and /out lie in memory and count in the group of whoever writes them
        memory_bytes=limits.memory_bytes + 2 * limits.tmp_bytes + limits.output_bytes,
        processes=limits.processes,
        cpu_s=limits.cpu_s,
        open_files=limits.open_files,
        file_bytes=max(limits.tmp_bytes, limits.output_bytes),
    )
