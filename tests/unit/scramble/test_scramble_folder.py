"""What a rights holder and a signer are told before anything is offered or signed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_scrambles import scrambled_folder, today

from companions.scramble.folder import read_folder
from domain.scrambled import NOTE, PART_BYTES, RECORD
from dpgate.errors import DpgateError


def test_offered_and_signed_alike(tmp_path: Path) -> None:
    folder = scrambled_folder(tmp_path)
    found = read_folder(folder, None, today=today())
    assert found.offer == read_folder(folder, tmp_path / "scrambled.leaks.md", today=today()).offer
    assert found.offer.parts == len(found.parts) == 1
    assert all(len(part) <= PART_BYTES for part in found.parts)
    # nothing of the data but how many MiB there are: no path, no count
    assert set(found.offer.model_dump()) == {
        "record", "leak_report", "method", "made", "agreement", "parts",
    }  # fmt: skip
    assert "participants" not in found.offer.model_dump_json()


def test_the_report_must_be_the_one_that_was_written_with_it(tmp_path: Path) -> None:
    folder, other = scrambled_folder(tmp_path), scrambled_folder(tmp_path, "other")
    with pytest.raises(DpgateError, match="leak report of another folder"):
        read_folder(folder, tmp_path / "other.leaks.md", today=today())
    (tmp_path / "other.leaks.md").unlink()
    with pytest.raises(DpgateError, match="leak report is missing"):
        read_folder(other, None, today=today())


def test_a_folder_that_is_not_as_it_was_made(tmp_path: Path) -> None:
    folder = scrambled_folder(tmp_path)
    (folder / NOTE).write_text("All of it is anonymous.\n")
    with pytest.raises(DpgateError, match=r"NOT-ANONYMOUS.md was changed"):
        read_folder(folder, None, today=today())
    with pytest.raises(DpgateError, match="no scrambled folder"):
        read_folder(tmp_path / "scrambled-original", None, today=today())


def test_an_expired_folder_and_one_of_before(tmp_path: Path) -> None:
    late = scrambled_folder(tmp_path, "late", days=-1)
    with pytest.raises(DpgateError, match="expired on"):
        read_folder(late, None, today=today())
    old = scrambled_folder(tmp_path, "old")
    content = json.loads((old / RECORD).read_text())
    (old / RECORD).write_text(
        json.dumps({k: v for k, v in content.items() if k not in ("leak_report", "lot")})
    )
    with pytest.raises(DpgateError, match="names no leak report"):
        read_folder(old, None, today=today())


def test_too_large_is_said_before_anything_is_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = scrambled_folder(tmp_path)
    monkeypatch.setattr("companions.scramble.folder.MOST_UNPACKED", 100)
    with pytest.raises(DpgateError, match="the platform takes at most"):
        read_folder(folder, None, today=today())
