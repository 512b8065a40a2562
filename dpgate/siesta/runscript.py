"""The command of an image that comes from a SIF file: its runscript, in the environment that this sets."""

from __future__ import annotations

from pathlib import Path

from dpgate.errors import DpgateError
from worker.images.commands import head_of

_SCRIPT = ".singularity.d/runscript"
# what Apptainer does before it: variables of the Docker image it was made from, and those of %environment
_RUN = (
    f'for set in /.singularity.d/env/[19]0-*.sh; do [ ! -r "$set" ] || . "$set"; done; exec /{_SCRIPT} "$@"'
)
_PROGRAMS = (b"#!", b"\x7fELF")


def runscript_of(name: str, rootfs: Path) -> list[str]:
    """Raises DpgateError where the image has none, or none that can be started."""
    head = head_of(rootfs, f"/{_SCRIPT}")
    if head is None:
        raise DpgateError(f"the image {name} has no runscript: say --command")
    if not head.startswith(_PROGRAMS):
        raise DpgateError(
            f"the runscript of the image {name} is neither a script with #! in front nor a program: "
            "say --command"
        )
    return ["/bin/sh", "-c", _RUN, "runscript"]
