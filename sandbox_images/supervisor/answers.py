"""The calls of a run that its supervisor answers, because the kernel would with a number of the whole host.

Pipes are numbered in one sequence for the host, and load, memory and free space are the host's own: what a
run does to them, another could read. So the filter that the zygote has installed (sandbox_images/seccomp/
answered.py) has the kernel ask here: a pipe becomes a FIFO in a file system of the run's own, whose inodes
are numbered from 1, and figures become the run's own limits.

The zygote itself must make none of these calls between runs: nobody would answer.
"""

import errno
import fcntl
import os
import re
import struct
from contextlib import suppress

from . import kernel

# linux/seccomp.h: SECCOMP_IOCTL_NOTIF_RECV, SEND, ADDFD, SET_FLAGS
_RECEIVE, _SEND, _ADD_DESCRIPTOR, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40182103, 0x40082104
_WAKE_ON_THIS_CPU = 1  # Linux 6.6: who asked goes on where its answer was made
_REQUEST = struct.Struct("=QIIiIQ6Q")  # id, process, flags, number, architecture, instruction, arguments
_ANSWER = struct.Struct("=QqiI")  # id, value, error, flags
_DESCRIPTOR = struct.Struct("=QIIII")  # id, flags, descriptor here, descriptor there, its flags
_LET_THE_KERNEL = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE

_FIFO, _OPEN_FLAGS = "pipe", os.O_CLOEXEC | os.O_NONBLOCK
_PAGE, _TMPFS_MAGIC, _LONGEST_NAME = 4096, 0x01021994, 255
_MOUNT_FLAGS = 0x20 | kernel.MS_NOSUID | kernel.MS_NODEV  # the first says that the others mean something
# struct statfs: type, block size, blocks, free, available, inodes, free, id, longest name, fragment, flags
_STATFS = struct.Struct("=7q2i3q32x")
# struct sysinfo: uptime, loads, total, free, shared, buffers, swap, free, processes, high memory, unit
_SYSINFO = struct.Struct("=q9QH6x2QI4x")
# the kernel's struct sigaction: handler, flags, restorer, mask
_ACTION, _SA_RESTART = struct.Struct("=4Q"), 0x10000000
_ALL_SIGNALS, _OF_THE_LIBRARY = (1 << 64) - 1, 0b111 << 31  # the C library leaves its own, 32 to 34, out
_OWN = b"/proc/self/"
_KNOWN_LINK = re.compile(_OWN + rb"(exe|fd/[0-9]+)")


class Gone(Exception):
    """Who asked has ended meanwhile."""


class Answers:
    """Answers the processes of one slot's runs."""

    def __init__(self, listener, numbers, limits):
        """`listener`: where the kernel asks. `numbers`: of the calls that are answered, by name."""
        answers = {
            "pipe": self._pipe,
            "pipe2": self._pipe,
            "statfs": self._statfs,
            "fstatfs": self._statfs,
            "sysinfo": self._sysinfo,
            "readlink": self._readlink,
            "readlinkat": self._readlink,
            "rt_sigaction": self._restart,
        }
        self._answers = {number: (answers[name], name) for name, number in numbers.items()}
        pages = limits.tmp_bytes // _PAGE
        self._space = _STATFS.pack(
            _TMPFS_MAGIC, _PAGE, *[pages] * 3, *[limits.inodes] * 2, 0, 0, _LONGEST_NAME, _PAGE, _MOUNT_FLAGS
        )
        self._machine = _SYSINFO.pack(1, 0, 0, 0, *[limits.memory_bytes] * 2, 0, 0, 0, 0, 1, 0, 0, 1)
        self.pipes = -1  # where those of this level lie
        self.listener = listener
        self._check()

    def answer(self):
        """One call: to be called when the listener can be read."""
        request = bytearray(_REQUEST.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, request)
        except FileNotFoundError:  # killed while it waited
            return
        ident, process, _, number, _, _, *arguments = _REQUEST.unpack(request)
        answer, name = self._answers[number]
        try:
            value, error, flags = answer(name, ident, process, arguments)
        except OSError as failure:
            value, error, flags = 0, failure.errno, 0
        except Gone:
            return
        try:
            fcntl.ioctl(self.listener, _SEND, bytearray(_ANSWER.pack(ident, value, -error, flags)))
        except FileNotFoundError:
            return

    def _check(self):
        """A kernel that cannot hand over descriptors (before 5.9) says so now, not in a run."""
        with suppress(FileNotFoundError):  # there is no such call: the right answer
            fcntl.ioctl(self.listener, _ADD_DESCRIPTOR, bytearray(_DESCRIPTOR.pack(0, 0, 0, 0, 0)))
        with suppress(OSError):  # before 6.6: only slower
            fcntl.ioctl(self.listener, _SET_FLAGS, _WAKE_ON_THIS_CPU)

    def _pipe(self, name, ident, process, arguments):
        where, flags = arguments[0], arguments[1] & 0xFFFFFFFF if name == "pipe2" else 0
        if flags & ~_OPEN_FLAGS:
            raise OSError(errno.EINVAL, "a pipe of another kind")
        ends = fifo_in(self.pipes, flags & os.O_NONBLOCK)
        try:
            numbers = [self._hand_over(ident, end, flags & os.O_CLOEXEC) for end in ends]
        finally:
            for end in ends:
                os.close(end)
        kernel.put_into(process, where, struct.pack("=2i", *numbers))
        return 0, 0, 0

    def _hand_over(self, ident, descriptor, flags):
        message = bytearray(_DESCRIPTOR.pack(ident, 0, descriptor, 0, flags))
        try:
            return fcntl.ioctl(self.listener, _ADD_DESCRIPTOR, message)
        except FileNotFoundError:
            raise Gone from None

    def _statfs(self, _, __, process, arguments):
        kernel.put_into(process, arguments[1], self._space)
        return 0, 0, 0

    def _sysinfo(self, _, __, process, arguments):
        kernel.put_into(process, arguments[0], self._machine)
        return 0, 0, 0

    def _restart(self, _, __, process, arguments):
        """An action for SIGCHLD like that of dash is made one that lets calls go on: else a shell whose first
        program ends while it waits for the pipe behind the second is told that there are no pipes. Others
        rely on being broken off: a handler of Python's or perl's runs only then.
        """
        action = kernel.memory_of(process, arguments[1])
        if len(action) == _ACTION.size:
            handler, flags, restorer, mask = _ACTION.unpack(action)
            if mask | _OF_THE_LIBRARY == _ALL_SIGNALS:
                changed = _ACTION.pack(handler, flags | _SA_RESTART, restorer, mask)
                with suppress(OSError):  # not to be written: it stays as it is
                    kernel.put_into(process, arguments[1], changed)
        return 0, 0, _LET_THE_KERNEL

    def _readlink(self, name, _, process, arguments):
        """Two names below /proc, which is empty, are known: programs find their libraries by the first."""
        path, buffer, room = arguments[name == "readlinkat" :][:3]
        asked, ended, _ = kernel.memory_of(process, path).partition(b"\0")
        if not ended or not 0 < room < 1 << 31 or not _KNOWN_LINK.fullmatch(asked):
            return 0, 0, _LET_THE_KERNEL
        below = asked.removeprefix(_OWN).decode()
        target = os.fsencode(os.readlink(f"/proc/{process}/{below}"))[:room]
        kernel.put_into(process, buffer, target)
        return len(target), 0, 0


def fifo_in(folder, flags=0):
    """Both ends of a new pipe in a file system of a run's own; it has no name any more. OSError EMFILE."""
    both = -1
    try:
        os.mkfifo(_FIFO, 0o600, dir_fd=folder)
        try:
            # who opens both ends waits for nobody, nor do those who open one while he has them
            both = os.open(_FIFO, os.O_RDWR | os.O_CLOEXEC, dir_fd=folder)
            reading = os.open(_FIFO, os.O_RDONLY | os.O_CLOEXEC | flags, dir_fd=folder)
            return reading, os.open(_FIFO, os.O_WRONLY | os.O_CLOEXEC | flags, dir_fd=folder)
        finally:
            os.unlink(_FIFO, dir_fd=folder)
            if both >= 0:
                os.close(both)
    except OSError:  # whichever limit it was, of this process or of the host: a run hears of one
        raise OSError(errno.EMFILE, "too many pipes") from None
