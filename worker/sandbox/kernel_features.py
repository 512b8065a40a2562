"""What the kernel of this host can do, asked by the calls themselves: a version number says too little, and a
container around the worker may refuse what its kernel has.
"""

from __future__ import annotations

import ctypes
import platform
from pathlib import Path

from sandbox_images import landlock
from sandbox_images.seccomp.bpf import ARCHITECTURES
from sandbox_images.seccomp.model import Verdict

from .needs import feature
from .profiles import Feature

_GET_ACTION_AVAILABLE = 2  # of seccomp
_FSOPEN = 430  # the same on x86_64 and aarch64
_ENOSYS = 38
_NOBODY = 3  # of Yama's switch: nobody may look into another process, whatever capability he has
_LAST_NUMBER = Path("/proc/sys/kernel/ns_last_pid")
_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")


def system_call_filter() -> Feature:
    machine = platform.machine()
    fix = f"use a machine of one of these kinds: {', '.join(ARCHITECTURES)}"
    present = machine in ARCHITECTURES
    detail = f"there is {'one' if present else 'none'} for {machine}"
    return feature("system-call filter for this machine", present=present, detail=detail, fix=fix)


def answered_calls() -> Feature:
    """Whether a filter can hand a call to another process, and that may answer into its memory. That it may
    also hand over a descriptor (Linux 5.9) a supervisor finds out when it starts.
    """
    closed = _YAMA.exists() and int(_YAMA.read_text()) == _NOBODY
    known = _hands_over()
    detail = (
        "kernel.yama.ptrace_scope is 3, which nobody can look past"
        if closed
        else "a supervisor can answer"
        if known
        else "this kernel, or a filter around this worker, has no user notification"
    )
    fix = "use a kernel of 5.9 or newer, no filter around that refuses seccomp, and a ptrace_scope below 3"
    return feature("calls of a run can be answered", present=known and not closed, detail=detail, fix=fix)


def process_numbers() -> Feature:
    """Whether a zygote can give each run the same number (CONFIG_CHECKPOINT_RESTORE)."""
    present = _LAST_NUMBER.exists()
    detail = "they can" if present else f"this kernel has no {_LAST_NUMBER}"
    fix = "use a kernel with CONFIG_CHECKPOINT_RESTORE, as distributions build it, or the Docker backend"
    return feature("numbers of processes can be set", present=present, detail=detail, fix=fix)


def landlock_rules() -> Feature:
    fix = "use a kernel of 5.13 or newer with Landlock among its security modules"
    try:
        version = landlock.abi()
    except OSError as error:  # a filter around this container
        version, detail = 0, f"it cannot be asked: {error.strerror}"
    else:
        detail = f"version {version} of its interface" if version > 0 else "this kernel has none"
    return feature("Landlock", present=version > 0, detail=detail, fix=fix)


def detached_mounts() -> Feature:
    """fsopen of nothing fails; that it fails for another reason than being unknown tells that it is there."""
    present = _system_call(_FSOPEN, None, 0) != -_ENOSYS
    detail = "fsopen is there" if present else "this kernel has no fsopen"
    return feature("detached mounts", present=present, detail=detail, fix="use a kernel of 5.2 or newer")


def _hands_over() -> bool:
    if platform.machine() not in ARCHITECTURES:
        return False
    action = ctypes.c_uint32(Verdict.ANSWER.value)
    number = ARCHITECTURES[platform.machine()].numbers["seccomp"]
    return _system_call(number, _GET_ACTION_AVAILABLE, 0, ctypes.addressof(action)) == 0


def _system_call(number: int, *arguments: int | None) -> int:
    """The result, or the error as a negative number."""
    if platform.machine() not in ARCHITECTURES:
        return -_ENOSYS
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    answer = int(call(ctypes.c_long(number), *(ctypes.c_long(value or 0) for value in arguments)))
    return answer if answer >= 0 else -ctypes.get_errno()
