"""Runs bwrap, and ends it when the worker is gone. Never imported: its text is given to the host's Python.

bwrap waits to be let go, and takes the end of that pipe for a yes. It also has its program die with it only
from the moment when the program starts. So a worker that is killed before would leave behind a program that
nobody limits and nobody ends. Here the pipe stays open, and a worker's death is the end of another one.

    starter.py LIFE GO COMMAND...    LIFE ends with the worker, GO is bwrap's pipe, open for writing
"""

import os
import select
import signal
import sys
from contextlib import suppress


def run(life: int, go: int, command: list[str]) -> int:
    """The command's exit code; never returns when the worker is gone first."""
    for fd in (life, go):
        os.set_inheritable(fd, False)
    process = os.posix_spawn(command[0], command, {}, setpgroup=0)
    ended = os.pidfd_open(process)
    poller = select.poll()
    for fd in (life, ended):
        poller.register(fd, select.POLLIN)
    if ended not in {fd for fd, _ in poller.poll()}:
        end(process)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return code if code >= 0 else 128 - code


def end(process: int) -> None:
    """With the program, wherever it is in being set up: in the group at first, then in a session of its own,
    and in the end bound to the life of bwrap."""
    programs = [os.pidfd_open(pid) for pid in children_of(process)]
    os.killpg(process, signal.SIGKILL)
    for program in programs:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(program, signal.SIGKILL)


def children_of(process: int) -> list[int]:
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as children:
            return [int(pid) for pid in children.read().split()]
    except FileNotFoundError:  # a kernel without this list
        return []


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
