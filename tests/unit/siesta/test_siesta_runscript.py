"""The command of an image that comes from a SIF file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpgate.errors import DpgateError
from dpgate.siesta.runscript import runscript_of

REFUSED = {"no runscript": None, "neither a script": b"\x00\x01binary", "neither": b""}


def test_a_runscript_is_the_command_unless_it_cannot_be_started(tmp_path: Path) -> None:
    for number, (words, content) in enumerate(REFUSED.items()):
        place = tmp_path / str(number) / ".singularity.d"
        place.mkdir(parents=True)
        if content is not None:
            (place / "runscript").write_bytes(content)
        with pytest.raises(DpgateError, match=words):
            runscript_of("app", place.parent)
    (place / "runscript").write_text("#!/bin/sh\npython3 /app/app.py $*\n")
    assert runscript_of("app", place.parent)[:2] == ["/bin/sh", "-c"]
    outside = tmp_path / "outside"
    outside.write_text("#!/bin/sh\n")
    (place / "runscript").unlink()
    os.symlink(outside, place / "runscript")
    with pytest.raises(DpgateError, match="no runscript"):  # the link leads out of the image
        runscript_of("app", place.parent)
