"""The file systems of one run: its block, and three places where it may write. In memory, limited, new."""

import errno
import json
import os

from . import kernel

_LONG_AGO = (946_684_800, 946_684_800)  # 2000-01-01: whenever a block was made
_FOLDER, _FILE = 0o500, 0o400
_PAGE = 4096


INPUT, OUTPUT = "/run/dpgate/in", "/run/dpgate/out"  # where all levels of a run find the same two


class RunFileSystems:
    """Block and output lie at INPUT and OUTPUT while the run lasts, the rest is detached. Unmounting frees
    everything, however deep a run has nested it.
    """

    def __init__(self, block, limits, before=None, parts=()):
        """`block` and `before` are memory files, or None: a header with names and sizes, then the bytes.

        `before` lies in the output when the run starts; `parts` get mount points in the block.
        """
        self.descriptors, self._attached = [], []
        try:
            if block is not None:
                self._attach(self._input(block, parts), INPUT)
            writable = {"mode": "0700", "nr_inodes": limits.inodes}
            self.output = self._new({**writable, "size": limits.output_bytes})
            self.output_folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.output)
            self.descriptors.append(self.output_folder)
            if before is not None:
                files, offset = _header(before)
                _fill(self.output, before, offset, files, _folders_of(files), modes=(0o600, 0o700))
            self._attach(self.output, OUTPUT)
            self._writable = {**writable, "size": limits.tmp_bytes}
        except BaseException:
            self.close()
            raise

    def for_level(self):
        """A level's /tmp and /dev/shm: what an earlier level left there is gone."""
        return self._new(self._writable), self._new(self._writable)

    def forget(self, *descriptors):
        for descriptor in descriptors:
            self.descriptors.remove(descriptor)
            os.close(descriptor)

    def close(self):
        while self._attached:
            kernel.detach(self._attached.pop())
        while self.descriptors:
            os.close(self.descriptors.pop())

    def _attach(self, descriptor, place):
        kernel.attach(descriptor, place)
        self._attached.append(place)

    def _new(self, options):
        descriptor = kernel.new_tmpfs(options.items())
        self.descriptors.append(descriptor)
        return descriptor

    def _input(self, block, parts):
        files, offset = _header(block)
        files += [[place, 0] for _, place, is_file in parts if is_file]
        folders = _folders_of(files, [place for _, place, is_file in parts if not is_file])
        size = sum(-(-size // _PAGE) * _PAGE for _, size in files) + _PAGE
        inodes = len(files) + len(folders) + 2
        root = self._new({"mode": "0700", "size": size, "nr_inodes": inodes})
        _fill(root, block, offset, files, folders, modes=(_FILE, _FOLDER))
        os.chmod(".", _FOLDER, dir_fd=root)
        os.utime(".", _LONG_AGO, dir_fd=root)
        return root


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
