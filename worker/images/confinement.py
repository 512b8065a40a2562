"""Run one program of an import where it can do no harm: no network, no other process, one writable folder.

Started like a run (bubblewrap, the strict table of system calls, a user of its own where the worker is
root), with what an import needs besides: a quota on the folder, and resource limits that are set before the
program begins, because it may be the image's own.
"""

import functools
import os
import platform
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from sandbox_images.seccomp.bpf import ARCHITECTURES, compile_policy
from sandbox_images.seccomp.policy import STRICT
from worker.sandbox.core.bwrap_binary import find_bwrap
from worker.sandbox.protocol import MIB, SandboxUnavailable

from .guard import Guard
from .program import Confined, Ended, other_user

_DEVICES = ("/dev/null", "/dev/urandom")


def run_confined(program: Confined) -> Ended:
    """Returns when no process of it exists any more. Raises ImageRefused if it used up a limit."""
    bwrap = str(find_bwrap().path)
    with ExitStack() as ours, ExitStack() as theirs:
        status, go = _pipe(ours, theirs), _pipe(theirs, ours)
        life, alive = os.pipe()  # ends when we do, however that happens
        theirs.callback(os.close, life)
        answer, complaint = _pipe(ours, theirs), _pipe(ours, theirs)
        files = {path: _memory_file(theirs, content) for path, content in program.files.items()}
        seccomp = _memory_file(theirs, _filter())
        flags = _flags(program, files, seccomp=seccomp, status=status[1], block=go[0])
        passed = (*files.values(), seccomp, status[1], *go, life)
        starter = [str(program.python), "-I", "-S", "-B", "-c", _starter(), str(life), str(go[1])]
        argv = [*starter, bwrap, *flags, "--", *program.command]
        try:
            process = _start(argv, passed, stdin=program.stdin, answer=answer[1], complaint=complaint[1])
        except SandboxUnavailable:
            os.close(alive)
            raise
        theirs.close()
        guard = Guard(process, program, alive=alive, answer=answer[0], complaint=complaint[0])
        try:
            guard.limit_and_release(status[0], go[1])
            return guard.to_its_end()
        finally:
            guard.end()


def _flags(
    program: Confined, files: Mapping[str, int], *, seccomp: int, status: int, block: int
) -> list[str]:
    flags = [
        *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        *("--unshare-cgroup-try", "--hostname", "sandbox", "--uid", "1000", "--gid", "1000"),
        *("--as-pid-1", "--cap-drop", "ALL", "--die-with-parent", "--new-session"),
        *("--seccomp", str(seccomp), "--json-status-fd", str(status), "--block-fd", str(block)),
        *program.mounts,
        *("--perms", "0755", "--size", str(MIB), "--tmpfs", "/dev"),
    ]
    for device in _DEVICES:
        flags += ["--dev-bind", device, device]
    flags += ["--remount-ro", "/dev"]
    for path, fd in files.items():
        flags += ["--perms", "0444", "--file", str(fd), path]
    if program.folder is not None:
        flags += ["--bind", str(program.folder.path), "/room"]
    return [*flags, "--remount-ro", "/", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--chdir", "/"]


def _start(
    argv: list[str], passed: tuple[int, ...], *, stdin: int, answer: int, complaint: int
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            argv,
            env={},
            cwd="/",
            stdin=stdin,
            stdout=answer,
            stderr=complaint,
            pass_fds=passed,
            start_new_session=True,  # a signal for us alone, such as Ctrl-C, is not for it
            **other_user(),
        )
    except OSError as failure:
        raise SandboxUnavailable(f"{argv[0]} could not be started: {failure.strerror}") from failure


@functools.cache
def _starter() -> str:
    """As text: the import's user may not read where it lies."""
    return Path(__file__).with_name("starter.py").read_text(encoding="utf-8")


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """Both ends, each in the stack of whoever keeps it."""
    reading, writing = os.pipe()
    reader.callback(os.close, reading)
    writer.callback(os.close, writing)
    return reading, writing


def _memory_file(stack: ExitStack, content: bytes) -> int:
    fd = os.memfd_create("dpgate")
    stack.callback(os.close, fd)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _filter() -> bytes:
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None:
        raise SandboxUnavailable(f"there is no system-call filter for {platform.machine()} machines")
    return compile_policy(STRICT, architecture)
