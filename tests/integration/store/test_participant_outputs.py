"""Outcomes of participant levels at rest: sealed, under keyed names, the same for every run of a job."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from domain.errors import PlatformError
from store.keys import Keys
from store.participant_outputs import ParticipantOutputs

TREE = {
    "sub-01/a.txt": b"canary-content",
    "sub-01/ses-1/b.bin": bytes(range(256)) * 9000,
    "sub-01/empty": b"",
}
NAME, OTHER = b"n" * 32, b"o" * 32
COHORT = "heights"


@pytest.fixture
def area(tmp_path: Path) -> ParticipantOutputs:
    return ParticipantOutputs(tmp_path / "participants", Keys(bytes(32)))


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_what_is_kept_comes_back_for_every_job(area: ParticipantOutputs) -> None:
    assert area.of_job("job-1", cohort=COHORT).status(NAME) is None
    area.of_job("job-1", cohort=COHORT).keep(NAME, TREE)
    for job in ("job-1", "job-2"):
        assert area.of_job(job, cohort=COHORT).status(NAME) is True
        assert area.of_job(job, cohort=COHORT).read(NAME) == TREE
        assert area.of_job(job, cohort=COHORT).status(OTHER) is None


def test_another_cohort_never_finds_it(area: ParticipantOutputs, tmp_path: Path) -> None:
    area.of_job("job-1", cohort=COHORT).keep(NAME, TREE)
    theirs = area.of_job("job-1", cohort="asked")
    assert theirs.status(NAME) is None
    with pytest.raises(PlatformError):
        theirs.read(NAME)
    theirs.keep(NAME, {})
    assert area.of_job("job-1", cohort=COHORT).read(NAME) == TREE
    assert len(files_in(tmp_path)) == 2


def test_nothing_written_is_an_outcome_too(area: ParticipantOutputs) -> None:
    area.of_job("job-1", cohort=COHORT).keep(NAME, {})
    assert area.of_job("job-1", cohort=COHORT).status(NAME) is True
    assert area.of_job("job-1", cohort=COHORT).read(NAME) == {}


def test_a_failure_counts_for_its_job_alone(area: ParticipantOutputs) -> None:
    area.of_job("job-1", cohort=COHORT).keep(NAME, None)
    assert area.of_job("job-1", cohort=COHORT).status(NAME) is False
    assert area.of_job("job-2", cohort=COHORT).status(NAME) is None
    area.of_job("job-2", cohort=COHORT).keep(NAME, TREE)
    assert area.of_job("job-1", cohort=COHORT).status(NAME) is False
    assert area.of_job("job-2", cohort=COHORT).status(NAME) is True


def test_the_first_outcome_stays(area: ParticipantOutputs) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda n: area.of_job("job-1", cohort=COHORT).keep(NAME, {"sub-01/n": b"%d" % n}), range(32)
            )
        )
    first = area.of_job("job-1", cohort=COHORT).read(NAME)
    area.of_job("job-2", cohort=COHORT).keep(NAME, TREE)
    assert area.of_job("job-2", cohort=COHORT).read(NAME) == first


def test_at_rest_nothing_is_plain_and_nobody_else_may_read(area: ParticipantOutputs, tmp_path: Path) -> None:
    area.of_job("job-1", cohort=COHORT).keep(NAME, TREE)
    area.of_job("job-canary", cohort=COHORT).keep(OTHER, None)
    found = files_in(tmp_path)
    assert len(found) == 2
    for path in found:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        everything = path.as_posix().removeprefix(tmp_path.as_posix()).encode() + path.read_bytes()
        assert not [word for word in (b"canary", b"sub-01", NAME, NAME.hex().encode()) if word in everything]


def test_under_another_key_the_same_person_has_another_name(tmp_path: Path) -> None:
    for master in (bytes(32), bytes([1]) * 32):
        ParticipantOutputs(tmp_path, Keys(master)).of_job("job-1", cohort=COHORT).keep(NAME, TREE)
    assert len(files_in(tmp_path)) == 2


@pytest.mark.parametrize("change", ["flip", "cut", "swap", "gone"])
def test_what_was_changed_does_not_open(area: ParticipantOutputs, tmp_path: Path, change: str) -> None:
    kept = area.of_job("job-1", cohort=COHORT)
    kept.keep(NAME, TREE)
    (path,) = files_in(tmp_path)
    content = bytearray(path.read_bytes())
    if change == "flip":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    elif change == "cut":
        path.write_bytes(content[: 1 << 20])
    elif change == "swap":
        kept.keep(OTHER, {"sub-02/a.txt": b"x"})
        (other,) = set(files_in(tmp_path)) - {path}
        path.write_bytes(other.read_bytes())
    else:
        path.unlink()
    with pytest.raises(PlatformError):
        kept.read(NAME)


def test_what_nobody_used_for_long_goes(area: ParticipantOutputs, tmp_path: Path) -> None:
    for number in range(3):
        area.of_job("job-1", cohort=COHORT).keep(bytes([number]) * 32, TREE)
    (tmp_path / "participants" / "00").mkdir(exist_ok=True)
    (tmp_path / "participants" / "00" / ".unfinished").write_bytes(b"of a dead worker")
    long_ago = (datetime.now(UTC) - timedelta(days=40)).timestamp()
    for path in files_in(tmp_path):
        os.utime(path, (long_ago, long_ago))
    assert area.of_job("job-2", cohort=COHORT).status(bytes(32)) is True  # used again
    assert area.remove_unused(since=datetime.now(UTC) - timedelta(days=30)) == 3
    assert [area.of_job("job-2", cohort=COHORT).status(bytes([number]) * 32) for number in range(3)] == [
        True,
        None,
        None,
    ]
    assert len(files_in(tmp_path)) == 1


def test_a_write_that_fails_leaves_nothing(area: ParticipantOutputs, tmp_path: Path) -> None:
    broken = {"sub-01/a": b"x" * (3 << 20), "sub-01/b": "no bytes"}
    with pytest.raises(TypeError):
        area.of_job("job-1", cohort=COHORT).keep(NAME, broken)  # type: ignore[arg-type]
    assert not files_in(tmp_path)
    assert area.of_job("job-1", cohort=COHORT).status(NAME) is None
