"""Which inputs can be given to a container: decided by the settings and the input alone."""

from collections.abc import Mapping

from worker.sandbox.capacity import room_of
from worker.sandbox.core.given import VIEW_ABOVE_BYTES
from worker.view import View

from .kept_parts import KeptParts
from .settings import DockerSettings

_HEAD_BYTES = 8  # of a file on its way to a keeper, beside its path and its bytes


def is_composed(block: Mapping[str, bytes], settings: DockerSettings) -> bool:
    """Whether its parts travel one by one and stay with the keeper; all others are sent at once."""
    largest_copy = min(VIEW_ABOVE_BYTES, settings.block_bytes // 2)
    return isinstance(block, View) and bool(block.parts) and block.size > largest_copy


def can_be_given(block: Mapping[str, bytes], settings: DockerSettings, kept: KeptParts) -> bool:
    """Whether a keeper has room for this input. Nothing of a view is read for it."""
    sent = block
    if isinstance(block, View) and is_composed(block, settings):
        if not kept.hold(block):
            return False
        sent = block.files
    size = sent.size if isinstance(sent, View) else sum(map(len, sent.values()))
    length = size + sum(_HEAD_BYTES + len(path.encode()) for path in sent)
    return length <= settings.block_bytes and room_of(sent) <= settings.block_bytes + settings.view_bytes
