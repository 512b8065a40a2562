"""Public data sets that tests read and the project does not carry: the folder `DPGATE_DATA`."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]


def lent(name: str) -> Path:
    """The folder of one data set; its README states source and licence.

    A relative DPGATE_DATA is seen from the project's folder.
    """
    folder = ROOT / os.environ.get("DPGATE_DATA", "../shared/data") / name
    assert folder.is_dir(), f"there is no {folder}: set DPGATE_DATA to the folder that holds {name}"
    return folder.resolve()
