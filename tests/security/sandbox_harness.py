"""What the tests of this folder share: open folders, targets to attack, a look at the process table."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.protocol import MIB, Limits

SLOT = 0
SECRET = "canary-4f1d"
TIGHT = Limits(
    wall_s=10, cpu_s=10, memory_bytes=512 * MIB, tmp_bytes=4 * MIB, output_bytes=4 * MIB, inodes=1000
)


class open_folder:  # noqa: N801 - reads as a function
    """Below /var/tmp and open to all, so that only the sandbox stands between a slot's user and it."""

    def __enter__(self) -> Path:
        self.path = Path(tempfile.mkdtemp(prefix="dpgate-test-", dir="/var/tmp"))
        self.path.chmod(0o777)
        return self.path

    def __exit__(self, *_) -> None:
        shutil.rmtree(self.path)


def processes_with(marker: str) -> list[int]:
    """Everybody on this host whose command line holds the marker, but not this process."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if marker.encode() in file.read() and int(name) != os.getpid():
                    found.append(int(name))
        except OSError:  # ended meanwhile
            continue
    return found


@dataclass(frozen=True)
class Targets:
    """What a probe goes for. `bare` and `inside` are what it is told in its input."""

    bare: dict
    inside: dict
    folder: Path


class Listeners:
    """TCP, UDP, a socket file and an abstract socket; the kernel accepts connections without our help."""

    def __init__(self, folder: Path) -> None:
        tcp, udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
        path, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        self.sockets = (tcp, udp, path, abstract)
        names = (("127.0.0.1", 0), ("127.0.0.1", 0), str(folder / "socket"), f"\0{folder.name}")
        for each, name in zip(self.sockets, names, strict=True):
            each.bind(name)
        for each in (tcp, path, abstract):
            each.listen()
        (folder / "socket").chmod(0o777)
        udp.setblocking(False)
        self.addresses = {
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "unix_path": str(folder / "socket"),
            "unix_abstract": folder.name,
        }

    def __enter__(self) -> "Listeners":
        return self

    def __exit__(self, *_) -> None:
        for each in self.sockets:
            each.close()


class stand_in_for_init:  # noqa: N801
    """A process of the probe's own user with a secret in its environment: what PID 1 is to a bare probe."""

    def __enter__(self) -> "subprocess.Popen[bytes]":
        anyone_may_trace = (
            "import ctypes, time; ctypes.CDLL(None).prctl(0x59616D61, -1); print(flush=True); time.sleep(99)"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", anyone_may_trace],
            env={"SECRET": SECRET},
            stdout=subprocess.PIPE,
        )
        self.process.stdout.readline()
        return self.process

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
