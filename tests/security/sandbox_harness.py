"""What the tests of this folder share: open folders, targets to attack, a look at the process table."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from worker.sandbox.protocol import MIB, Limits

# the host user of another is another: what the kernel counts for a user, no other process of tests shares
SLOT = os.getpid() % 9_000
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


def packages_in(folder: Path, *names: str) -> Path:
    """These packages of the tests' own environment at a place that no sandbox covers with its own /tmp."""
    site = Path(next(path for path in sys.path if path.endswith("site-packages")))
    folder.mkdir(exist_ok=True)
    for name in names:
        for found in (site / name, site / f"{name}.libs"):
            if found.is_dir():
                shutil.copytree(found, folder / found.name, copy_function=_link, symlinks=True)
            elif found.with_suffix(".py").exists():
                shutil.copy(found.with_suffix(".py"), folder)
    return folder


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


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
