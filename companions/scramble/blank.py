"""What stands in the place of a file whose content is not handed out."""

from __future__ import annotations

import json
from collections.abc import Mapping

DESCRIPTION = "dataset_description.json"


def blank(path: str) -> bytes:
    """A file's place without its content; JSON stays JSON, and a BIDS data set one."""
    if path == DESCRIPTION:
        told: Mapping[str, str] = {"Name": "Scrambled, not anonymous", "BIDSVersion": "1.9.0"}
        return json.dumps(told, indent=2).encode() + b"\n"
    return b"{}\n" if path.endswith(".json") else b""
