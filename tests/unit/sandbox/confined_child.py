"""Runs a few lines of Python in a child process under a filter of this machine, or under none."""

import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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

# each in a fork of one interpreter, which starts forty times as fast as an interpreter
_EACH = """
import json, os, sys, traceback

def attempt(before, lines, cwd):
    scope = dict(globals())
    os.chdir(cwd)
    exec(before, scope)
    try:
        exec(lines, scope)
    except OSError as error:
        return error.errno
    except SystemExit as ended:
        return ended.code or 0
    return 0

def ending(*tried):
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 255
    try:
        code = attempt(*tried)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)

print(json.dumps([ending(*tried) for tried in json.loads(sys.stdin.read())]))
"""


@dataclass(frozen=True)
class Try:
    """`before` is run in the same child before `lines`; what goes wrong in it is an error of the test."""

    lines: str
    before: str
    cwd: Path


def errnos_of(tries: Sequence[Try], *, head: str, arguments: Sequence[str] = ()) -> list[int]:
    """Of each: 0 if `lines` ran to their end, otherwise the number of the OSError or what they ended with.

    Each runs in a process of its own, after `head`, which all share.
    """
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", head + _EACH, *arguments],
        input=json.dumps([(each.before, each.lines, str(each.cwd)) for each in tries]),
        capture_output=True,
        text=True,
    )
    assert not ended.stderr, ended.stderr
    found: list[int] = json.loads(ended.stdout)
    return found


def errnos_under(tries: Sequence[tuple[Policy | None, Try]]) -> list[int]:
    """Of each under its policy, which is loaded after `before`."""
    confined = [Try(each.lines, f"{each.before}\n{_confining(policy)}", each.cwd) for policy, each in tries]
    return errnos_of(confined, head=_HEAD, arguments=[json.dumps(MACHINE.numbers)])


def _confining(policy: Policy | None) -> str:
    return f"confine({compile_policy(policy, MACHINE)!r})" if policy else ""


def run_confined(lines: str, policy: Policy | None, *, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """In an interpreter that nothing else has run in."""
    script = f"{_HEAD}\n{_confining(policy)}\n{lines}"
    argv = [sys.executable, "-I", "-S", "-c", script, json.dumps(MACHINE.numbers)]
    return subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
