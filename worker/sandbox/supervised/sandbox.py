"""The backend as a whole: what its slots share in one worker process."""

from pathlib import Path
from typing import Self

from sandbox_images.seccomp.model import Policy
from sandbox_images.seccomp.standard import STANDARD
from worker.sandbox.capacity import capacity_of
from worker.sandbox.core.bwrap_binary import find_bwrap
from worker.sandbox.core.bwrap_process import forbid_core_dumps
from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.core.orders import check_order
from worker.sandbox.core.scratch import Scratch
from worker.sandbox.core.slot import SupervisedSlot
from worker.sandbox.core.slot_user import SeatUsers, slot_user
from worker.sandbox.leftovers import reap_groups, reap_scratch
from worker.sandbox.parts import Parts
from worker.sandbox.protocol import SandboxUnavailable, SlotOrder, Syscalls

from .giving import ViewGiver

WIDER: dict[Syscalls, Policy | None] = {Syscalls.STRICT: None, Syscalls.STANDARD: STANDARD}


class SupervisedSandbox:
    """Holds this process's scratch folder, so close it. Open it after forking.

    `input_bytes`: of the largest input of a run; without it, what `capacity_of` gives to a single slot.
    """

    def __init__(
        self,
        host: HostImage,
        *,
        scratch_root: Path | None = None,
        allow_disk_scratch: bool = False,
        input_bytes: int | None = None,
    ) -> None:
        self.host, self.scratch_root = host, scratch_root
        self._input_bytes = input_bytes or capacity_of(scratch_root, slots=1)
        self._seat_users: dict[int, SeatUsers] = {}
        self._bwrap = find_bwrap()
        forbid_core_dumps()
        self._scratch = Scratch(scratch_root, allow_disk_scratch=allow_disk_scratch)

    def open_slot(self, order: SlotOrder, *, slot: int) -> "SupervisedSlot":
        check_order(order)
        if not isinstance(order.image, HostImage | StoredImage):
            raise SandboxUnavailable(f"{order.image.name} is not an image of this host")
        try:
            user = slot_user(slot)
            return SupervisedSlot(
                self._bwrap,
                self._scratch,
                self.host,
                order.image,
                order,
                wider=WIDER[order.syscalls],
                user=user,
                seat_users=self._seat_users.setdefault(slot, SeatUsers(slot)),
                giver_in=lambda folder: self._giver(folder, order, user=user),
            )
        except OSError as error:  # this process is out of descriptors, memory or room
            raise SandboxUnavailable(f"a slot could not be opened: {error.strerror}") from error

    def _giver(self, folder: Path, order: SlotOrder, *, user: int) -> ViewGiver:
        parts = Parts(folder, order.roots, user=user, most_bytes=self._input_bytes)
        return ViewGiver(self._scratch, folder, parts, user=user)

    def reap(self) -> int:
        reap_groups()
        return reap_scratch(self.scratch_root)

    def close(self) -> None:
        self._scratch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
