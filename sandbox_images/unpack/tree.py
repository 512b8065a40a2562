"""The tree that layers are laid into: what it takes to add and remove names without leaving its root.

The folder on the way to a name is opened with every link resolved inside the root, as a container would see
it. The name itself is then made or removed in that folder, by descriptor, and never followed.
"""

import errno
import os
import stat
from pathlib import Path

from .caps import Caps
from .refusal import Refused, shown
from .rooted import Opener, Root

_FOLDER = os.O_PATH | os.O_DIRECTORY
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
FOLDER_MODE = 0o755


class Tree:
    """Owns a folder that nobody else writes. Close it."""

    def __init__(self, folder: Path, caps: Caps, opener: Opener | None = None) -> None:
        self._root, self._caps = Root(folder, opener), caps
        self._depths = {self._number(self._root.open(b".", _FOLDER)): 0}
        self._made: set[int] = set()  # inodes of the current layer

    def begin_layer(self) -> None:
        self._made = set()

    def close(self) -> None:
        self._root.close()

    def open_parent(self, parts: list[bytes], *, make: bool) -> int | None:
        """The folder of the name `parts`, links resolved. None: it is not there and need not be made."""
        where = b"/".join(parts[:-1])
        try:
            return self._root.open(where, _FOLDER)
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise Refused(
                    f"{shown(b'/'.join(parts))} lies in what is no folder: {error.strerror}"
                ) from error
        return self._make_folders(parts[:-1]) if make else None

    def _make_folders(self, parts: list[bytes]) -> int:
        here = self._root.open(b".", _FOLDER)
        for count, part in enumerate(parts, start=1):
            try:
                there = self._root.open(b"/".join(parts[:count]), _FOLDER)
            except OSError:
                try:
                    if self._stat(here, part) is not None:
                        raise Refused(
                            f"{shown(part)} leads nowhere, and a layer puts files into it"
                        ) from None
                    self.make_folder(here, part)
                finally:
                    os.close(here)
                here = self._root.open(b"/".join(parts[:count]), _FOLDER)
            else:
                os.close(here)
                here = there
        return here

    def make_folder(self, parent: int, name: bytes) -> None:
        """Keeps one that is there."""
        found = self._stat(parent, name)
        if found is None or not stat.S_ISDIR(found.st_mode):
            self._check_depth(parent, name)
            if found is not None:
                os.unlink(name, dir_fd=parent)
            os.mkdir(name, FOLDER_MODE, dir_fd=parent)
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            self._depths[found.st_ino] = self._depth(parent) + 1
        self._made.add(found.st_ino)

    def new_file(self, parent: int, name: bytes, mode: int) -> int:
        """A descriptor to write to. What had this name is gone, content and all."""
        self.remove(parent, name)
        fd = os.open(name, _NEW_FILE, mode, dir_fd=parent)
        self._made.add(os.fstat(fd).st_ino)
        return fd

    def new_link(self, parent: int, name: bytes, target: bytes) -> None:
        self.remove(parent, name)
        os.symlink(target, name, dir_fd=parent)
        self._made.add(os.stat(name, dir_fd=parent, follow_symlinks=False).st_ino)

    def new_hard_link(self, parent: int, name: bytes, target: list[bytes]) -> None:
        where = self.open_parent(target, make=False)
        try:
            found = None if where is None else self._stat(where, target[-1])
            usable = found is not None and (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode))
            if where is None or found is None or not usable:
                raise Refused(f"{shown(name)} is a hard link to {shown(b'/'.join(target))}, which is no file")
            there = self._stat(parent, name)
            if there is None or there.st_ino != found.st_ino:
                self.remove(parent, name)
                os.link(target[-1], name, src_dir_fd=where, dst_dir_fd=parent, follow_symlinks=False)
            self._made.add(found.st_ino)
        finally:
            if where is not None:
                os.close(where)

    def remove(self, parent: int, name: bytes) -> None:
        """With everything in it; nothing there is fine too."""
        self._remove_all(parent, [name], kept=frozenset())

    def white_out(self, parent: int, name: bytes) -> None:
        """Remove what earlier layers have put there."""
        found = self._stat(parent, name)
        if found is None:
            return
        if found.st_ino in self._made:
            raise Refused(f"a layer both makes and removes {shown(name)}")
        self._remove_all(parent, [name], kept=self._made)

    def white_out_content(self, folder: int) -> None:
        """Remove what earlier layers have put into this folder."""
        listed = os.open(b".", _LISTED, dir_fd=folder)
        try:
            self._remove_all(listed, [os.fsencode(name) for name in os.listdir(listed)], kept=self._made)
        finally:
            os.close(listed)

    def _remove_all(self, parent: int, names: list[bytes], *, kept: frozenset[int] | set[int]) -> None:
        """Without recursion, so that no tree is too deep; a folder stays while something kept is in it."""
        stack = [(os.dup(parent), names)]
        visited: set[int] = set()
        try:
            while stack:
                here, pending = stack[-1]
                if not pending:
                    os.close(stack.pop()[0])
                    continue
                found = self._stat(here, pending[-1])
                if found is None or not stat.S_ISDIR(found.st_mode):
                    if found is not None and found.st_ino not in kept:
                        os.unlink(pending[-1], dir_fd=here)
                    pending.pop()
                elif found.st_ino in visited:
                    self._remove_empty(here, pending.pop(), found.st_ino, kept)
                else:
                    visited.add(found.st_ino)
                    there = os.open(pending[-1], _LISTED, dir_fd=here)
                    stack.append((there, [os.fsencode(name) for name in os.listdir(there)]))
        finally:
            for here, _ in stack:
                os.close(here)

    def _remove_empty(self, parent: int, name: bytes, number: int, kept: frozenset[int] | set[int]) -> None:
        if number in kept:
            return
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise

    def _check_depth(self, parent: int, name: bytes) -> None:
        # The folder's real depth: links on the way can make a short name end deep.
        if self._depth(parent) + 1 > self._caps.depth:
            raise Refused(f"{shown(name)} lies deeper than {self._caps.depth} folders")

    def _depth(self, folder: int) -> int:
        return self._depths[os.fstat(folder).st_ino]

    def _number(self, fd: int) -> int:
        try:
            return os.fstat(fd).st_ino
        finally:
            os.close(fd)

    def _stat(self, parent: int, name: bytes) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            return None
