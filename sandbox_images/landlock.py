"""Landlock: a process gives up what it will not need, whatever the mounts say.

A second line behind the mount plan of a sandbox: files are written below the named folders only, no TCP, no
abstract Unix socket and no signal reaches anybody outside, no device is controlled. Best effort by the
kernel's ABI (linux/landlock.h). Here is what its calls take; confine.py has a run make them.
"""

import ctypes
import errno
import os
import struct

NEWEST_ABI = 6  # the newest whose features are used; later ones are compatible

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # one number on every architecture
_VERSION_FLAG, PATH_BENEATH = 1, 1

# LANDLOCK_ACCESS_FS_*: WRITE_FILE, REMOVE_DIR, REMOVE_FILE and the eight MAKE_*. Reading and executing are
# not handled, so they stay allowed everywhere.
_WRITE_FILE, _CHANGE_TREE = 1 << 1, 0x1FF0
_MOVE, _TRUNCATE, _DEVICE_IOCTL = 1 << 13, 1 << 14, 1 << 15  # REFER (ABI 2), TRUNCATE (3), IOCTL_DEV (5)
_TCP = 0b11  # BIND_TCP, CONNECT_TCP (ABI 4)
_SCOPES = 0b11  # ABSTRACT_UNIX_SOCKET, SIGNAL (ABI 6)

_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long


def abi() -> int:
    """What this kernel offers; 0: nothing, because it is older than 5.13 or was started without Landlock.

    Raises OSError for any other refusal, for example of a system-call filter that is in place already.
    """
    found: int = _syscall(*map(ctypes.c_long, (CREATE_RULESET, 0, 0, _VERSION_FLAG)))
    if found >= 0:
        return found
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EOPNOTSUPP):
        return 0
    raise OSError(code, f"Landlock: {os.strerror(code)}")


def ruleset_attribute(applied: int) -> bytes:
    """struct landlock_ruleset_attr: files, network (ABI 4), scopes (ABI 6). Older kernels refuse more."""
    attribute = struct.pack("=Q", _handled_access(applied))
    if applied >= 4:
        attribute += struct.pack("=Q", _TCP)
    if applied >= 6:
        attribute += struct.pack("=Q", _SCOPES)
    return attribute


def rule_attribute(applied: int, descriptor: int, *, is_folder: bool) -> bytes:
    """struct landlock_path_beneath_attr, packed: what is handled may be done at or below `descriptor`."""
    access = _handled_access(applied) & ~_DEVICE_IOCTL
    if not is_folder:
        access &= _WRITE_FILE | _TRUNCATE  # the kernel refuses rights of folders on a file
    return struct.pack("=Qi", access, descriptor)


def _handled_access(applied: int) -> int:
    since = ((1, _WRITE_FILE | _CHANGE_TREE), (2, _MOVE), (3, _TRUNCATE), (5, _DEVICE_IOCTL))
    return sum(access for version, access in since if applied >= version)
