"""The keeper's container: trusted code in the operator's image, and all volumes of a batch."""

from collections.abc import Mapping
from functools import cache
from importlib import resources

from worker.sandbox.protocol import MIB, Syscalls

from .create_body import Amounts, Part
from .settings import DockerSettings
from .volumes import Volume

_OWN_MEMORY = 128 * MIB  # Python and one piece; the block in memory comes on top


def keeper_part(
    settings: DockerSettings,
    *,
    user: int,
    volumes: tuple[Volume, ...],
    environment: Mapping[str, str],
    core: str,
    labels: Mapping[str, str],
) -> Part:
    """The keeper's container; `volumes` are made with it."""
    return Part(
        image=settings.keeper_image,
        command=keeper_command(settings.keeper_python, runs=len(volumes) // 2),
        environment=environment,
        user=user,
        volumes=volumes,
        temporary=None,
        amounts=keeper_amounts(settings.block_bytes),
        syscalls=Syscalls.STRICT,
        runtime=settings.runtime,
        core=core,
        labels=labels,
        output=True,
        input=True,
    )


def keeper_amounts(block_bytes: int) -> Amounts:
    return Amounts(
        memory_bytes=_OWN_MEMORY + 2 * block_bytes,  # a block, and the pipeline's code
        processes=8,
        cpu_s=0,
        open_files=1024,
        file_bytes=block_bytes,
    )


def keeper_command(python: str, *, runs: int) -> tuple[str, ...]:
    return (python, "-I", "-S", "-B", "-E", "-c", _source(), str(runs))


@cache
def _source() -> str:
    return (resources.files("sandbox_images") / "keeper.py").read_text()
