"""Files out of a run's folder, after everybody who could change it is dead."""

import os
import stat

from sandbox_images.output_tree import read_tree

# O_NONBLOCK: opening a fifo must not wait for a writer; O_NOCTTY: nor may a terminal become ours
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def named(root, request):
    """All outputs that were asked for, each behind its length (4 bytes), or None. The request begins with a
    cap on each (8).
    """
    cap, pieces = request.integer(8), []
    paths = []
    while request.left:
        paths.append(request.item())
    for path in paths:
        content = read_output(root, path, cap)
        if content is None:
            return None
        pieces += [len(content).to_bytes(4, "big"), content]
    return pieces


def tree(root, request):
    """Everything below the folder, or None. The request is a cap on bytes (8) and one on entries (8)."""
    files = read_tree(root, request.integer(8), request.integer(8))
    return None if files is None else list(framed(files))


def read_output(root, path, cap):
    """A plain file's bytes, or None for a link anywhere on the way, a second name or a special file."""
    try:
        descriptor = open_beneath(root, path)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_size > cap:
            return None
        return read_at_most(descriptor, cap)
    finally:
        os.close(descriptor)


def open_beneath(root, path):
    *folders, name = path.split(b"/")
    here = os.dup(root)
    try:
        for folder in folders:
            there = os.open(folder, _FLAGS | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = there
        return os.open(name, _FLAGS, dir_fd=here)
    finally:
        os.close(here)


def read_at_most(descriptor, cap):
    content = b""
    while len(content) <= cap:
        piece = os.read(descriptor, cap + 1 - len(content))
        if not piece:
            return content
        content += piece
    return None


def framed(files):
    """For a pipe, as pieces: their number (4 bytes), then of each the length of its path (4), the path, the
    length of its content (8), the content. Integers are big-endian.
    """
    yield len(files).to_bytes(4, "big")
    for path, content in files.items():
        name = path.encode()
        yield len(name).to_bytes(4, "big") + name + len(content).to_bytes(8, "big")
        yield content
