"""Runs a few lines of Python in a child process under a filter of this machine, or under none."""

import json
import platform
import subprocess
import sys

from sandbox_images.seccomp.bpf import ARCHITECTURES, compile_policy
from sandbox_images.seccomp.policy import Policy

MACHINE = ARCHITECTURES[platform.machine()]
_HEAD = """
import ctypes, errno, json, os, sys
_libc = ctypes.CDLL(None, use_errno=True)
_numbers = json.loads(sys.argv[1])

def call(name, *arguments):
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    found = _libc.syscall(ctypes.c_long(_numbers[name]), *wide)
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)
    return found

def confine(program):
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
    code = ctypes.create_string_buffer(program, len(program))
    loaded = Program(len(program) // 8, ctypes.addressof(code))
    assert _libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert _libc.prctl(22, 2, ctypes.byref(loaded), 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
"""


def errno_of(lines: str, policy: Policy | None, *, before: str = "", cwd: str = "/") -> int:
    """0 if `lines` ran to their end, the number of the OSError that ended them otherwise.

    `before` runs in the same child before the filter is loaded. Whatever else goes wrong is an error here.
    """
    ended = run_confined(lines, policy, before=before, cwd=cwd)
    assert not ended.stderr, ended.stderr
    return ended.returncode


def run_confined(
    lines: str, policy: Policy | None, *, before: str = "", cwd: str = "/"
) -> "subprocess.CompletedProcess[str]":
    confine = f"confine({compile_policy(policy, MACHINE)!r})" if policy else ""
    body = "\n    ".join(lines.strip().splitlines())
    script = (
        f"{_HEAD}\n{before}\n{confine}\ntry:\n    {body}\nexcept OSError as error:\n    sys.exit(error.errno)"
    )
    argv = [sys.executable, "-I", "-S", "-c", script, json.dumps(MACHINE.numbers)]
    return subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
