"""The parts of views that a slot has ready: bound where they lie if that may be, else copied once.

A copy lies in the slot's own scratch folder under a random name, so no two slots share an inode through it.
Copies that no view has asked for lately go when others need their room.
"""

import os
import secrets
import stat
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.core.scratch import Scratch, remove_tree, seal_tree
from worker.sandbox.core.slot_user import check_open_to_slots
from worker.view import Part, View, check_path

from .capacity import room_of, room_of_parts
from .core.given import VIEW_ABOVE_BYTES
from .protocol import MIB, SandboxUnavailable

_ONLY = "file"  # what the copy of a single file is called in its folder


@dataclass(frozen=True)
class Bound:
    """A part, ready to be bound."""

    place: str  # in the input
    is_file: bool
    source: Path  # on this host
    root: int | None = None  # which of the roots it lies below; None: it is a copy in the slot's folder


class Parts:
    """One slot's. `folder` is the slot's own, of the worker's scratch; whoever made it removes it.

    `most_bytes`: of the largest input, and of all copies together.
    """

    def __init__(self, folder: Path, roots: Sequence[Path], *, user: int, most_bytes: int) -> None:
        self._folder, self._user, self._most_bytes = folder, user, most_bytes
        self.roots = tuple(root.resolve() for root in roots if _is_open(root))
        self._in_place: dict[Path, int | None] = {}  # which root a folder can be bound below
        self._copies: OrderedDict[str, tuple[Path, int]] = OrderedDict()  # by key, least wanted first

    def hold(self, block: Mapping[str, bytes]) -> bool:
        """Whether the largest input leaves room for this one. Neither what is free now nor what other runs
        left decides.
        """
        if room_of(block) <= self._most_bytes:
            return True
        if not isinstance(block, View):
            return False
        with _refusing():
            copied = [part for part in block.parts if self._bound_in_place(part) is None]
        return room_of(block.files) + room_of_parts(copied) <= self._most_bytes

    def ready(self, parts: Sequence[Part]) -> list[Bound]:
        """Of every part, where it can be bound from until the next call. They are of a view that `hold`s."""
        wanted = {part.key for part in parts}
        with _refusing():
            return [self._bound_in_place(part) or self._copied(part, wanted) for part in parts]

    def _bound_in_place(self, part: Part) -> Bound | None:
        if part.folder is None:
            return None
        if part.folder not in self._in_place:
            self._in_place[part.folder] = self._root_of(part, part.folder)
        root = self._in_place[part.folder]
        return None if root is None else Bound(part.place, part.is_file, part.folder, root)

    def _root_of(self, part: Part, folder: Path) -> int | None:
        real = (
            folder == folder.resolve()
        )  # a link would be followed inside a sandbox, where it leads elsewhere
        names = frozenset(part.files)
        for number, root in enumerate(self.roots):
            if real and folder.is_relative_to(root) and _lie_exactly(folder, names):
                return number
        return None

    def _copied(self, part: Part, wanted: set[str]) -> Bound:
        if part.key not in self._copies:
            room = room_of_parts([part])
            self._make_room(room, wanted)
            self._copies[part.key] = self._copy(part), room
        self._copies.move_to_end(part.key)
        folder = self._copies[part.key][0]
        return Bound(part.place, part.is_file, folder / _ONLY if part.is_file else folder)

    def _make_room(self, room: int, wanted: set[str]) -> None:
        for key in [key for key in self._copies if key not in wanted]:
            if sum(each for _, each in self._copies.values()) + room <= self._most_bytes:
                return
            remove_tree(self._copies.pop(key)[0])

    def _copy(self, part: Part) -> Path:
        folder = self._folder / secrets.token_hex(16)  # the payload sees this name in /proc/self/mountinfo
        folder.mkdir(mode=0o700)
        try:
            _write(part, folder)
            seal_tree(folder, self._user, mode=0o400)
        except BaseException:
            remove_tree(folder)
            raise
        return folder


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except OSError as error:  # its own text would name a file, and that may hold a person's id
        raise SandboxUnavailable(f"a part of a view cannot be had: {error.strerror}") from None


def read_if_small(block: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """A view that is copied anyway becomes a plain block; whatever else is given stays what it is."""
    if not isinstance(block, View) or (block.parts and block.size > VIEW_ABOVE_BYTES):
        return block
    try:
        return dict(block)
    except OSError as error:  # as above
        raise SandboxUnavailable(f"a view could not be read: {error.strerror}") from None


def skeleton(view: View, scratch: Scratch, *, owner: int, within: Path | None = None) -> Path:
    """The files of a view and a mount point for each part, staged below a new folder."""
    files = {part.place: b"" for part in view.parts if part.is_file}
    folders = [part.place for part in view.parts if not part.is_file]
    return scratch.stage({**view.files, **files}, owner=owner, within=within, folders=folders)


def _write(part: Part, folder: Path) -> None:
    left = part.size
    for name, opener in part.files.items():
        if name:
            check_path(name)
        path = folder / (name or _ONLY)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with opener() as source, open(path, "xb") as file:
            while piece := source.read(min(MIB, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise SandboxUnavailable("a part of a view is larger than it says")
                file.write(piece)


def _is_open(root: Path) -> bool:
    try:
        check_open_to_slots(root)
        return root.is_dir()
    except (SandboxUnavailable, OSError):
        return False


def _lie_exactly(folder: Path, names: frozenset[str]) -> bool:
    """Whether these files, and no others, are there to be read by a slot's user, none behind a link."""
    if names == {""}:
        return _may_read(folder, stat.S_IFREG) and _is_dense(folder)
    found = set()
    for parent, folders, files in os.walk(folder):
        here = Path(parent)
        if not _may_read(here, stat.S_IFDIR) or any((here / name).is_symlink() for name in folders):
            return False
        if not all(_may_read(here / name, stat.S_IFREG) and _is_dense(here / name) for name in files):
            return False
        found |= {(here / name).relative_to(folder).as_posix() for name in files}
    return found == names


def _may_read(path: Path, kind: int) -> bool:
    mode = path.lstat().st_mode
    needed = os.R_OK | (os.X_OK if kind == stat.S_IFDIR else 0)
    # a worker that is root may read everything, and the users of its slots what everybody may
    allowed = mode & needed == needed if os.getuid() == 0 else os.access(path, needed)
    return stat.S_IFMT(mode) == kind and allowed


def _is_dense(path: Path) -> bool:
    """Without a hole: in a tmpfs, whoever reads one fills it, and everybody sees that in its blocks."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        return size == 0 or os.lseek(descriptor, 0, os.SEEK_HOLE) >= size
    finally:
        os.close(descriptor)
