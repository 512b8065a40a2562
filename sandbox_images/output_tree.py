"""A whole output folder, read after everybody who could change it is dead: plain files or nothing.

Used by the worker on a supervised run's folder, and inside a sandbox by whoever collects there. So it is
small, uses only what the interpreter carries, and believes nothing: no link is followed, no depth exhausts
it, and nothing is read before its size is known to fit.
"""

import errno
import os
import stat

DEEPEST = 32  # names in a path
LONGEST = 1024  # bytes of a path: whoever puts the file elsewhere has a kernel's 4096 for all of it
# O_NONBLOCK: opening a fifo must not wait for a writer; O_NOCTTY: nor may a terminal become ours
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def read_tree(root, most_bytes, most_entries):
    """Every file below the directory descriptor `root`: {path: bytes}, in the order of the paths.

    None if there is anything else, such as a special file, a file with two names, one that its owner cannot
    read, a name that is not plain text, a path that is too deep or too long; if contents and paths together
    exceed `most_bytes`; or if there are more than `most_entries` files and folders. Folders without files are
    left out, and so are symbolic links: tools leave them beside what they write, and what is behind one is
    here under its own name or nowhere.
    """
    left = [most_bytes, most_entries]
    files = _files(root, left)
    try:
        return dict(sorted((path, _content(descriptor, left, path)) for path, descriptor in files))
    except (OSError, NotPlain):
        return None
    finally:
        files.close()


class NotPlain(Exception):
    """Something in there is not a file, a folder or a usable name."""


def check_name(name):
    """A name that any system can hold and any terminal can show; NotPlain otherwise."""
    try:
        length = len(name.encode())
    except UnicodeEncodeError:  # the kernel's bytes were not UTF-8
        raise NotPlain from None
    controls = any(letter < " " or "\x7f" <= letter <= "\x9f" for letter in name)
    if controls or not 0 < length <= 255 or name in (".", "..") or "/" in name:
        raise NotPlain


def check_length(path):
    """NotPlain for a path that cannot be put below any other folder."""
    if len(path.encode()) > LONGEST:
        raise NotPlain


def _files(root, left):
    """(path, descriptor) of every file, depth first. The descriptors are closed in here."""
    walk = [(os.open(".", FLAGS | os.O_DIRECTORY, dir_fd=root), "")]
    entries = [_entries(walk[0][0])]
    try:
        while walk:
            (here, path), name = walk[-1], next(entries[-1], None)
            if name is None:
                entries.pop().close()
                os.close(walk.pop()[0])
                continue
            left[1] -= 1
            check_name(name)
            if left[1] < 0 or len(walk) > DEEPEST:
                raise NotPlain
            try:
                descriptor = os.open(name, FLAGS, dir_fd=here)
            except OSError as error:
                if error.errno == errno.ELOOP:
                    continue
                raise
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                walk.append((descriptor, f"{path}{name}/"))
                entries.append(_entries(descriptor))
                continue
            try:
                check_length(path + name)
                yield path + name, descriptor
            finally:
                os.close(descriptor)
    finally:
        for listing in entries:
            listing.close()
        for here, _ in walk:
            os.close(here)


def _entries(folder):
    """Names one by one: a folder may hold more than memory should."""
    # whoever is root could list what the run's own user cannot: then deployments would differ
    if os.fstat(folder).st_mode & 0o500 != 0o500:
        raise NotPlain
    with os.scandir(folder) as listing:
        for entry in listing:
            yield entry.name


def _content(descriptor, left, path):
    left[0] -= len(path.encode())
    content = plain_content(descriptor, left[0])
    left[0] -= len(content)
    return content


def plain_content(descriptor, most_bytes):
    """NotPlain unless it is a plain file with one name that its owner can read, and no longer than that."""
    facts = os.fstat(descriptor)
    # whoever is root could read what the run's own user cannot: then deployments would differ
    plain = stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1 and facts.st_mode & stat.S_IRUSR
    if not plain or facts.st_size > most_bytes:
        raise NotPlain
    content = b""
    while len(content) <= facts.st_size:
        piece = os.read(descriptor, facts.st_size + 1 - len(content))
        if not piece:
            break
        content += piece
    if len(content) > most_bytes:
        raise NotPlain
    return content
