"""An input that is larger than any may be: a failed run like every other, so nobody sees whose it was."""

from __future__ import annotations

import json
from pathlib import Path

from heights import PEOPLE
from levels import noting
from zones import Bench, given_delivery, imported, open_bench, submit

from domain.channels import beyond_default
from domain.dataset import DatasetState
from domain.states import JobState
from domain.surroundings import Isolation
from store.tables import chunks
from worker.importing import import_dataset

MIB = 2**20
LIMIT_MIB = 2
APP = "import os\nopen('/out/result.tsv', 'w').write('mean_height\\n%d\\n' % 150)\n"


def given_files(bench: Bench, *, largest: int) -> None:
    """A BIDS tree in which one person's file has so many bytes, and all others' have one."""
    description = {"Name": "one large person", "BIDSVersion": "1.8.0"}
    public = [{"path": "dataset_description.json", "text": json.dumps(description)}]
    files: dict[str, str | bytes] = {"dataset_description.json": json.dumps(description)}
    files["participants.tsv"] = "participant_id\theight\n" + "".join(f"{name}\t150\n" for name in PEOPLE)
    for number, name in enumerate(PEOPLE):
        files[f"{name}/eeg/{name}_eeg.bin"] = b"1" * (1 if number else largest)
    # whatever the sandbox leaves open
    policy = {"accepted_channels": beyond_default(Isolation.SHARED)}
    given = given_delivery(bench, files, layout="bids", public_files=public, policy=policy)
    import_dataset(bench.zone, given.id)
    assert imported(bench, given.id).state is DatasetState.READY


def lived(sqlite_url: str, folder: Path, *, largest: int) -> tuple[object, list[bool]]:
    """All that is public about a job on such data, and which of its runs failed."""
    folder.mkdir()
    with open_bench(sqlite_url, folder, input_mib=LIMIT_MIB) as opened:
        bench, noted = noting(opened)
        given_files(bench, largest=largest)
        job_id = submit(bench, APP)
        bench.drive()
        job = bench.job(job_id)
        assert job.state is JobState.RELEASED
        attempts = sorted(row["attempts"] for row in bench.rows(chunks) if row["job_id"] == job_id)
        return (bench.moves(job_id), job.reason, attempts), [run.failed for run in noted.take("group")]


def test_one_large_person_changes_nothing_that_is_public(sqlite_template: Path, tmp_path: Path) -> None:
    def fresh(name: str) -> str:
        path = tmp_path / f"{name}.db"
        path.write_bytes(sqlite_template.read_bytes())
        return f"sqlite:///{path}"

    small, all_went = lived(fresh("a"), tmp_path / "a", largest=1)
    large, one_failed = lived(fresh("b"), tmp_path / "b", largest=LIMIT_MIB * MIB)
    assert small == large
    assert sum(all_went) == 0
    assert sum(one_failed) == 1
    assert len(all_went) == len(one_failed) == 4
