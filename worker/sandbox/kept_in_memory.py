"""Whether this host leaves in memory what lies in the scratch folder, and how much of it images may take.

The kernel counts for each run which pages had to be fetched for it, and a run reads that count. Of what lies
in a file system in memory no page is ever fetched, unless the host swaps.
"""

import os
from pathlib import Path

from worker.sandbox.core.scratch import file_system_of

from .capacity import size_of

_SHARE = 4  # of the scratch folder's file system, where nobody says how much: one part in so many
_LARGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage")
_NO_HUGE = "huge=never"
_SWAPS, _MOUNTS = Path("/proc/swaps"), Path("/proc/self/mountinfo")


def room_for_images(scratch_root: Path, *, inputs: int = 0) -> int:
    """Bytes that copies of images may take where nobody has set it: a part of the file system, whatever is
    free of it now, or what the largest `inputs` leave where their size is set.
    """
    size = size_of(scratch_root)
    return max(min(size // _SHARE, size - inputs), 0)


def why_not_kept(scratch_root: Path) -> str | None:
    """What lets a run read which pages of a copy others have read, in words; None: nothing does.

    Large pages of all memory are another count of the same kind: how many faults a run has then tells whether
    the host had such pages to give.
    """
    root = scratch_root if scratch_root.exists() else scratch_root.parent
    if (kind := file_system_of(root)) not in ("tmpfs", "ramfs"):
        return f"{scratch_root} lies on {kind}: choose a scratch folder on a tmpfs"
    if os.statvfs(root).f_flag & os.ST_NOEXEC:
        return (
            f"{scratch_root} lies on a file system mounted noexec, and programs run from a copy: remount it"
        )
    if (option := _large_pages_here(root)) is not None:
        return f"{scratch_root} lies on a file system with {option}: remount it with huge=never"
    if swap_areas() != []:
        return "this host swaps, or does not say that it does not: swapoff -a"
    if _large_pages_for_all():
        return "large pages are not on request only: set transparent_hugepage to madvise or never"
    return None


def swap_areas() -> list[str] | None:
    """A line for each; None: the kernel does not say."""
    try:
        return _SWAPS.read_text().splitlines()[1:]
    except OSError:
        return None


def _large_pages_here(root: Path) -> str | None:
    """The option by which the kernel joins pages of files below `root` while a run has them mapped: later
    runs count fewer faults.
    """
    device = os.stat(root).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in _MOUNTS.read_text(errors="replace").splitlines():
        fields, _, source = line.partition(" - ")
        if fields.split()[2] == wanted:
            options = source.split()[-1].split(",")
            return next((each for each in options if each.startswith("huge=") and each != _NO_HUGE), None)
    return None


def _large_pages_for_all() -> bool:
    switches = (_LARGE_PAGES / "enabled", *_LARGE_PAGES.glob("hugepages-*/enabled"))
    forced = _LARGE_PAGES / "shmem_enabled"  # whatever a mount of a tmpfs says
    if forced.exists() and "[force]" in forced.read_text():
        return True
    return any("[always]" in switch.read_text() for switch in switches if switch.exists())
