"""Starts a program on a host that lacks something: the condition is real, but holds for it alone.

    python unfit_start.py CONDITION PLACES PROGRAM ARGUMENTS...

PLACES are paths that the condition is about, or spares, separated by colons. For tests only.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_NEWNS, _NEWUSER = 0x00020000, 0x10000000
_BIND, _REMOUNT, _READ_ONLY, _PRIVATE = 4096, 32, 1, 1 << 18 | 16384


def main(condition: str, places: str, program: list[str]) -> None:
    CONDITIONS[condition](places.split(":"))
    os.execv(program[0], program)


def no_bwrap(places: list[str]) -> None:
    """Nothing that could be started is where the distribution's and the wheel's are."""
    own_mounts()
    for place in places:
        mount("/dev/null", place, _BIND)


def no_user_namespaces(_: list[str]) -> None:
    own_users()
    Path("/proc/sys/user/max_user_namespaces").write_text("0")


def read_only_tmp(places: list[str]) -> None:
    """But for where the platform of the test itself lies."""
    own_mounts()
    mount("/tmp", "/tmp", _BIND)
    mount("none", "/tmp", _BIND | _REMOUNT | _READ_ONLY)
    for place in places:
        mount(place, place, _BIND)
        mount("none", place, _BIND | _REMOUNT)


def small_scratch(places: list[str]) -> None:
    own_mounts()
    mount("tmpfs", places[0], 0, "tmpfs", f"size=8m,mode=0711,uid={os.getuid()}")


def own_mounts() -> None:
    if os.getuid() != 0:
        own_users()
    check(_libc.unshare(_NEWNS))
    mount("none", "/", _PRIVATE)


def own_users() -> None:
    """An ordinary user, who may set the limits of this namespace until the next exec."""
    user, group = os.getuid(), os.getgid()
    check(_libc.unshare(_NEWUSER))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"1500 {user} 1")
    Path("/proc/self/gid_map").write_text(f"1500 {group} 1")


def mount(source: str, target: str, flags: int, kind: str | None = None, options: str | None = None) -> None:
    parts = [None if part is None else part.encode() for part in (source, target, kind, options)]
    check(_libc.mount(parts[0], parts[1], parts[2], ctypes.c_ulong(flags), parts[3]))


def check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


CONDITIONS = {
    "no bwrap": no_bwrap,
    "no user namespaces": no_user_namespaces,
    "read-only /tmp": read_only_tmp,
    "small scratch": small_scratch,
}

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
