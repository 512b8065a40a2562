"""`dpgate` for scripts that call it very often: each call is a fork of a process that has made its imports.

    with warm_command(folder) as command: ...   # put command.parent into PATH

A call is a process all the same, with its own arguments, folder, environment and standard streams.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from waiting import wait_until

ROOT = Path(__file__).parents[1]
_PR_SET_PDEATHSIG = 1
_CLIENT = """#!{python} -ISs
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(call).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(call)
    code = server.recv(1)
sys.exit(code[0] if code else 70)
"""


@contextmanager
def warm_command(folder: Path) -> Iterator[Path]:
    """An executable `dpgate` in a new folder below this one, for as long as the context lasts."""
    command, address = folder / "bin" / "dpgate", folder / "dpgate.socket"
    command.parent.mkdir()
    command.write_text(_CLIENT.format(python=sys.executable, address=str(address)))
    command.chmod(0o755)
    # a console that is made where these are set keeps them, whatever a call has
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment["PYTHONPATH"] = str(ROOT)
    server = subprocess.Popen([sys.executable, __file__, address], env=environment)
    try:
        wait_until(address.exists, unless=lambda: server.poll() is not None, said="the warm command")
        yield command
    finally:
        server.kill()
        server.wait()
        address.unlink(missing_ok=True)


def serve(address: str) -> NoReturn:
    """Until it is killed, a child for each call. They share the imports, and what was seen of this host."""
    _end_with_parent()
    from known_image import one_look
    from looked_image import looked_before

    from dpgate.cli.app import whole

    whole()
    looked_before()
    with one_look():
        _serve(address)


def _serve(address: str) -> NoReturn:
    gc.freeze()  # what all calls share stays shared
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{address}.new")
        listening.listen()
        os.rename(f"{address}.new", address)  # it is there when it answers
        while True:
            caller, _ = listening.accept()
            if not os.fork():
                listening.close()
                _answer(caller)
            caller.close()
            _reap()


def _end_with_parent() -> None:
    """Also where a run of tests is killed, which closes no context."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _answer(caller: socket.socket) -> None:
    """In a child: become the caller's process, run, tell the code."""
    from dpgate.cli.app import run

    _end_with_parent()
    code = 70
    try:
        head, streams, _, _ = socket.recv_fds(caller, 4, 3)
        with caller.makefile("rb") as file:
            arguments, folder, environment = json.loads(file.read(int.from_bytes(head, "big")))
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        code = run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        caller.sendall(bytes([code]))
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
