"""Whether a pipeline's command can be started in its image, asked before any data are touched."""

import os
import platform
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from sandbox_images.unpack.rooted import Root
from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.protocol import Image

from .entry_point import BY_RUNSCRIPT, RUNSCRIPT, command_of
from .environment import DEFAULT_PATH
from .heads import HEAD_BYTES, head_of
from .refusal import CommandRefused, ProgramNotFound

_PIPELINE = "/pipeline/"
_SHELL = "/bin/sh"
_COVERED = ("/in/", "/out/", "/tmp/", "/dev/", "/proc/", "/run/dpgate/")  # noqa: S108 - places in a run
_SHEBANG = re.compile(rb"#![ \t]*([^\s\0]+)[ \t]*([^\n\r\0]*)")
_ENV = re.compile(r"(?:-S\s+|-)?([^\s=-][^\s=]*)(?:\s.*)?")
_MOST_INTERPRETERS = 4  # a script of a script of ..., as the kernel has it
_MOST_TOLD = 8
_PROGRAM, _MACHINE = b"\x7fELF", slice(18, 20)  # of its head: e_machine, little-endian on both
_MACHINES = {b"\x3e\x00": "x86_64", b"\xb7\x00": "aarch64"}


def resolve_command(image: Image, command: Sequence[str], code: Mapping[str, bytes]) -> None:
    """Raises CommandRefused. `code` is the pipeline's own, by path below /pipeline; without a command the
    image's own is looked at.

    Looks at the program, at the programs that its first line names if it is a script, and at the script that
    follows an interpreter if it is the pipeline's own. Whether it then runs is for a run to find out.
    """
    command = command_of(image, command)
    if not command[0]:
        raise CommandRefused("the pipeline has no command")
    with ExitStack() as stack:
        inside = _Inside(image, code, stack)
        inside.check_program(command[0])
        if command == BY_RUNSCRIPT:
            inside.check_program(RUNSCRIPT)
        command, path = _behind_env(command)
        inside.look_along(path)
        inside.check_program(command[0])
        if len(command) > 1 and command[1].startswith(_PIPELINE):
            inside.own(command[1])


def why_foreign(image: StoredImage) -> str | None:
    """Why no program of an image can be started here, if its shell or what it starts by itself is one of
    another kind of machine, whatever its description says."""
    names = (_SHELL, *image.entry_point[:1]) if image.entry_point else (_SHELL,)
    heads = ((name, head_of(image.rootfs, name)) for name in names if name.startswith("/"))
    return next(
        (
            found
            for name, head in heads
            if head and (found := _foreign(f"{name} of the image {image.name}", head))
        ),
        None,
    )


def _foreign(name: str, head: bytes) -> str | None:
    made_for, here = _MACHINES.get(head[_MACHINE]), platform.machine()
    if not head.startswith(_PROGRAM) or made_for in (None, here):
        return None
    return (
        f"{name} is a program for {made_for}, and this machine is {here}: "
        "have the image built for this kind of machine"
    )


def program_of(command: Sequence[str]) -> str:
    """What a command is to start: behind `env`, what that starts."""
    return _behind_env(command)[0][0] if command else ""


def _behind_env(command: Sequence[str]) -> tuple[Sequence[str], str | None]:
    """The words that it starts, and the PATH that it gives them; all where an option may change that."""
    path = None
    if command[0].rpartition("/")[2] == "env":
        for place, word in enumerate(command[1:], start=1):
            name, is_set, value = word.partition("=")
            if not is_set:
                return (command, None) if word.startswith("-") else (command[place:], path)
            path = value if name == "PATH" else path
    return command, None


class _Inside:
    """What a run would find under a name."""

    def __init__(self, image: Image, code: Mapping[str, bytes], stack: ExitStack) -> None:
        self._name, self._code = image.name, code
        if isinstance(image, StoredImage):
            self._root, self._host = stack.enter_context(Root(image.rootfs)), None
            self._path = image.environment.get("PATH") or DEFAULT_PATH
        elif isinstance(image, HostImage):
            self._root, self._host = stack.enter_context(Root(Path("/"))), image
            self._path = image.search_path
        else:
            raise CommandRefused(f"nobody can look into {image.name} before it runs")

    def check_program(self, name: str, *, scripts: int = 0) -> None:
        if scripts > _MOST_INTERPRETERS:
            raise CommandRefused(f"{name} is a script of a script without end")
        head = self._program(name)
        self._check_machine(name, head)
        found = _SHEBANG.match(head)
        if found is None:
            return
        if head.partition(b"\n")[0].endswith(b"\r"):
            raise CommandRefused(
                f"the lines of {name} end as Windows has it, with CR in front of LF: save it with LF alone"
            )
        interpreter, argument = os.fsdecode(found[1]), os.fsdecode(found[2]).strip()
        if not interpreter.startswith("/"):
            raise CommandRefused(f"{name} names {interpreter!r} in its first line, which is no absolute path")
        self.check_program(interpreter, scripts=scripts + 1)
        named = _ENV.fullmatch(argument)
        if interpreter.rsplit("/", 1)[-1] == "env" and named:
            self.check_program(named[1], scripts=scripts + 1)

    def _check_machine(self, name: str, head: bytes) -> None:
        """Of another kind it would fail in every run, and who looks at a release could not tell."""
        if foreign := _foreign(f"{name} of the image {self._name}", head):
            raise CommandRefused(foreign)

    def look_along(self, path: str | None) -> None:
        self._path = self._path if path is None else path

    def own(self, name: str) -> bytes:
        """A file of the pipeline."""
        path = name.removeprefix(_PIPELINE)
        if path not in self._code:
            there = (
                f"it has {', '.join(sorted(self._code)[:_MOST_TOLD])}" if self._code else "it has no files"
            )
            raise CommandRefused(f"the pipeline has no file {path}, which its command names; {there}")
        return self._code[path]

    def _program(self, name: str) -> bytes:
        """Its first bytes."""
        if "\0" in name:
            raise CommandRefused("a command cannot hold NUL")
        if name.startswith(_PIPELINE):
            return self.own(name)[:HEAD_BYTES]
        if "/" not in name:
            return self._on_path(name)
        if not name.startswith("/"):
            raise CommandRefused(f"{name} is a relative path: name the program by its absolute one")
        if name.startswith(_COVERED):
            raise CommandRefused(f"{name} lies where every run has files of its own, so it is not there")
        return self._opened(name)

    def _on_path(self, name: str) -> bytes:
        for folder in self._path.split(":"):
            try:
                return self._program(f"{folder.rstrip('/')}/{name}")
            except CommandRefused:
                continue
        raise ProgramNotFound(f"{name} is no program of the image {self._name} (its PATH is {self._path})")

    def _opened(self, name: str) -> bytes:
        try:
            fd = self._root.open(os.fsencode(name), os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise ProgramNotFound(f"{name} is not in the image {self._name}: {error.strerror}") from error
        try:
            mode = os.fstat(fd).st_mode
            if not stat.S_ISREG(mode) or not self._is_mounted(fd):
                raise CommandRefused(f"{name} is no program of the image {self._name}")
            if not mode & 0o111:
                raise CommandRefused(
                    f"{name} of the image {self._name} may not be executed: make it so where the image "
                    f"is made (chmod 755 {name})"
                )
            return os.read(fd, HEAD_BYTES)
        finally:
            os.close(fd)

    def _is_mounted(self, fd: int) -> bool:
        """Of the host only some folders are in a run."""
        if self._host is None:
            return True
        real = Path(os.readlink(f"/proc/self/fd/{fd}"))
        return any(real.is_relative_to(bind) for bind in self._host.binds)
