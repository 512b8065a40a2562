"""One platform charges by one ledger of its zone: a worker with a ledger of its own does not start, and
charges nothing if it runs already."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from zones import Bench, given_heights, submit

from domain.errors import NotReady
from domain.job import Reason
from domain.states import JobState
from dpgate.cli.app import run
from dpgate.cli.exit_codes import ExitCode
from store import agreement
from store.database import Database
from store.tables import accounts
from worker.catching_up import begin_ledger
from worker.preflight import check_worker


@pytest.fixture
def apart(sqlite_bench: Bench, sqlite_template: Path, tmp_path: Path) -> Iterator[Bench]:
    """A worker of the same platform and key, with a ledger of its own that was begun elsewhere."""
    shutil.copytree(sqlite_bench.zone.settings.zone_folder, tmp_path / "apart")
    (tmp_path / "apart" / "ledger.sqlite").unlink()
    found = sqlite_bench.another(zone_folder=tmp_path / "apart")
    elsewhere = Database(f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'elsewhere.db')}")
    begin_ledger(found.zone.ledger, elsewhere)
    elsewhere.close()
    yield found
    found.close()


def spent(bench: Bench) -> list[int]:
    return [row["spent"] + row["reserved"] for row in bench.rows(accounts) if row["kind"] == "cohort"]


def test_a_worker_with_another_ledger_does_not_start(sqlite_bench: Bench, apart: Bench) -> None:
    check_worker(sqlite_bench.zone.settings, sqlite_bench.zone.image)
    with pytest.raises(NotReady, match=r"ledger\.sqlite: this platform charges by another ledger"):
        check_worker(apart.zone.settings, apart.zone.image)
    agreement.enrol(sqlite_bench.zone.ledger, sqlite_bench.database)


def test_one_that_runs_already_charges_nothing(sqlite_bench: Bench, apart: Bench) -> None:
    given_heights(sqlite_bench)
    shutil.copytree(
        sqlite_bench.zone.settings.zone_folder, apart.zone.settings.zone_folder, dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("ledger.sqlite"),
    )  # fmt: skip
    job_id = submit(sqlite_bench)
    before = spent(sqlite_bench)
    apart.deliver(("job", job_id))
    job = sqlite_bench.job(job_id)
    assert (job.state, job.reason) == (JobState.QUEUED, Reason.LEDGER_BEHIND)
    assert spent(sqlite_bench) == before
    with apart.zone.ledger.reading() as page:
        assert page.spent("heights") == {}
    sqlite_bench.drive()
    assert sqlite_bench.job(job_id).state is JobState.RELEASED


def test_another_is_begun_on_an_operators_word_alone(
    sqlite_bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given_heights(sqlite_bench)
    zone = sqlite_bench.zone.settings.zone_folder
    (zone / "ledger.sqlite").rename(tmp_path / "lost.sqlite")
    asked = ["ledger", "begin", "--zone-folder", str(zone), "--database-url", sqlite_bench.database.url]
    assert run(asked) == ExitCode.NOT_READY
    assert "charges by another ledger" in " ".join(capsys.readouterr().err.split())
    assert not (zone / "ledger.sqlite").exists()
    assert run([*asked, "--anew"]) == 0
    job_id = submit(sqlite_bench)
    sqlite_bench.drive()
    assert sqlite_bench.job(job_id).state is JobState.RELEASED
    # the one that was lost comes back too late
    shutil.copy(tmp_path / "lost.sqlite", zone / "ledger.sqlite")
    with pytest.raises(NotReady, match="charges by another ledger"):
        agreement.enrol(sqlite_bench.zone.ledger, sqlite_bench.database)
