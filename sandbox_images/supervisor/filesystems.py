"""The file systems of one run: its block, and the places where it may write. In memory, limited, new.

The kernel gives each file system the lowest number that is free on the host, and a run can look at it: so one
that came and went could tell of others. Here each has the number that its like had in the slot's run before,
unless somebody else on the host, who does not take turns with the slots, was faster.
"""

import errno
import fcntl
import json
import os
import time
from contextlib import contextmanager

from . import kernel

_LONG_AGO = (946_684_800, 946_684_800)  # 2000-01-01: whenever a block was made
_FOLDER, _FILE = 0o700, 0o600  # of an input: mounted read-only, and its copies can be written to
# Of a level at one time; beyond it a run is told that it has too many files open. As many of all seats of a
# slot stay below the pages that the kernel gives to one user before it makes pipes smaller (16384).
_MOST_PIPES = 200
_PATIENCE_S = 2.0
_MOST_BELOW = 200  # numbers that others have freed; each costs a descriptor while it is held
_TRIES, _PAUSE_S = 20, 0.001  # the kernel may free a file system a little later than its last user goes

INPUT, OUTPUT = "/run/dpgate/in", "/run/dpgate/out"  # where all levels of a run find the same two
_INPUT, _OUTPUT, _TALK = "input", "output", "talk"
_HANDED_OVER = (_OUTPUT, _TALK)  # the worker closes its descriptors of these after a run's report


class FileSystems:
    """Those of a slot's next run. They are made before it comes, which also keeps their numbers for it."""

    def __init__(self, limits, levels, lock, *, talks):
        """`talks`: runs have somewhere to write what they say. `lock`: a file that all slots of this host
        lock while a number of theirs is free for a moment.
        """
        writable = {"mode": "0700", "nr_inodes": limits.inodes}
        small = {**writable, "size": limits.tmp_bytes}
        of_level = {"tmp": small, "shared": small, "pipes": {"mode": "0700", "nr_inodes": _MOST_PIPES}}
        self._options: dict[object, dict[str, object]] = {
            _INPUT: {"mode": "0700", "size": 0, "nr_inodes": 0},  # who fills it is the supervisor
            _OUTPUT: {**writable, "size": limits.output_bytes},
            **({_TALK: {"mode": "0700"}} if talks else {}),
            **{(name, level): each for level in range(levels) for name, each in of_level.items()},
        }
        self._lock = lock
        self._numbers: dict[object, int] = {}  # by role
        self._below = 0  # how many numbers were free below them
        self._new: dict[object, int] = {}  # descriptors
        with self._alone():
            for role in self._options:
                self._keep(role, self._make(role), [])

    def of_level(self, level):
        """Its /tmp, its /dev/shm, and where its pipes lie, from now on. The run's until it ends."""
        found = tuple(self._new[name, level] for name in ("tmp", "shared", "pipes"))
        for folder in found:
            # they were made when the run before ended, and would say when that was
            os.utime(".", _LONG_AGO, dir_fd=folder)
        return found

    @property
    def talk(self):
        """Where a pipe lies by which a twin's run talks."""
        return self._new[_TALK]

    @contextmanager
    def filled(self, block, before=None, parts=()):
        """For as long as a run lasts: block and output lie at INPUT and OUTPUT. Gives the output's folder,
        by descriptor.

        `block` and `before` are memory files, or None: a header with names and sizes, then the bytes.
        `before` lies in the output when the run starts; `parts` get mount points in the block. Unmounting
        frees everything, however deep a run has nested it.
        """
        self._renew([role for role in self._new if role in _HANDED_OVER])
        attached: list[str] = []
        folder = -1
        try:
            if block is not None:
                _fill_input(self._new[_INPUT], block, parts)
                self._attach(_INPUT, INPUT, attached)
            folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._new[_OUTPUT])
            if before is not None:
                files, offset = _header(before)
                _fill(self._new[_OUTPUT], before, offset, files, _folders_of(files), modes=(0o600, 0o700))
            self._attach(_OUTPUT, OUTPUT, attached)
            yield folder
        finally:
            for place in attached:
                kernel.detach(place)
            if folder >= 0:
                os.close(folder)
        self._renew([role for role in self._new if role not in _HANDED_OVER])

    def _attach(self, role, place, attached):
        kernel.attach(self._new[role], place)
        attached.append(place)

    def _renew(self, roles):
        with self._alone():
            # as many as last time, held by what is no mount: the end of a mount waits for all processors
            lower = [kernel.unmounted_tmpfs() for _ in range(self._below)]
            for role in roles:
                context = kernel.prepared_tmpfs(self._options[role].items())
                os.dup2(context, self._new[role], inheritable=False)  # ends the old one, keeps its place
                # nobody should come between the two, and nothing lower be free
                self._keep(role, kernel.tmpfs_of(context), lower)
            self._below = len(lower) if len(lower) > self._below else max(self._below - 1, 0)
            _close(lower)

    @contextmanager
    def _alone(self):
        """Of all slots of this host: none takes a number for its own that another is about to take back."""
        taken = lock_soon(self._lock)
        try:
            yield
        finally:
            if taken:
                fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _make(self, role):
        return kernel.new_tmpfs(self._options[role].items())

    def _keep(self, role, made, lower):
        """Under the descriptor's number of before: the supervisor looks as it did before its first run."""
        made = self._numbered(role, made, lower)
        before = self._new.setdefault(role, made)
        if before != made:
            os.dup2(made, before, inheritable=False)
            os.close(made)

    def _numbered(self, role, made, lower):
        """`made`, or another with the number of before: whatever is lower goes to `lower`, to be held."""
        number = os.fstat(made).st_dev
        wanted = self._numbers.setdefault(role, number)
        tries = _TRIES
        while number != wanted and tries > 0 and len(lower) < _MOST_BELOW:
            if number < wanted:
                lower.append(made)
            else:  # the old one is not quite gone, or somebody else has taken its number
                os.close(made)
                time.sleep(_PAUSE_S)
                tries -= 1
            made = self._make(role)
            number = os.fstat(made).st_dev
        self._numbers[role] = number
        return made


def _close(descriptors):
    for each in descriptors:
        os.close(each)


def lock_soon(file):
    """Whether it could be had. Whoever holds it needs it for moments; one that hangs must not stop all."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE_S / 2)
        else:
            return True
    return False


def _fill_input(root, block, parts):
    files, offset = _header(block)
    files += [[place, 0] for _, place, is_file in parts if is_file]
    folders = _folders_of(files, [place for _, place, is_file in parts if not is_file])
    _fill(root, block, offset, files, folders, modes=(_FILE, _FOLDER))
    os.chmod(".", _FOLDER, dir_fd=root)
    os.utime(".", _LONG_AGO, dir_fd=root)


def _folders_of(files, places=()):
    """Those that hold `files`, and `places` with those that hold them."""
    return {
        *places,
        *(parent for name in (*places, *(name for name, _ in files)) for parent in _parents(name)),
    }


def _fill(root, block, offset, files, folders, modes):
    """Copy `files` below `root`; `modes` are those of a file and of a folder."""
    for folder in sorted(folders):  # parents sort before their children
        os.mkdir(folder, 0o700, dir_fd=root)
    for name, length in files:
        _copy(block, offset, length, root, name, modes[0])
        offset += length
    for folder in sorted(folders, reverse=True):
        os.chmod(folder, modes[1], dir_fd=root)
        os.utime(folder, _LONG_AGO, dir_fd=root)


def _header(block):
    """Eight bytes of length, then JSON: [[name, size], ...]; the bytes of the files follow without gaps."""
    length = int.from_bytes(os.pread(block, 8, 0), "big")
    return json.loads(os.pread(block, length, 8)), 8 + length


def _parents(name):
    steps = name.split("/")[:-1]
    return ["/".join(steps[: count + 1]) for count in range(len(steps))]


def _copy(block, offset, length, root, name, mode):
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    target = os.open(name, flags, mode, dir_fd=root)
    try:
        end = offset + length
        while offset < end:
            sent = os.sendfile(target, block, offset, end - offset)
            if sent == 0:
                raise OSError(errno.EIO, "a block ends before its last file does")
            offset += sent
        os.utime(target, _LONG_AGO)
    finally:
        os.close(target)
