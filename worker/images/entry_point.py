"""What an image starts for a pipeline that names no command: its entry point or, of a SIF, its runscript."""

from __future__ import annotations

from collections.abc import Sequence

from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import Image

from .heads import head_of
from .refusal import CommandRefused

_SCRIPT = ".singularity.d/runscript"
# what Apptainer does before it: variables of the Docker image it was made from, and those of %environment
_RUN = (
    f'for set in /.singularity.d/env/[19]0-*.sh; do [ ! -r "$set" ] || . "$set"; done; exec /{_SCRIPT} "$@"'
)
_PROGRAM = b"\x7fELF"
_SAY = "say one, as `command` in dpgate.yaml or with --command where there is none"
RUNSCRIPT = f"/{_SCRIPT}"
BY_RUNSCRIPT = ("/bin/sh", "-c", _RUN, "runscript")


def command_of(image: Image, declared: Sequence[str]) -> tuple[str, ...]:
    """The declared one if there is one. Raises CommandRefused where neither the pipeline nor the image
    has any, or the image's cannot be started."""
    if declared:
        return tuple(declared)
    if not isinstance(image, StoredImage):
        raise CommandRefused(f"the pipeline has no command, and {image.name} no entry point: {_SAY}")
    if image.entry_point:
        return image.entry_point
    head = head_of(image.rootfs, RUNSCRIPT)
    if head is None:
        raise CommandRefused(
            f"the image {image.name} has neither an entry point nor a runscript: {_SAY}. (An image "
            "that an earlier version added has its entry point once it is removed and added again.)"
        )
    if not head.startswith((b"#!", _PROGRAM)):
        raise CommandRefused(
            f"the runscript of the image {image.name} is neither a script with #! in front nor a program: "
            f"{_SAY}"
        )
    if head.startswith(_PROGRAM) and head_of(image.rootfs, BY_RUNSCRIPT[0]) is None:
        return (RUNSCRIPT,)  # made by hand, of a program alone: there is nothing to set for it either
    return BY_RUNSCRIPT
