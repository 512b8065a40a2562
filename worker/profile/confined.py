"""Profile one table in a sandbox: no network, no file but the table's own bytes, and those without a name.

The program is a copy of the parts that it needs; the table is its standard input. What it answers has come
from hostile bytes, so it is parsed into a frozen model before anybody looks at it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path

import numpy

from domain.errors import InvalidRequest
from domain.model import parse
from twins.profile import FoundTable, NoTable
from worker.images.confinement import run_confined
from worker.images.program import Confined
from worker.images.refusal import ImageRefused
from worker.profile.frames import joined_reader
from worker.profile.inside import answer_for
from worker.profile.reading import TableFile
from worker.sandbox.core.compiled import with_compiled
from worker.sandbox.core.images import HostImage
from worker.sandbox.core.slot_user import check_open_to_slots
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import MIB, SandboxUnavailable

LONGEST_S = 24 * 3600.0
_ANSWER_BYTES = 256 * MIB
_MEMORY_BYTES = 2048 * MIB  # of address space; what lies in memory is a tenth of it
_CODE, _PACKAGES, _MODEL = "/run/dpgate", "/packages", "/run/dpgate/model"
_PARTS = {
    "domain": ("__init__.py", "dialect.py", "errors.py", "identifier_kind.py", "model.py", "places.py"),
    "formats": ("__init__.py", "delimited.py", "dialect.py"),
    "twins": ("__init__.py",),
    "twins/pii": None,
    "twins/profile": None,
    "domain/refusals": None,
    "worker": ("__init__.py",),
    "worker/profile": ("__init__.py", "frames.py", "inside.py", "reading.py"),
    "worker/scan": ("__init__.py", "plain.py"),
}
"""Files of each package; None for all."""

# one thread: more are neither needed nor counted
_START = (
    "import os, sys; os.environ.update(OPENBLAS_NUM_THREADS='1', OMP_NUM_THREADS='1'); "
    f"sys.path[:0] = [{_CODE!r}, {_PACKAGES!r}]; "
    "from worker.profile.inside import main; sys.exit(main(sys.argv[1:]))"
)
_LOOK_EVERY_S = 0.2

Progress = Callable[[int], None]
"""Called with the position in the file; it goes back to 0 when the second pass begins."""


def _silent(_position: int) -> None:
    """Nobody looks."""


def profile_file(
    descriptor: int,
    name: str,
    *,
    model: bytes,
    is_many: bool = False,
    person: str | None = None,
    is_written: bool = True,
    progress: Progress = _silent,
    wall_s: float = LONGEST_S,
) -> FoundTable:
    """The table behind an open descriptor, which may be read by nobody else meanwhile.

    Raises NoTable with the sentence why it is none, and SandboxUnavailable where nothing can be confined.
    """
    host = _host()
    how = "many" if is_many else "one"
    files = _sources() | ({_MODEL: model} if model else {})
    program = Confined(
        command=(
            *(str(host.interpreter), "-I", "-S", "-B", "-c", _START),
            *(name, how, _MODEL if model else "", person or "", "written" if is_written else "seen"),
        ),
        mounts=(*_mounts(host), "--ro-bind", str(_packages()), _PACKAGES),
        python=host.interpreter,
        files=files,
        wall_s=wall_s,
        memory_bytes=_MEMORY_BYTES,
        answer_bytes=_ANSWER_BYTES,
        stdin=descriptor,
    )
    with _watched(descriptor, progress):
        try:
            ended = run_confined(program)
        except ImageRefused:
            raise NoTable(f"reading it takes longer than {wall_s:g} seconds, or says too much") from None
    return _parse(ended.answer, ended.code)


def profile_here(
    descriptor: int,
    name: str,
    *,
    model: bytes,
    is_many: bool = False,
    person: str | None = None,
    is_written: bool = True,
) -> FoundTable:
    """The same without a sandbox, in this process. Raises NoTable."""
    read = joined_reader(name, descriptor) if is_many else TableFile(name, descriptor)
    return _checked(answer_for(read, model=model, person=person, is_written=is_written))


def _parse(answer: bytes, code: int) -> FoundTable:
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        # 137 and the like: ended by a signal, which is what running out of memory looks like
        raise NoTable(
            f"its reader ended with code {code} before it was done: a cell or row is too large for its memory"
        ) from None
    return _checked(said)


def _checked(said: object) -> FoundTable:
    if isinstance(said, dict) and isinstance(said.get("refused"), str):
        raise NoTable(said["refused"][:1000])
    try:
        return parse(FoundTable, said.get("table") if isinstance(said, dict) else None)
    except InvalidRequest:
        raise NoTable("its reader gave no usable answer; the file may be made to break readers") from None


@contextmanager
def _watched(descriptor: int, progress: Progress) -> Iterator[None]:
    """Reader and watcher share one position in the file."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_LOOK_EVERY_S):
            progress(os.lseek(descriptor, 0, os.SEEK_CUR))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


@cache
def _host() -> HostImage:
    """An interpreter of this one's version: compiled packages fit no other."""
    host = describe()
    if host.interpreter.resolve().name == f"python{sys.version_info[0]}.{sys.version_info[1]}":
        return host
    return describe(Path(sys.prefix))


@cache
def _packages() -> Path:
    place = Path(numpy.__file__).parents[1]
    check_open_to_slots(place)
    return place


@cache
def _sources() -> dict[str, bytes]:
    found = {}
    for package, names in _PARTS.items():
        folder = resources.files(package.split("/")[0]).joinpath(*package.split("/")[1:])
        for file in folder.iterdir():
            if file.is_file() and (file.name in names if names else file.name.endswith(".py")):
                found[f"{_CODE}/{package}/{file.name}"] = file.read_bytes()
    return with_compiled(found)


def _mounts(host: HostImage) -> list[str]:
    flags = []
    for path in host.binds:
        flags += ["--ro-bind", str(path), str(path)]
    for target, link in host.links:
        flags += ["--symlink", target, str(link)]
    return flags


__all__ = ["SandboxUnavailable", "profile_file", "profile_here"]
