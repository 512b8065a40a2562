"""Mounts, devices, and programs that the run brings along."""

# ruff: noqa: ARG001, S103 - attacks do what a linter warns of, and take one kind of argument
import ctypes
import os
import stat
import subprocess

from face import (  # type: ignore[import-not-found]
    any_of,
    become_root_of_namespace,
    check,
    exit_of,
    libc,
    may_gain_privileges,
    plant,
    syscall,
)

_HARMLESS_DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}


def fs_exec_tmp(target):
    """Start a program that the run itself has written."""

    def starts(folder):
        path = os.path.join(folder, "program")
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexit 0\n")
        os.chmod(path, 0o700)
        try:
            return subprocess.run([path], check=False).returncode == 0
        finally:
            os.unlink(path)

    return any_of([lambda folder=folder: starts(folder) for folder in target["room"]])


def fs_setuid(target):
    """A program that changes to its owner: the file can be made, but may not gain anything."""
    path = os.path.join(target["room"][0], "tool")
    with open(path, "w", encoding="ascii"):
        pass
    os.chmod(path, 0o4755)
    os.unlink(path)
    return may_gain_privileges() and not _is_nosuid(path)


def _is_nosuid(path):
    """False where a run has no list of its mounts."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            mounts = [line.split() for line in file]
    except FileNotFoundError:
        return False
    on = max((each for each in mounts if path.startswith(each[4])), key=lambda each: len(each[4]))
    return "nosuid" in on[5].split(",")


def fs_mknod(target):
    path = os.path.join(target["room"][0], "node")
    os.mkfifo(path)
    os.unlink(path)
    if os.getuid() == 0:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.unlink(path)
    return True


def fs_devices(target):
    """Open any device but the harmless ones: disks, memory, graphics processors, virtual machines."""
    names = [
        name
        for name in os.listdir("/dev")
        if name not in _HARMLESS_DEVICES or (target["bare"] and name == "ptmx")
    ]
    devices = [
        f"/dev/{name}"
        for name in names
        if stat.S_ISCHR(mode := os.lstat(f"/dev/{name}").st_mode) or stat.S_ISBLK(mode)
    ]

    def opens(path):
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        return True

    return any_of([lambda path=path: opens(path) for path in devices])


def fs_mount(target):
    if target["bare"]:
        become_root_of_namespace(0x20000)
    place = os.path.join(target["room"][0], "m").encode()
    os.makedirs(place, exist_ok=True)
    check(libc.mount(b"none", place, b"tmpfs", 0, None), "mount")
    return True


def fs_mount_api(target):
    """The newer doors: a file system as a descriptor, a clone of a mount tree."""
    if target["bare"]:
        become_root_of_namespace(0x20000)
    return any_of(
        [
            lambda: syscall(430, 430, b"tmpfs", 0) >= 0,
            lambda: syscall(428, 428, -100, b"/", 1) >= 0,
            lambda: syscall(155, 41, b".", b".") >= 0,
        ]
    )


def fs_remount(target):
    """Make a read-only mount writable."""
    if target["bare"]:
        become_root_of_namespace(0x20000)
        check(libc.mount(b"none", target["room"][0].encode(), b"tmpfs", 1, None), "mount")
    place = (target["room"][0] if target["bare"] else target.given).encode()
    check(libc.mount(b"none", place, None, 0x1020 if not target["bare"] else 0x20, None), "remount")
    return plant(place.decode())


def fs_unmount(target):
    """Take a mount away and see what lies below."""
    if target["bare"]:
        become_root_of_namespace(0x20000)
        check(libc.mount(b"none", target["room"][0].encode(), b"tmpfs", 0, None), "mount")
    return any_of(
        [lambda path=path: check(libc.umount2(path.encode(), 2)) == 0 for path in (*target["room"], "/proc")]
    )


def fs_chroot(target):
    """In a child: whoever succeeds can no longer write the output."""

    def changes():
        if target["bare"]:
            become_root_of_namespace()
        os.chroot(target["room"][0])
        return True

    return os.waitstatus_to_exitcode(exit_of(changes)) == 1


def fs_handle(target):
    """A file by its handle, past every mount."""
    handle = ctypes.create_string_buffer(bytes(ctypes.c_uint32(128)), 200)
    path = target["canary"] if target["bare"] else target.given
    return syscall(303, 264, -100, path.encode(), handle, ctypes.byref(ctypes.c_int()), 0) == 0


def fs_mountinfo(target):
    """Where the run's places lie on the host: a part of another file system, the layers of an overlay."""
    if target["bare"]:
        become_root_of_namespace(0x20000)
        bound = (target["room"][0].encode(), target["pipeline"].encode())
        check(libc.mount(*bound, None, 0x1000, None), "mount")
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    parts = [fields for fields in mounts if fields[3].count("/") > 1 and fields[3] != fields[4]]
    return bool(parts) or any("upperdir=" in fields[-1] for fields in mounts)


def fs_free_space(target):
    """Blocks and inodes of a file system that others use, too."""
    return len({os.statvfs(place)[2:8] for place in ("/usr", "/dev/shm", "/dev")}) > 1  # noqa: S108
