"""What costs much is made once for a session, and whoever fails to make it leaves nothing to others."""

from __future__ import annotations

from pathlib import Path

import pytest
from once import made_once


def test_the_second_who_asks_is_given_what_the_first_has_made(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    made: list[Path] = []

    def make(path: Path) -> None:
        made.append(path)
        path.mkdir()
        (path / "content").write_text("as it was made")

    first = made_once(tmp_path_factory, "asked twice", make)
    assert made_once(tmp_path_factory, "asked twice", make) == first
    assert (first / "content").read_text() == "as it was made"
    assert len(made) == 1


def test_what_was_half_made_is_given_to_nobody(tmp_path_factory: pytest.TempPathFactory) -> None:
    def fail(path: Path) -> None:
        path.write_text("half")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        made_once(tmp_path_factory, "half made", fail)
    whole = made_once(tmp_path_factory, "half made", lambda path: path.write_text("whole"))
    assert whole.read_text() == "whole"
