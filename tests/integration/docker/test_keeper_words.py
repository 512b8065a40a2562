"""What a keeper says when it fails reaches the operator's log: never the name of a block's file."""

from __future__ import annotations

import pytest

from worker.sandbox.protocol import SandboxUnavailable

PERSON = "sub-4711"


def test_a_block_that_cannot_be_written_names_nobody(run):
    """A name that is both a file and a folder: Python's own words for that hold the name."""
    with pytest.raises(SandboxUnavailable) as raised:
        run("", {PERSON: b"", f"{PERSON}/anat.txt": b""})
    assert "FileExistsError: File exists" in str(raised.value)
    assert PERSON not in str(raised.value)
