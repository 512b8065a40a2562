"""The pipeline of the battery: `attack.py /in /out <level>` does what /in/target.json asks for.

`"attacks": [[script, name], ...]`: an attack runs in this very process and its value is the run's. If
"apart" they run one after the other, each in a child of its own, and there is one value for each. A role of
CALM asks for no attack at all: the proof that pipelines still run.
"""

import importlib
import os
import signal
import sys
import time

from face import (  # type: ignore[import-not-found]
    ABSENT,
    CALM,
    WRITTEN,
    Target,
    set_mark,
    value_of,
    write_values,
)

_LONGEST_S = 2.0  # of one attack among several


def main(given, out, level):
    target = Target(given, out, level)
    set_mark(target["mark"])
    wanted = [(script, name) for script, name in target["attacks"]]
    if target.role == CALM:
        write_values(target, [("value", CALM)])
    elif not target["apart"]:
        value = value_of(find_attack(*wanted[0]), target)
        if value is not WRITTEN:
            write_values(target, [("value", value)])
    else:
        write_values(target, [(name, in_child(find_attack(script, name), target)) for script, name in wanted])


def find_attack(script, name):
    return getattr(importlib.import_module(script), name)


def in_child(attack, target):
    """0, 1 or ABSENT; 2 if it broke or took too long. A child that the kernel killed for a call was
    stopped: 0.
    """
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            value = int(value_of(attack, target))
            code = value if value == ABSENT else min(value, 1)
        finally:
            os._exit(code)
    deadline = time.monotonic() + _LONGEST_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            if os.WIFSIGNALED(status):
                return 0 if os.WTERMSIG(status) == signal.SIGSYS else 2
            return os.WEXITSTATUS(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 2


if __name__ == "__main__":
    main(*sys.argv[1:4])
