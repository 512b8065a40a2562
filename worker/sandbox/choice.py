"""The backends that an operator may choose, a row each, and the one that is chosen. Each is loaded only
where it is used."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from worker.sandbox.core.cgroup import why_no_groups
from worker.sandbox.core.images import HostImage

from .capacity import capacity_of, needed_for
from .kept_in_memory import room_for_images
from .profiles import Feature
from .protocol import MIB, Sandbox, SandboxUnavailable


class OpenSandbox(Sandbox, Protocol):
    """With something on this host that ends with the process."""

    def probe(self) -> tuple[Feature, ...]:
        """What isolation rests on, as this sandbox finds it."""
        ...

    def close(self) -> None: ...


class Choice(Protocol):
    """The settings that decide."""

    @property
    def sandbox(self) -> str: ...
    @property
    def scratch_folder(self) -> Path: ...
    @property
    def allow_disk_scratch(self) -> bool: ...
    @property
    def own_slots(self) -> int: ...
    @property
    def input_mib(self) -> int | None: ...
    @property
    def images_in_memory_mib(self) -> int | None: ...
    @property
    def docker_socket(self) -> Path | None: ...
    @property
    def docker_keeper_image(self) -> str | None: ...
    @property
    def docker_runtime(self) -> str: ...
    @property
    def docker_first_uid(self) -> int: ...
    @property
    def docker_batch(self) -> int: ...
    @property
    def docker_block_mib(self) -> int: ...
    @property
    def docker_view_mib(self) -> int: ...


@dataclass(frozen=True)
class Offered:
    """One backend. `counts_all_memory`: whether memory that is in no process's resident size is bounded too.
    `has_own_images`: its images are of our store, and copies of them lie in the scratch folder; a container's
    image is its engine's business. `is_of_host`: it rests on features of this host, not on a daemon's."""

    open: Callable[[Choice, HostImage], OpenSandbox]
    counts_all_memory: Callable[[], bool]
    has_own_images: bool
    is_of_host: bool


def open_sandbox(choice: Choice, host: HostImage) -> OpenSandbox:
    """Raises SandboxUnavailable where it cannot be had. Open it after forking, and close it."""
    return BACKENDS[choice.sandbox].open(choice, host)


def _supervised(choice: Choice, host: HostImage) -> OpenSandbox:
    from .probed import ProbedSandbox

    return ProbedSandbox(
        host,
        scratch_root=choice.scratch_folder,
        allow_disk_scratch=choice.allow_disk_scratch,
        input_bytes=input_bytes(choice),
    )


def input_bytes(choice: Choice) -> int:
    """Of the largest input of a run: what is set, or what each slot of this host can have."""
    if choice.input_mib is not None:
        return choice.input_mib * MIB
    return capacity_of(choice.scratch_folder, slots=choice.own_slots, kept_back=images_bytes(choice))


def images_bytes(choice: Choice) -> int:
    """Of the scratch folder, for copies of images."""
    if not BACKENDS[choice.sandbox].has_own_images:
        return 0
    if choice.images_in_memory_mib is not None:
        return choice.images_in_memory_mib * MIB
    inputs = 0 if choice.input_mib is None else needed_for(choice.input_mib * MIB, slots=choice.own_slots)
    return room_for_images(choice.scratch_folder, inputs=inputs)


def counts_all_memory(choice: Choice) -> bool:
    """Whether memory that is in no process's resident size is bounded too: the standard table allows some."""
    return BACKENDS[choice.sandbox].counts_all_memory()


def _docker(choice: Choice, _host: HostImage) -> OpenSandbox:
    from .docker_engine.sandbox import DockerSandbox
    from .docker_engine.settings import DockerSettings

    if choice.docker_socket is None or choice.docker_keeper_image is None:
        raise SandboxUnavailable(
            "the sandbox docker needs DPGATE_DOCKER_SOCKET and DPGATE_DOCKER_KEEPER_IMAGE: set both, "
            "or choose DPGATE_SANDBOX=supervised"
        )
    settings = DockerSettings(
        socket=choice.docker_socket,
        keeper_image=choice.docker_keeper_image,
        runtime=choice.docker_runtime,
        first_uid=choice.docker_first_uid,
        batch=choice.docker_batch,
        block_bytes=choice.docker_block_mib * MIB,
        view_bytes=choice.docker_view_mib * MIB,
        slots=choice.own_slots,
    )
    return DockerSandbox(settings, lock_root=choice.scratch_folder)


BACKENDS: dict[str, Offered] = {
    "supervised": Offered(_supervised, lambda: why_no_groups() is None, has_own_images=True, is_of_host=True),
    "docker": Offered(_docker, lambda: True, has_own_images=False, is_of_host=False),
}
"""By the name that the setting DPGATE_SANDBOX takes."""
