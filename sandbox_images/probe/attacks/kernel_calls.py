"""Calls that lead into parts of the kernel which a pipeline has no use for, or that change what it is."""

# ruff: noqa: ARG001 - attacks take one kind of argument
import ctypes
import errno
import mmap
import os
import struct
import subprocess
import sys

from face import (  # type: ignore[import-not-found]
    X86,
    any_of,
    become_root_of_namespace,
    check,
    exit_of,
    is_heard,
    lacks,
    libc,
    syscall,
    works,
)


def net_io_uring(target):
    return syscall(425, 425, 2, ctypes.create_string_buffer(120)) >= 0


def k_bpf(target):
    """A map of one byte, or whatever else the kernel takes up."""
    return is_heard(lambda: syscall(321, 280, 0, struct.pack("IIIIIQQQ", 2, 4, 4, 1, 0, 0, 0, 0), 48))


def k_perf(target):
    """Count one's own page faults, in user space only."""
    attributes = bytearray(112)
    struct.pack_into("IIQ", attributes, 0, 1, 112, 2)
    struct.pack_into("Q", attributes, 40, 1 << 5 | 1 << 6)
    return syscall(298, 241, bytes(attributes), 0, -1, -1, 0) >= 0


def k_userfaultfd(target):
    return syscall(323, 282, 1) >= 0


def k_modules(target):
    return any_of(
        [
            lambda: is_heard(lambda: syscall(175, 105, b"x", 1, b"")),
            lambda: is_heard(lambda: syscall(313, 273, -1, b"", 0)),
            lambda: is_heard(lambda: syscall(176, 106, b"no_such_module", 0)),
        ]
    )


def k_reboot(target):
    """With a wrong magic number: the kernel asks for the right first, and then does nothing."""
    if target["bare"] and os.getuid():
        become_root_of_namespace()
    return is_heard(lambda: syscall(169, 142, 1, 2, 3, 0))


def k_mincore(target):
    """Which pages of a shared file are in memory: what others have read."""
    with open(os.path.realpath(sys.executable), "rb") as file:
        size = 16 * mmap.PAGESIZE
        libc.mmap.restype = ctypes.c_void_p
        place = libc.mmap(None, size, 1, 1, file.fileno(), 0)
        state = ctypes.create_string_buffer(16)
        return any_of(
            [
                lambda: syscall(27, 232, place, size, state) == 0,
                lambda: (
                    syscall(
                        451,
                        451,
                        file.fileno(),
                        struct.pack("QQ", 0, size),
                        ctypes.create_string_buffer(40),
                        0,
                    )
                    == 0
                ),
                lambda: os.preadv(file.fileno(), [bytearray(9)], 0, os.RWF_NOWAIT) >= 0,
            ]
        )


def k_fadvise(target):
    """Throw a shared library out of memory, for another run to notice."""
    with open(os.path.realpath(sys.executable), "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return True


def k_personality(target):
    """No address randomisation, or readable means executable."""
    return any_of(
        [lambda value=value: check(libc.personality(value)) >= 0 for value in (0x40000, 0x400000, 0x8)]
    )


def k_sched(target):
    """Another processor, priority or scheduler."""
    return any_of(
        [
            lambda: works(os.sched_setaffinity, 0, {min(os.sched_getaffinity(0))}),
            lambda: works(os.setpriority, os.PRIO_PROCESS, 0, 5),
            lambda: works(os.sched_setscheduler, 0, os.SCHED_BATCH, os.sched_param(0)),
            lambda: syscall(251, 30, 1, 0, 0x4000) == 0,
        ]
    )


def k_numa(target):
    """Where memory lies, and that it stays there."""
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return any_of(
        [
            lambda: check(libc.mlock(ctypes.c_void_p(place), mmap.PAGESIZE)) == 0,
            lambda: syscall(238, 237, 0, 0, 0) == 0,
            lambda: syscall(239, 236, ctypes.byref(ctypes.c_int()), 0, 0, 0, 0) == 0,
        ]
    )


def k_merge_pages(target):
    """Pages that the kernel merges with equal ones of other processes; the merge can be timed."""
    page = mmap.mmap(-1, 4 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    try:
        check(libc.madvise(ctypes.c_void_p(place), ctypes.c_size_t(4 * mmap.PAGESIZE), 12), "madvise")
    except OSError as error:
        raise lacks("a kernel without page merging") if error.errno == errno.EINVAL else error from None
    return True


def k_x32_i386(target):
    """A 64-bit call of the x32 kind, in a child: a filter may kill who makes it."""
    if not X86:
        raise lacks("x32 is of x86")

    def calls():
        syscall(0x40000000 + 39, None)
        return True

    status = exit_of(calls)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
        raise lacks("a kernel without x32")
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1


def k_int80(target):
    """getpid by the 32-bit door, which numbers its calls differently."""
    if not X86:
        raise lacks("int 0x80 is of x86")
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=7, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    door = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    status = exit_of(lambda: door() > 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == 11:
        raise lacks("a kernel without 32-bit calls")
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1


def k_modify_ldt(target):
    return syscall(154, None, 0, ctypes.create_string_buffer(64), 64) >= 0


def k_ports(target):
    """Direct access to input and output ports."""
    if not X86:
        raise lacks("ports are of x86")
    return is_heard(lambda: syscall(173, None, 0xFFFFF, 1, 1))


def k_set_clock(target):
    """To a time that no kernel takes: whoever lacks the right is told so first."""
    return is_heard(lambda: syscall(227, 112, 0, struct.pack("qq", 0, -1)))


def k_kernel_log(target):
    return is_heard(lambda: syscall(103, 116, 10, 0, 0))


def k_accounting(target):
    """Process accounting, swap and quotas, each on something that does not exist."""
    if target["bare"] and os.getuid():
        raise lacks("the right to ask")
    return any_of(
        [
            lambda: is_heard(lambda: syscall(163, 89, b"/no/such/file")),
            lambda: is_heard(lambda: syscall(168, 225, b"/no/such/file")),
        ]
    )


def k_sysinfo(target):
    """Load, free memory and number of processes of the whole host."""
    seconds_up = (ctypes.c_long * 32)()
    return syscall(99, 179, seconds_up) == 0 and seconds_up[0] > 1


def k_xattr(target):
    """Kernel memory that no limit counts."""
    path = os.path.join(target["room"][0], "tagged")
    with open(path, "w", encoding="ascii"):
        pass
    try:
        return any_of(
            [lambda name=name: works(os.setxattr, path, name, b"x" * 100) for name in ("user.x", "trusted.x")]
        )
    finally:
        os.unlink(path)


def k_async_io(target):
    """Contexts that are counted for the whole host."""
    return syscall(206, 0, 8, ctypes.byref(ctypes.c_ulong(0))) == 0


def k_fanotify(target):
    """Hear of every file that anybody opens."""
    return any_of([lambda: syscall(300, 262, 0x200 | 0, 0) >= 0, lambda: syscall(294, 26, 0) >= 0])


def k_memfd(target):
    """Memory that belongs to no process."""
    return any_of([lambda: os.memfd_create("x") >= 0, lambda: syscall(447, 447, 0) >= 0])


def k_exec_memory(target):
    """Run a program that lies in no file: by its descriptor, from memory."""

    def runs():
        fd = os.memfd_create("program", 0)
        with open(os.path.realpath("/bin/true"), "rb") as program:
            os.write(fd, program.read())
        return subprocess.run([f"/proc/self/fd/{fd}"], pass_fds=(fd,), check=False).returncode == 0

    return any_of([runs, lambda: is_heard(lambda: syscall(322, 281, -1, b"", 0, 0, 0x1000))])


def k_splice(target):
    """Move pages between descriptors without copying them."""
    source, sink = os.pipe()
    return any_of(
        [
            lambda: syscall(278, 75, sink, struct.pack("PN", id(source), 0), 0, 0) >= 0,
            lambda: is_heard(lambda: syscall(276, 77, source, sink, 0, 0)),
        ]
    )
