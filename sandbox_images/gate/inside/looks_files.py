"""Every visible path with all that `lstat` tells, what is in /proc and /sys, and what a new file is told."""

import os
from contextlib import suppress

from call_table import PLACES  # type: ignore[import-not-found]
from raw import FIELDS, code_of, digest, facts, libc, told  # type: ignore[import-not-found]

_NAMED_DEPTH = 2  # up to here each path has values of its own; what lies deeper is added up
_OWN = ("/proc", "/sys")  # read, not only listed
_READ = ("/proc", "/proc/self", "/sys")
_LONGEST = 65_536
_NO_LOOK = ("kmsg", "trace_pipe", "pagemap", "mem", "kcore", "clear_refs")  # endless, or without content
_ROOM = ("/tmp", "/dev/shm", "/out")  # noqa: S108 - a run's own
_CONTENT = ("/etc", "/in", "/out", "/tmp", "/dev/shm")  # noqa: S108
_NAMES = ("st_ino", "st_nlink", "st_size", "st_blocks")


def look(call, *, most):
    """`most`: of the paths that are looked at."""
    found: dict[str, object] = {}
    found.update(_tree(most))
    found.update(_listed(call))
    found.update(_read_all())
    found.update(_new_files())
    return found


def _tree(most):
    """In the order of names, level by level."""
    found: dict[str, object] = {}
    sums: dict[str, list[tuple[object, ...]]] = {}
    folders, count = ["/"], 0
    while folders:
        below = []
        for folder in folders:
            for path in _paths(folder):
                count += 1
                if count > most:
                    break
                try:
                    seen = os.lstat(path)
                except OSError as error:
                    found[f"path {path}"] = code_of(error)
                    continue
                target = os.readlink(path) if (seen.st_mode & 0o170000) == 0o120000 else ""
                if path.count("/") <= _NAMED_DEPTH:
                    found.update(zip((f"path {path} {name}" for name in FIELDS), told(seen), strict=True))
                    found[f"path {path} target"] = target
                    found.update(_attributes(path))
                else:
                    group = sums.setdefault("/".join(path.split("/")[: _NAMED_DEPTH + 1]), [])
                    group.append((path, target, *told(seen)))
                if (seen.st_mode & 0o170000) == 0o040000 and path not in _OWN:
                    below.append(path)
        folders = below if count <= most else []
    for place, rows in sums.items():
        for index, name in enumerate(("path", "target", *FIELDS)):
            found[f"below {place} {name}"] = digest(repr([row[index] for row in rows]))
    found["paths"] = min(count, most)
    return found


def _paths(folder):
    if folder == "/":
        yield "/"
    with suppress(OSError):
        yield from (os.path.join(folder, name) for name in sorted(os.listdir(folder)))


def _attributes(path):
    try:
        return {
            f"path {path} attribute {name}": digest(os.getxattr(path, name, follow_symlinks=False))
            for name in os.listxattr(path, follow_symlinks=False)
        }
    except OSError as error:
        return {f"path {path} attributes": code_of(error)}


def _listed(call):
    """What the kernel writes for a folder: numbers and places of its entries beside their names."""
    import ctypes

    found: dict[str, object] = {}
    for place in PLACES:
        try:
            folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue
        room = ctypes.create_string_buffer(_LONGEST)
        size = libc.syscall(call.number("getdents64"), folder, room, _LONGEST)
        found[f"folder {place}"] = digest(room.raw[: max(size, 0)])
        for whence in (3, 4):
            try:
                found[f"folder {place} seek {whence}"] = os.lseek(folder, 0, whence)
            except OSError as error:
                found[f"folder {place} seek {whence}"] = code_of(error)
        os.close(folder)
    return found


def _read_all():
    """Whatever opens below /proc and /sys, and the small files of some places."""
    found: dict[str, object] = {}
    for top in (*_READ, *_CONTENT):
        for folder, folders, files in os.walk(top):
            folders[:] = sorted(name for name in folders if top == "/sys" or not name.isdigit())[:200]
            if folder.count("/") > 4:
                folders[:] = []
            for name in sorted(files)[:200]:
                path = os.path.join(folder, name)
                if name not in _NO_LOOK:
                    found[f"content {path}"] = _content(path)
    found["processes"] = repr(sorted(filter(str.isdigit, os.listdir("/proc"))))
    for name in ("ns/pid", "ns/mnt", "ns/net", "ns/ipc", "ns/uts", "ns/user", "ns/cgroup", "ns/time", "cwd"):
        with suppress(OSError):
            found[f"link {name}"] = os.readlink(f"/proc/self/{name}")
    return found


def _content(path):
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        return code_of(error)
    try:
        return digest(os.read(handle, _LONGEST))
    except OSError as error:
        return code_of(error)
    finally:
        os.close(handle)


def _new_files():
    """The number and size of a new file and a new folder, and the order in which files are listed."""
    found: dict[str, object] = {}
    for place in _ROOM:
        names = [os.path.join(place, f"gate-{number}") for number in range(3)]
        for name in names:
            with suppress(OSError), open(name, "wb") as file:
                file.write(b"x" * 5000)
                file.flush()
                found.update({f"new {name} {key}": value for key, value in facts(file.fileno()).items()})
        folder = os.path.join(place, "gate-folder")
        with suppress(OSError):
            os.mkdir(folder)
            seen = os.stat(folder)
            found.update({f"new {folder} {name[3:]}": getattr(seen, name) for name in _NAMES})
        with suppress(OSError):
            found[f"new in {place}"] = repr(os.listdir(place))
        for name in names:
            with suppress(OSError):
                os.unlink(name)
        with suppress(OSError):
            os.rmdir(folder)
    return found
