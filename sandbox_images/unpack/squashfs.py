"""Extract a squashfs with the distribution's unsquashfs. What it makes is checked again by the worker."""

import re
import shutil
import subprocess
from pathlib import Path

from .caps import Caps
from .refusal import Refused, shown
from .sif import Partition

_DONE_BUT_WARNED = 2
_MOST_COMPLAINTS = 64 * 1024
# It may not make devices, fifos and sockets, for which an image has no use; nothing else may be missing.
_NOT_MADE = re.compile(
    rb"create_inode: (?:could not create|failed to create) (?:(?:character|block) device|fifo|socket) .*"
    rb"|create_inode: socket .* ignored|\s*"
)


def extract(archive: Path, partition: Partition, folder: Path, caps: Caps) -> None:
    """Into `folder`, which must not be there yet. The quota of the folder is the worker's business."""
    tool = shutil.which("unsquashfs")
    if tool is None:
        raise Refused(
            "SIF files are read with unsquashfs, which this host lacks: install the distribution's "
            "squashfs-tools package, or convert the image to an OCI archive"
        )
    if partition.inodes > caps.entries:
        raise Refused(f"the SIF holds {partition.inodes} files, more than {caps.entries}")
    options = [
        *("-no-progress", "-quiet", "-no-xattrs"),
        # one level more than allowed, so that a deeper tree is found too deep and not cut off in silence
        *("-max-depth", str(caps.depth + 2)),
        *("-processors", "2", "-data-queue", "64", "-frag-queue", "64"),
        *("-offset", str(partition.offset), "-dest", str(folder)),
    ]
    complaints = folder.with_name("complaints")
    with complaints.open("wb") as file:
        ended = subprocess.run(
            [tool, *options, str(archive)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
            check=False,
        )
    with complaints.open("rb") as said:
        text = said.read(_MOST_COMPLAINTS)
    complaints.unlink()
    lines = [line for line in text.splitlines() if not _NOT_MADE.fullmatch(line)]
    if ended.returncode not in (0, _DONE_BUT_WARNED) or (ended.returncode and lines) or not folder.is_dir():
        raise Refused(
            f"the SIF's squashfs cannot be read: {shown(b' '.join(lines)) if lines else 'no reason'}"
        )
