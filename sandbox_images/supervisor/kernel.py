"""The system calls that Python does not offer. Each raises OSError with the step's name."""

import ctypes
import errno
import fcntl
import mmap
import os
import stat
import struct

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MS_REC, MS_PRIVATE = 16384, 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_CAPBSET_READ, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 23, 38, 47, 4
FILTER_MODE = 2  # of PR_SET_SECCOMP
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63

# The newer calls share one number on every architecture.
MOVE_MOUNT, _FSOPEN, _FSCONFIG, _FSMOUNT, _CLOSE_RANGE, _PIDFD_GETFD = 429, 430, 431, 432, 436, 438
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SECCOMP_SET_MODE_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32
_FSOPEN_CLOEXEC, _FSMOUNT_CLOEXEC = 1, 1
_FSCONFIG_SET_STRING, _FSCONFIG_CREATE = 1, 6
MOVE_MOUNT_F_EMPTY_PATH = 4
_AT_FDCWD = -100
_Room = ctypes.c_char * 32  # a type that is made anew, or an array that is cast, leaves circles of objects

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
for _call in (_libc.process_vm_readv, _libc.process_vm_writev):
    _call.restype, _word = ctypes.c_ssize_t, ctypes.c_ulong
    _call.argtypes = (ctypes.c_int, ctypes.c_void_p, _word, ctypes.c_void_p, _word, _word)


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


class _Piece(ctypes.Structure):
    _fields_ = (("first", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityData(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def _checked(result, step):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{step}: {os.strerror(number)}")
    return result


def mount(source, target, kind, flags, options=None, *, step=None):
    """`step` is for an error's text, where `target` must not be in it."""
    parts = [part.encode() if part is not None else None for part in (source, target, kind, options)]
    result = _libc.mount(parts[0], parts[1], parts[2], ctypes.c_ulong(flags), parts[3])
    _checked(result, step or f"mount on {target}")


def bind_read_only(source, target, flags, step):
    mount(source, target, None, MS_BIND, step=step)
    mount(None, target, None, MS_BIND | MS_REMOUNT | MS_RDONLY | flags, step=step)


def make_read_only(target):
    """A mount as it is, but read-only: flags that it has are kept, since some cannot be taken off in here."""
    # as ST_*, these have the same values
    kept = os.statvfs(target).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount(None, target, None, MS_BIND | MS_REMOUNT | MS_RDONLY | kept)


def detach(target):
    _checked(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def new_tmpfs(options, *, executable=False):
    """A detached tmpfs, as a descriptor: nobody can see it until it is attached, and closing it ends it."""
    return tmpfs_of(prepared_tmpfs(options), executable=executable)


def prepared_tmpfs(options):
    """One that is still to be made, as a descriptor."""
    context = _checked(_libc.syscall(_FSOPEN, b"tmpfs", _FSOPEN_CLOEXEC), "fsopen tmpfs")
    try:
        for name, value in options:
            pair = (name.encode(), str(value).encode())
            _checked(_libc.syscall(_FSCONFIG, context, _FSCONFIG_SET_STRING, *pair, 0), f"tmpfs {name}")
    except OSError:
        os.close(context)
        raise
    return context


def unmounted_tmpfs():
    """One that has a number, and that nobody can mount: it ends with the descriptor."""
    context = prepared_tmpfs(())
    _create(context)
    return context


def _create(context):
    _checked(_libc.syscall(_FSCONFIG, context, _FSCONFIG_CREATE, None, None, 0), "create tmpfs")


def tmpfs_of(context, *, executable=False):
    """What was prepared, made; it gets its number here. Closes `context`."""
    try:
        _create(context)
        # as MOUNT_ATTR_*, these three have the same values
        attributes = MS_NOSUID | MS_NODEV | (0 if executable else MS_NOEXEC)
        return _checked(_libc.syscall(_FSMOUNT, context, _FSMOUNT_CLOEXEC, attributes), "fsmount tmpfs")
    finally:
        os.close(context)


def attach(descriptor, target):
    """Put a detached mount at its place."""
    result = _libc.syscall(MOVE_MOUNT, descriptor, b"", _AT_FDCWD, target.encode(), MOVE_MOUNT_F_EMPTY_PATH)
    _checked(result, f"attach {target}")


def unshare(flags):
    _checked(_libc.unshare(flags), "unshare")


def enter_namespace(descriptor, kind):
    _checked(_libc.setns(descriptor, kind), "setns")


# POSIX.1-2024; the C library of old distributions has none. Keeps the interpreter's lock, as os.fork does.
_bare_fork = getattr(ctypes.PyDLL(None, use_errno=True), "_Fork", os.fork)


def fork():
    """As os.fork, but without what libraries and the interpreter do before and after one.

    They repair locks that another thread held, and seed generators again. Here is one thread, so every lock
    is free, and warmup.seed_again does the second. Each run would copy some three hundred pages for them.
    """
    return _checked(_bare_fork(), "fork")


class Ending:
    """How a child has ended, for the parent of who waits for it: he alone reads it.

    The kernel writes it to a page that the waiting process shares with its parent, and its children with
    nobody. Make it before the fork of the waiting process.
    """

    _FORM = struct.Struct("=i4x16q")  # status, then struct rusage

    def __init__(self):
        self._page = mmap.mmap(-1, mmap.PAGESIZE)
        self._place = ctypes.addressof(ctypes.c_char.from_buffer(self._page))

    def keep_from_children(self):
        self._page.madvise(mmap.MADV_DONTFORK)

    def wait_for(self, process):
        """In the waiting process, which does not see what is written."""
        status, usage = ctypes.c_void_p(self._place), ctypes.c_void_p(self._place + 8)
        _checked(_libc.wait4(process, status, 0, usage), "wait4")

    def read(self):
        """Status, page faults that read nothing, seconds of processor."""
        status, *usage = self._FORM.unpack_from(self._page)
        return status, usage[8], usage[0] + usage[2] + (usage[1] + usage[3]) / 1e6


def descriptor_of(process, number):
    """A copy of another process's descriptor; `process` is a pidfd."""
    return _checked(_libc.syscall(_PIDFD_GETFD, process, number, 0), "pidfd_getfd")


def kind_of(number):
    """What is open there, of any process alike: its type, its inode, and of which device it is a node."""
    seen = os.fstat(number)
    kind = stat.S_IFMT(seen.st_mode)  # none: all that are of none share one inode, so the name tells
    return kind, seen.st_ino, seen.st_rdev, "" if kind else os.readlink(f"/proc/self/fd/{number}")


def process_numbers():
    """A descriptor: the next process of this namespace gets the number after the one written there."""
    try:
        return os.open("/proc/sys/kernel/ns_last_pid", os.O_WRONLY | os.O_CLOEXEC)
    except OSError as error:
        missing = "ns_last_pid (a kernel without CONFIG_CHECKPOINT_RESTORE, or a closed /proc/sys)"
        raise OSError(error.errno, f"{missing}: {error.strerror}") from error


def close_from(first):
    _checked(_libc.syscall(_CLOSE_RANGE, first, ctypes.c_uint(0xFFFFFFFF), 0), "close_range")


def prctl(option, *values):
    arguments = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _checked(_libc.prctl(option, *arguments), f"prctl {option}")


def capabilities():
    """The numbers of those that this kernel knows."""
    return [
        number for number in range(_LAST_CAPABILITY + 1) if _libc.prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0
    ]


def drop_bounding_set(kept):
    """Capabilities that no exec can bring back."""
    for number in capabilities():
        if number not in kept:
            prctl(PR_CAPBSET_DROP, number)


_THIS_PROCESS, _NONE_AT_ALL = _CapabilityHeader(_CAPABILITY_VERSION_3, 0), (_CapabilityData * 2)()
NO_CAPABILITIES = ctypes.addressof(_THIS_PROCESS), ctypes.addressof(_NONE_AT_ALL)  # what capset takes


def open_descriptors():
    """The numbers of this process's own."""
    listed = [int(name) for name in os.listdir("/proc/self/fd")]  # with the one that lists them
    return {number for number in listed if _libc.fcntl(number, fcntl.F_GETFD) >= 0}


class SystemCallFilter:
    """A compiled seccomp program, kept in memory where a child finds it after the fork."""

    def __init__(self, program):
        self._bytes = ctypes.create_string_buffer(program, len(program))
        self._program = _FilterProgram(len(program) // 8, ctypes.addressof(self._bytes))
        self.address = ctypes.addressof(self._program)  # what PR_SET_SECCOMP takes

    def listen(self):
        """Installs it, for good and for all children. Gives the descriptor on which one hears the calls that
        it hands on.

        Where the kernel can (5.19), only a deadly signal interrupts a call once it has been heard.
        """
        call, address = _SECCOMP[os.uname().machine], self.address
        for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
            found = _libc.syscall(call, _SECCOMP_SET_MODE_FILTER, flags, ctypes.c_void_p(address))
            if found >= 0 or ctypes.get_errno() != errno.EINVAL:
                break
        return _checked(found, "calls of a run cannot be answered")


def memory_of(process, address):
    """Up to 32 bytes of another process: fewer where its memory ends; none where it has none there."""
    room = _Room()
    count = _across(_libc.process_vm_readv, process, ctypes.addressof(room), len(room), address)
    return room.raw[: max(count, 0)]


def put_into(process, address, content):
    """Write to the memory of another process; OSError EFAULT unless all of it went there."""
    place = ctypes.cast(content, ctypes.c_void_p)
    if _across(_libc.process_vm_writev, process, place, len(content), address) != len(content):
        raise OSError(errno.EFAULT, "a process's memory")


def _across(call, process, place, length, address):
    here = _Piece(place, length)
    there = _Piece(ctypes.c_void_p(address), length)
    return call(process, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
