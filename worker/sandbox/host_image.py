"""The root file system of the embedded default: this host's own /usr and, if the operator names one, a Python
environment at its own place. Nothing of /etc, /home, /root, /var or /opt unless the environment lies there.

The digest is a fingerprint that changes when what runs can see changes: SHA-256 over the interpreter's bytes,
and the listing (path, mode, size, time of change) of everything that is mounted except manuals and Python's
own caches. What is installed outside of that is not in it, nor that something was. It tells two states of one
host apart. It does not identify content the way an image archive's digest does: the same packages on another
host give another digest, and whoever can forge sizes and times as root can forge it. For original data under
review, prefer an imported image.

A worker looks at its start. Before a job it looks at a few times of change, which installing something moves,
and at everything again if one has moved.
"""

import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

from worker.sandbox.core.slot_user import check_open_to_slots

from .core.images import HostImage
from .protocol import SandboxUnavailable

Mark = tuple[str, int, int]  # path, inode, time of change
OLDEST_PYTHON = (3, 11)
_SYSTEM_INTERPRETERS = (Path("/usr/local/bin/python3"), Path("/usr/bin/python3"))
# On a merged /usr these are links into it; elsewhere folders of their own.
_BESIDE_USR = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# The loader's cache, and the links by which /usr/lib/libblas.so.3 and the like are chosen.
_FROM_ETC = ("/etc/ld.so.cache", "/etc/alternatives")
# Where the sandbox mounts something else.
_COVERED = ("/tmp", "/dev", "/proc", "/in", "/out", "/pipeline", "/run/dpgate")  # noqa: S108
# Their times of change tell that something was installed, their content not what of it runs can see.
_PACKAGE_DATABASES = ("/var/lib/dpkg/status", "/lib/apk/db/installed", "/var/lib/rpm/rpmdb.sqlite")
# For people to read: with most packages only the list of their changes there is new.
_NOT_LISTED = {f"/usr/share/{name}" for name in ("doc", "info", "man")}


def describe(python_env: Path | None = None, *, is_run: bool = True) -> HostImage:
    """Look at the host as it is now. Takes half a second: do it once per worker and after upgrades.

    `is_run`: False where pipelines run in another image and it only starts their supervisors. Then it has no
    digest, which takes nearly all of that time.
    """
    environment = () if python_env is None else _environment_roots(python_env)
    interpreter = _find_interpreter(python_env)
    _check_version(interpreter)
    for path in (*environment, interpreter):
        check_open_to_slots(path)
    links = tuple((os.readlink(name), Path(name)) for name in _BESIDE_USR if os.path.islink(name))
    folders = tuple(Path(name) for name in _BESIDE_USR if os.path.isdir(name) and not os.path.islink(name))
    from_etc = tuple(Path(name) for name in _FROM_ETC if os.path.exists(name))
    binds = (Path("/usr"), *folders, *from_etc, *environment)
    marks = _marks(_places(interpreter, binds))
    return HostImage(
        name="host-python",
        digest=_digest(interpreter, binds) if is_run else "not looked at",
        interpreter=interpreter,
        binds=binds,
        links=links,
        search_path=":".join([*(f"{root}/bin" for root in environment[:1]), "/usr/local/bin:/usr/bin:/bin"]),
        marks=marks,
    )


@dataclass
class Looks:
    """Whether the host is still as it was described."""

    image: HostImage
    _marks: tuple[Mark, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._marks = self.image.marks

    def is_unchanged(self) -> bool:
        marks = _marks(place for place, *_ in self._marks)
        if marks == self._marks:
            return True
        try:
            if _digest(self.image.interpreter, self.image.binds) != self.image.digest:
                return False
        except FileNotFoundError:  # it goes on right now, or something of it is gone
            return False
        self._marks = marks  # of before that look: what came meanwhile is looked at the next time
        return True


def _places(interpreter: Path, binds: tuple[Path, ...]) -> Iterator[str]:
    """Cheap to look at, and moved by what installs: the distribution's packages, or Python's."""
    yield from (*_PACKAGE_DATABASES, *_FROM_ETC, str(interpreter), *map(str, binds))
    for root in binds:
        for above in (root, root / "local"):
            yield from sorted(map(str, above.glob("lib/python3*/*-packages")))


def _marks(places: Iterable[str]) -> tuple[Mark, ...]:
    """Of each the file that is there and its time of change; zeros for none."""
    found = []
    for place in places:
        try:
            seen = os.stat(place)
        except OSError:
            found.append((place, 0, 0))
        else:
            found.append((place, seen.st_ino, seen.st_mtime_ns))
    return tuple(found)


def _environment_roots(python_env: Path) -> tuple[Path, ...]:
    """The environment, and the installation it was made from unless /usr already brings that."""
    env = python_env.absolute()
    _check_not_covered(env)
    config = env / "pyvenv.cfg"
    if not config.exists():
        return (env,)
    settings = dict(line.split("=", 1) for line in config.read_text().splitlines() if "=" in line)
    home = next((value.strip() for key, value in settings.items() if key.strip() == "home"), None)
    if home is None:
        raise SandboxUnavailable(
            f"{config} names no home: this is not a virtual environment that can be mounted"
        )
    base = Path(home).parent
    _check_not_covered(base)
    return (env,) if base.is_relative_to("/usr") else (env, base)


def _check_not_covered(root: Path) -> None:
    if any(root.is_relative_to(covered) for covered in _COVERED):
        raise SandboxUnavailable(
            f"{root} is not visible to pipelines, which have a place of their own there: move it"
        )


def _find_interpreter(python_env: Path | None) -> Path:
    candidates = _SYSTEM_INTERPRETERS if python_env is None else (python_env.absolute() / "bin" / "python3",)
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            return candidate
    raise SandboxUnavailable(
        f"no Python at {' or '.join(map(str, candidates))}: install the distribution's python3 package, "
        "or name a Python environment for pipelines"
    )


def _check_version(interpreter: Path) -> None:
    """Asked of the interpreter itself; the operator chose it, so it is run as it is."""
    question = "import sys, resource, _ctypes; print(*sys.version_info[:2])"
    answer = subprocess.run(
        [interpreter, "-I", "-S", "-c", question],
        env={},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    if answer.returncode != 0:
        raise SandboxUnavailable(f"{interpreter} does not run, or lacks the resource or ctypes module")
    if tuple(int(part) for part in answer.stdout.split()) < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        raise SandboxUnavailable(
            f"{interpreter} is Python {answer.stdout.strip().replace(' ', '.')}, older than {wanted}: "
            "install a newer python3, or name a Python environment for pipelines"
        )


def _digest(interpreter: Path, binds: tuple[Path, ...]) -> str:
    total = hashlib.sha256(f"host-python 2 {sys.byteorder}\0{interpreter}\0".encode())
    total.update(_content(interpreter))
    for root in binds:
        # written anew, with the same in them, whenever any library is installed
        for line in _contents(root) if root.is_relative_to("/etc") else _listing(root):
            total.update(line)
    return f"sha256:{total.hexdigest()}"


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _contents(root: Path) -> Iterator[bytes]:
    """A file, or a folder of links, by what is in it."""
    for path in sorted(root.iterdir()) if root.is_dir() else [root]:
        what = os.readlink(path).encode(errors="surrogateescape") if path.is_symlink() else b""
        if path.is_file() and not what:
            what = _content(path)
        yield f"{path}\0{path.lstat().st_mode}\0".encode(errors="surrogateescape") + what + b"\n"


def _listing(root: Path) -> Iterator[bytes]:
    """One line per entry, in an order that does not depend on the file system."""
    yield _line(str(root), root.lstat()).encode(errors="surrogateescape")
    pending = [str(root)] if root.is_dir() else []
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                found = sorted(entries, key=attrgetter("name"))
        except PermissionError:  # a folder that this worker's pipelines cannot read either
            continue
        lines = []
        for entry in found:
            if entry.name == "__pycache__":  # rewritten whenever root runs something new
                continue
            lines.append(_line(entry.path, entry.stat(follow_symlinks=False)))
            if entry.is_dir(follow_symlinks=False) and entry.path not in _NOT_LISTED:
                pending.append(entry.path)
        yield "".join(lines).encode(errors="surrogateescape")


def _line(path: str, found: os.stat_result) -> str:
    # A folder's own size and time change with caches inside it; its entries are listed anyway.
    if stat.S_ISDIR(found.st_mode):
        return f"{path}\0{found.st_mode}\n"
    return f"{path}\0{found.st_mode}\0{found.st_size}\0{found.st_mtime_ns}\n"
