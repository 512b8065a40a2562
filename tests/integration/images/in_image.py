"""A pipeline's levels inside an unpacked image, under the strict system-call table and without a network."""

from __future__ import annotations

import platform
import subprocess
import tempfile
from pathlib import Path

from sandbox_images.seccomp.bpf import ARCHITECTURES, compile_policy
from sandbox_images.seccomp.policy import STRICT

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp", "TZ": "UTC"}


def run_in_image(tree: Path, command: list[str], binds: dict[Path, str], out: Path | None = None) -> str:
    """Standard output of a command that must succeed; these folders are bound read-only, `out` at /out."""
    flags = ["--unshare-all", "--cap-drop", "ALL", "--chdir", "/tmp", "--ro-bind", str(tree), "/"]
    flags += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    flags += [part for place, inside in binds.items() for part in ("--ro-bind", str(place), inside)]
    flags += ["--bind", str(out), "/out"] if out else []
    flags += [part for name, value in ENVIRONMENT.items() for part in ("--setenv", name, value)]
    with tempfile.TemporaryFile() as table:
        table.write(compile_policy(STRICT, ARCHITECTURES[platform.machine()]))
        table.seek(0)
        done = subprocess.run(
            ["bwrap", *flags, "--seccomp", str(table.fileno()), "--", *command],
            env={"PATH": "/usr/bin:/bin"},
            pass_fds=[table.fileno()],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout
