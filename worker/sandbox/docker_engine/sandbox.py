"""The Docker backend: a container per run and level, and volumes in memory. No folder is shared with a host.

A run: the slot's keeper writes the block into a fresh volume, the payload's container runs with it until it
is dead, the keeper reads the declared outputs. The worker needs no root, only a socket to the daemon, or to
the proxy that lets nothing but these containers through.
"""

from pathlib import Path
from typing import Self

from worker.sandbox.core.orders import check_order
from worker.sandbox.leftovers import reap_scratch
from worker.sandbox.profiles import Feature
from worker.sandbox.protocol import SandboxUnavailable, SlotOrder

from .engine import Engine
from .identity import PLACE, Identity
from .settings import DockerSettings
from .slot import DockerSlot


class DockerSandbox:
    """Holds this process's lock file, so close it. Open it after forking."""

    def __init__(self, settings: DockerSettings, *, lock_root: Path | None = None) -> None:
        self._settings, self._lock_root = settings, lock_root
        self._identity = Identity(lock_root)

    @property
    def settings(self) -> DockerSettings:
        return self._settings

    def probe(self) -> tuple[Feature, ...]:
        from .features import check_daemon  # it runs a control pipeline through this class

        return check_daemon(self)

    def open_slot(self, order: SlotOrder, *, slot: int) -> DockerSlot:
        check_order(order)
        self._check_runtime()
        return DockerSlot(self._settings, self._identity, order, slot=slot)

    def reap(self) -> int:
        """Containers and volumes of dead workers of this place, and of closed slots of this worker."""
        engine = Engine(self._settings)
        try:
            return _reap(engine, self._identity)
        finally:
            engine.close()
            reap_scratch(self._lock_root)  # the locks of the dead; theirs are told from labels by now

    def close(self) -> None:
        self._identity.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_runtime(self) -> None:
        engine = Engine(self._settings)
        try:
            known = sorted(engine.info().get("Runtimes") or {})
        finally:
            engine.close()
        if self._settings.runtime not in known:
            raise SandboxUnavailable(
                f"the Docker daemon has no runtime {self._settings.runtime!r}; it has {', '.join(known)}"
            )


def _reap(engine: Engine, identity: Identity) -> int:
    label = f"{PLACE}={identity.place}"
    dead = set()
    for container, labels in engine.containers(label):
        if identity.is_leftover(labels):
            engine.remove(container)
            dead.add(identity.owner(labels))
    for volume, labels in engine.volumes(label):
        if identity.is_leftover(labels):
            engine.remove_volume(volume)
            dead.add(identity.owner(labels))
    return len(dead)
