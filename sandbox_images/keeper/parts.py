"""Parts that many inputs share: they come over the wire once, and are copied into each input that holds them.

Copied, not linked or mounted: a run could read from the number of an inode, or from its time of birth, what
was kept before it, and so what others have; and a mount at `sub-01` would tell the daemon who takes part.
"""

import os
import stat

from .emptying import empty
from .trees import make_folders, seal, seal_folders, step, steps_of

FILE = b"f"
ONLY = "file"  # what a part that is one file is called in its folder
_MOST = 1 << 26  # bytes of one system call
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class Parts:
    """Each in a folder with its number for a name."""

    def __init__(self, root):
        self._root = root
        self._made = {}  # which folders of a part exist, while it comes

    def append(self, number, request):
        """The path of a file in the part, and the next bytes of it."""
        *parents, name = steps_of(request.item())
        if number not in self._made:
            os.mkdir(str(number), 0o700, dir_fd=self._root)
            self._made[number] = {()}
        part = self._open(number)
        here = make_folders(part, parents, self._made[number])
        descriptor = os.open(name, _APPEND, 0o600, dir_fd=here)
        request.to_file(descriptor, request.left)
        for each in (descriptor, here, part):
            os.close(each)

    def complete(self, number):
        del self._made[number]

    def place(self, request, root, made):
        """Number of the part (4 bytes), whether it is one file (1), and its place in the input."""
        part, kind = self._open(request.integer(4)), request.take(1)
        at = steps_of(request.take(request.left))
        if kind == FILE:
            *at, name = at
            here = make_folders(root, at, made)
            _copy_file(part, ONLY, here, name)
            os.close(here)
            seal_folders(root, _on_the_way(at))
        else:
            _copy_tree(part, root, at, made)
        os.close(part)

    def drop(self, number):
        part = self._open(number)
        empty(part)
        os.close(part)
        os.rmdir(str(number), dir_fd=self._root)

    def _open(self, number):
        return step(os.dup(self._root), str(number))


def _copy_tree(part, root, at, made):
    """All files below the part, in the order of their names: the numbers of inodes follow from them alone."""
    touched, waiting = _on_the_way(at), [tuple(at[:0])]
    while waiting:
        below = waiting.pop()
        here = os.dup(part)
        for name in below:
            here = step(here, name)
        there = make_folders(root, (*at, *below), made)
        touched.add((*at, *below))
        for name in sorted(os.listdir(here)):
            if stat.S_ISDIR(os.lstat(name, dir_fd=here).st_mode):
                waiting.append((*below, name))
            else:
                _copy_file(here, name, there, name)
        os.close(here)
        os.close(there)
    seal_folders(root, touched)


def _on_the_way(at):
    return {tuple(at[:depth]) for depth in range(len(at) + 1)}


def _copy_file(here, name, there, new_name):
    source, target = os.open(name, _READ, dir_fd=here), os.open(new_name, _NEW, 0o400, dir_fd=there)
    while os.sendfile(target, source, None, _MOST):
        pass
    os.close(source)
    seal(target)
