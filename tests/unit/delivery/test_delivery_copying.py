"""Copies into the worker zone: whole, resumable file by file, with a checksum for each file."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from dpgate.delivery import copying
from dpgate.delivery.opening import FolderSource
from dpgate.delivery.source import rooted
from dpgate.errors import DpgateError
from formats.checksums import MANIFEST
from worker.intake.delivery import JOURNAL

FILES = {"participants.tsv": b"participant_id\nsub-1\n", "sub-1/a.json": b"{}", "sub-1/b.bin": bytes(3000)}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path / "data", FILES)


@pytest.fixture
def deliveries(tmp_path: Path) -> Path:
    folder = tmp_path / "deliveries"
    folder.mkdir()
    return folder


def written(folder: Path, files: dict[str, bytes]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def nothing(path: str) -> bool:
    return False


def source_of(data: Path) -> FolderSource:
    return FolderSource(data, nothing)


def target(data: Path, deliveries: Path, **fields: str) -> Path:
    return copying.delivery_for(deliveries, source=str(data.resolve()), dataset="heights", **fields)


def copy(data: Path, folder: Path, *, source: FolderSource | None = None) -> list[tuple[int, int]]:
    told: list[tuple[int, int]] = []
    found = rooted(source or source_of(data), "participants.tsv", nothing)
    copying.copy(found, folder, dataset="heights", progress=lambda *step: told.append(step))
    return told


def copied(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if name not in (JOURNAL, MANIFEST)}


class Interrupted(FolderSource):
    """A source that ends after some files."""

    def __init__(self, data: Path, after: int) -> None:
        super().__init__(data, nothing)
        self.after = after
        self.read: list[str] = []

    def opened(self, wanted):  # type: ignore[no-untyped-def]
        for number, (file, content) in enumerate(super().opened(wanted)):
            if number == self.after:
                raise KeyboardInterrupt
            self.read.append(file.path)
            yield file, content


def test_a_copy_is_whole_private_and_listed(data: Path, deliveries: Path) -> None:
    folder = target(data, deliveries)
    told = copy(data, folder)
    assert copied(folder) == FILES
    assert told[-1] == (sum(map(len, FILES.values())),) * 2
    listed = json.loads((folder / MANIFEST).read_bytes())["files"]
    assert listed == {path: hashlib.sha256(content).hexdigest() for path, content in FILES.items()}
    assert all(path.stat().st_mode & 0o077 == 0 for path in (folder, *folder.rglob("*")))


@pytest.mark.parametrize("after", range(3))
def test_an_interrupted_copy_goes_on_with_the_next_file(data: Path, deliveries: Path, after: int) -> None:
    folder = target(data, deliveries)
    with pytest.raises(KeyboardInterrupt):
        copy(data, folder, source=Interrupted(data, after))
    again = Interrupted(data, len(FILES))
    assert target(data, deliveries) == folder
    assert target(data, deliveries, resumed=folder.name) == folder
    copy(data, folder, source=again)
    assert again.read == list(FILES)[after:]
    assert copied(folder) == FILES
    kept = copying.finish(folder)
    assert target(data, deliveries) != folder
    copying.unfinish(folder, kept)
    assert target(data, deliveries) == folder


def changed_source(data: Path, folder: Path) -> None:
    (data / "sub-1/a.json").write_bytes(b"[]")
    os.utime(data / "sub-1/a.json", ns=(1, 1))


def lost_source(data: Path, folder: Path) -> None:
    (data / "sub-1/a.json").unlink()


def changed_copy(data: Path, folder: Path) -> None:
    (folder / "sub-1/a.json").write_bytes(b"[]")


def cut_journal(data: Path, folder: Path) -> None:
    content = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).write_bytes(content[:-9])


@pytest.mark.parametrize("happened", [changed_source, lost_source, changed_copy, cut_journal])
def test_what_changed_meanwhile_is_copied_again(data: Path, deliveries: Path, happened) -> None:  # type: ignore[no-untyped-def]
    folder = target(data, deliveries)
    with pytest.raises(KeyboardInterrupt):
        copy(data, folder, source=Interrupted(data, 2))
    happened(data, folder)
    copy(data, folder)
    now = {path: (data / path).read_bytes() for path in FILES if (data / path).exists()}
    assert copied(folder) == now
    assert set(json.loads((folder / MANIFEST).read_bytes())["files"]) == set(now)


def test_no_two_commands_copy_one_delivery(data: Path, deliveries: Path) -> None:
    folder = target(data, deliveries)
    with (
        copying.opened(folder, source=str(data.resolve()), dataset="heights"),
        pytest.raises(DpgateError, match="another command"),
    ):
        copy(data, folder)


def test_a_delivery_of_other_data_is_not_gone_on_with(data: Path, deliveries: Path, tmp_path: Path) -> None:
    folder = target(data, deliveries)
    with pytest.raises(KeyboardInterrupt):
        copy(data, folder, source=Interrupted(data, 1))
    other = written(tmp_path / "other", FILES)
    assert target(other, deliveries) != folder
    with pytest.raises(DpgateError, match="of other data"):
        copy(other, folder)


@pytest.mark.parametrize("name", ["..", "no", "6a9cbd0f-6d3c-4f7e-8f5c-2f8a2f0a9f10"])
def test_no_such_delivery(data: Path, deliveries: Path, name: str) -> None:
    with pytest.raises(DpgateError, match="there is no delivery"):
        target(data, deliveries, resumed=name)


def test_no_deliveries_folder_or_no_room(
    data: Path, deliveries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DpgateError, match="there is no deliveries folder"):
        target(data, deliveries / "none")
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr(copying.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(DpgateError, match="still to be copied, and 10 are free"):
        copy(data, target(data, deliveries))


def sums(files: dict[str, bytes], *, start: str = "") -> bytes:
    lines = [f"{hashlib.sha256(content).hexdigest()}  {start}{path}" for path, content in files.items()]
    return "\n".join(lines).encode()


@pytest.mark.parametrize("name", ["SHA256SUMS", "SHA256SUMS.txt", "manifest-sha256.txt"])
def test_checksums_of_the_source_are_compared(data: Path, deliveries: Path, name: str) -> None:
    (data / name).write_bytes(sums(FILES))
    folder = target(data, deliveries)
    copy(data, folder)
    assert copied(folder) == FILES
    (data / "sub-1/b.bin").write_bytes(bytes(2999) + b"\1")
    with pytest.raises(DpgateError, match=r"sub-1/b\.bin is not the file that the list"):
        copy(data, folder)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (sums({**FILES, "lost": b""}), "lists lost, which is not there"),
        (b"hello", "line 1 of SHA256SUMS is no checksum"),
        (b"\xff", "not UTF-8"),
        (b"0" * 64 + b" a\n" + b"1" * 64 + b" a\n", "a second checksum"),
    ],
)
def test_checksums_that_do_not_fit(data: Path, content: bytes, reason: str) -> None:
    (data / "SHA256SUMS").write_bytes(content)
    with pytest.raises(DpgateError, match=reason):
        rooted(source_of(data), "participants.tsv", nothing)


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    files = {f"data/{path}": content for path, content in FILES.items()}
    tags = {"bagit.txt": b"BagIt-Version: 1.0\n", "bag-info.txt": b"", "manifest-sha256.txt": sums(files)}
    return written(tmp_path / "bag", {**files, **tags})


def test_of_a_bag_its_payload_is_taken(bag: Path, deliveries: Path) -> None:
    folder = target(bag, deliveries)
    copy(bag, folder)
    assert copied(folder) == FILES
    (bag / "data/sub-1/a.json").write_bytes(b"[]")
    with pytest.raises(DpgateError, match=r"sub-1/a\.json is not the file"):
        copy(bag, folder)
