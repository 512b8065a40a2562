"""Numbers that the kernel keeps for all, and which an earlier run may have moved."""

# ruff: noqa: ARG001 - attacks take one kind of argument
import os
import re
import secrets
import sys
import time
from contextlib import suppress

from face import any_of  # type: ignore[import-not-found]


def x_atime_mtime(target):
    """The time stamps of files that every run sees; a note is a time."""
    paths = [
        os.path.join(target["pipeline"], "attack.py"),
        os.path.join(target.given, "data.csv"),
        "/dev/null",
        sys.executable,
    ]
    found = sum(1 for path in paths if int(os.stat(path).st_mtime) == 1_234_567)
    for path in paths[:1] if target["bare"] else paths:
        try:
            os.utime(path, (1_234_567, 1_234_567))
        except OSError:
            continue
    return found


def x_device_times(target):
    """A device node set to the present time, for which leave to write is enough; the next run reads it.
    Bare it is a file of the experiment's own: the nodes are the host's, and others look at them, too.
    """
    paths = (target["canary"],) if target["bare"] else ("/dev/null", "/dev/random", "/dev/urandom")
    found = max(os.stat(path).st_mtime_ns for path in paths)
    for path in paths:
        with suppress(OSError):
            os.utime(path)
    return found // 1_000_000 % 10**9


def x_pid_numbers(target):
    """The next number tells how many processes there were."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def x_hostname_ids(target):
    """Anything that names this host: then runs on two hosts, or before and after a start of it, can tell."""

    def tells(path):
        with open(path, encoding="ascii") as file:
            return file.read().strip() not in ("", "sandbox")

    paths = (
        "/proc/sys/kernel/random/boot_id",
        "/etc/machine-id",
        "/sys/class/dmi/id/product_uuid",
        "/etc/hostname",
    )
    return any_of(
        [lambda: os.uname().nodename != "sandbox", *(lambda path=path: tells(path) for path in paths)]
    )


def x_loadavg(target):
    """Counters of the whole host: what others do moves them."""
    names = (
        *(
            "loadavg",
            "stat",
            "uptime",
            "meminfo",
            "vmstat",
            "interrupts",
            "softirqs",
            "diskstats",
            "schedstat",
        ),
        *(
            "sys/fs/file-nr",
            "sys/fs/inode-nr",
            "sys/fs/dentry-state",
            "sys/kernel/ns_last_pid",
            "sys/kernel/pty/nr",
        ),
        *("pressure/cpu", "pressure/memory", "zoneinfo", "buddyinfo", "locks", "key-users"),
    )

    def tells(name):
        with open(f"/proc/{name}", encoding="ascii") as file:
            return file.read(20) != ""

    return any_of([lambda name=name: tells(name) for name in names])


def x_ns_inodes(target):
    """Namespaces are numbered in one sequence for the host."""
    return (
        int(re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))) % 10**9
        if not target["bare"]
        else x_anon_inodes(target)
    )


def x_anon_inodes(target):
    """So are pipes."""
    ends = os.pipe()
    number = os.fstat(ends[0]).st_ino
    for end in ends:
        os.close(end)
    return number


def x_device_numbers(target):
    """And file systems without a disk. Bare there is one, so its newest inode is taken."""
    return os.stat(target["room"][0]).st_dev if not target["bare"] else x_tmpfs_inode(target)


def x_mount_ids(target):
    """And mounts."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        numbers = [int(line.split()[0]) for line in file]
    return max(numbers) if not target["bare"] else x_tmpfs_inode(target)


def x_tmpfs_inode(target):
    """Files are numbered in each file system: one that outlives a run tells how many there were."""
    path = os.path.join(target["room"][-1], f"numbered-{secrets.token_hex(4)}")
    with open(path, "w", encoding="ascii") as file:
        number = os.fstat(file.fileno()).st_ino
    if not target["bare"]:  # bare it stays, so that its number is not given again
        os.unlink(path)
    return number


def x_wallclock(target):
    """The clock tells when the run before ended."""
    if target.role:
        time.sleep(0.3)
    return int(time.time() * 1000) % 10**9


def x_pagecache(target):
    """Which part of a file is in memory: role 1 reads it, role 0 looks, then throws it out."""
    path = target["large_file"] if target["bare"] else os.path.realpath(sys.executable)
    with open(path, "rb") as file:
        if target.role:
            file.read(1 << 20)
            return 0
        resident = 0
        with suppress(OSError):
            resident = os.preadv(file.fileno(), [bytearray(4096)], 1 << 19, os.RWF_NOWAIT) > 0
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return int(resident)
