"""A supervisor's words reach the operator's log: never the name of a block's file, a person's id."""

from __future__ import annotations

import errno

import pytest
from sandbox_harness import SLOT

from sandbox_images.supervisor.confine import in_words
from worker.sandbox.protocol import SandboxUnavailable

PERSON = "sub-4711"


def test_a_block_that_cannot_be_written_names_nobody(supervised, ask):
    """A name that is both a file and a folder: Python's own words for that hold the name."""
    with supervised.open_slot(ask(""), slot=SLOT) as slot, pytest.raises(SandboxUnavailable) as raised:
        slot.run({PERSON: b"", f"{PERSON}/anat.txt": b""})
    assert "File exists" in str(raised.value)
    assert PERSON not in str(raised.value)


def test_a_flaw_of_the_supervisor_quotes_nothing(supervised, ask, doctored):
    doctored(
        "filesystems.py",
        lambda source: source.replace("os.mkdir(folder, 0o700", "int(folder); os.mkdir(folder, 0o700"),
    )
    with supervised.open_slot(ask(""), slot=SLOT) as slot, pytest.raises(SandboxUnavailable) as raised:
        slot.run({f"{PERSON}/anat.txt": b""})
    assert "ValueError in the supervisor" in str(raised.value)
    assert PERSON not in str(raised.value)


def test_steps_are_still_named():
    assert in_words(OSError(errno.EPERM, "unshare: Operation not permitted")) == (
        "PermissionError: unshare: Operation not permitted"
    )
    assert PERSON in str(OSError(errno.EEXIST, "File exists", PERSON))  # what Python itself would have said
    assert in_words(OSError(errno.EEXIST, "File exists", PERSON)) == "FileExistsError: File exists"
