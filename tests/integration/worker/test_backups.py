"""A backup taken while jobs run, everything destroyed, and restored: what was spent is spent."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from heights import MEAN
from waiting import PATIENCE_S
from zones import Bench, check_books, destroy, given_heights, move, open_bench, submit

from domain.errors import InvalidRequest
from domain.job import Reason
from domain.states import Actor, JobState
from dpgate.backup.making import back_up
from dpgate.backup.restoring import drill, restore
from dpgate.cli.app import run
from dpgate.errors import DpgateError
from dpgate.verification import check_release
from store import maintenance
from store.database import Database
from store.database_copy import copy_sqlite_file
from store.tables import accounts
from worker.books import hold
from worker.catching_up import Since, catch_up, zone_ledger
from worker.certificate import public_key_pem
from worker.publish import begin
from worker.sweep import sweep

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def taken(bench: Bench, target: Path) -> Path:
    back_up(bench.zone.settings.zone_folder, bench.database, target, now=NOW)
    return target


def key_apart(bench: Bench, folder: Path) -> Path:
    return Path(shutil.copy(bench.zone.settings.key_file, folder / "key-elsewhere"))


def put_back(bench: Bench, backup: Path, key: Path, newest: Path | None = None) -> None:
    restore(backup, bench.zone.settings.zone_folder, bench.database, key=key, newest_ledger=newest, now=NOW)


def approve(bench: Bench, job_id: str) -> None:
    with bench.database.transaction() as connection:
        assert move(connection, job_id, JobState.SUBMITTED, JobState.QUEUED, Actor.POLICY, bench.clock())
    bench.sent.run_job(job_id)


def spent(bench: Bench, currency: str = "epsilon") -> tuple[int, int]:
    """Of the platform and of the zone."""
    (there,) = [row["spent"] for row in bench.rows(accounts) if row["currency"] == currency]
    with bench.zone.ledger.reading() as page:
        page.entries()
        return there, page.spent("heights").get(currency, 0)


def test_taken_under_load_and_restored_with_the_newest_ledger(database_url: str, tmp_path: Path) -> None:
    with open_bench(database_url, tmp_path) as bench, ThreadPoolExecutor(1) as beside:
        given_heights(bench)
        before = submit(bench, epsilon="1")
        bench.drive()
        during = submit(bench, MEAN + "# again", epsilon="2")
        making = beside.submit(taken, bench, tmp_path / "backup")
        bench.drive()
        backup = making.result(PATIENCE_S)
        after = submit(bench, MEAN + "# once more", epsilon="4")
        bench.drive()
        assert {bench.job(each).state for each in (before, during, after)} == {JobState.RELEASED}
        known, key = bench.release(before), key_apart(bench, tmp_path)
        ledger = Path(shutil.copy(bench.zone.ledger.path, tmp_path / "ledger-elsewhere"))
        drill(backup, key=key, now=NOW)
        destroy(bench)
        put_back(bench, backup, key, ledger)
        assert bench.release(before) == known
        with bench.database.reading() as connection:
            announced = maintenance.current(connection)
        assert announced is not None
        assert "dpgate ledger catch-up" in announced.reason
        waits = submit(bench, MEAN + "# afterwards", epsilon="8")
        bench.drive()
        assert (bench.job(waits).state, bench.job(waits).reason) == (JobState.QUEUED, Reason.LEDGER_BEHIND)
        catch_up(bench.zone.ledger, bench.database, now=NOW)
        assert spent(bench) == (7_000_000, 7_000_000)
        bench.sent.run_job(waits)
        bench.drive()
        assert bench.job(waits).state is JobState.RELEASED
        assert spent(bench) == (15_000_000, 15_000_000)
        check_books(bench)


def test_without_the_newest_ledger_somebody_has_to_say_what_they_know(
    sqlite_url: str, tmp_path: Path
) -> None:
    with open_bench(sqlite_url, tmp_path) as bench:
        given_heights(bench)
        asked = submit(bench, epsilon="1")
        backup, key = taken(bench, tmp_path / "backup"), key_apart(bench, tmp_path)
        for since, state, left in (
            (Since.NOTHING, JobState.RELEASED, 1_000_000),
            (Since.UNKNOWN, JobState.CANCELLED, 1_000_000_000),
        ):
            destroy(bench)
            put_back(bench, backup, key)
            bench.sent.run_job(asked)
            bench.drive()
            assert bench.job(asked).reason is Reason.LEDGER_BEHIND
            with pytest.raises(InvalidRequest, match="not on record"):
                catch_up(bench.zone.ledger, bench.database, now=NOW)
            catch_up(bench.zone.ledger, bench.database, now=NOW, since=since)
            bench.sent.run_job(asked)
            bench.drive()
            assert bench.job(asked).state is state
            assert spent(bench)[0] == left
            check_books(bench)


def test_a_platform_whose_data_are_all_erased_is_restored(sqlite_url: str, tmp_path: Path) -> None:
    with open_bench(sqlite_url, tmp_path) as bench:
        backup, key = taken(bench, tmp_path / "backup"), key_apart(bench, tmp_path)
        drill(backup, key=key, now=NOW)
        destroy(bench)
        put_back(bench, backup, key)
        catch_up(bench.zone.ledger, bench.database, now=NOW, since=Since.NOTHING)
        given_heights(bench)


def test_a_pac_cohort_goes_on_after_a_restore(sqlite_url: str, tmp_path: Path) -> None:
    """The zone's ledger keeps its newest state: what was told since the backup is not forgotten."""
    with open_bench(sqlite_url, tmp_path) as bench:
        policy = {"guarantees": ["pac"], "timing": {"mode": "coarse", "step_seconds": 0.001}}
        given_heights(bench, budget_nats="0.6", policy=policy)
        asked = {"name": "pac", "nats": "0.1"}
        submit(bench, mechanism=asked)
        bench.drive()
        backup, key = taken(bench, tmp_path / "backup"), key_apart(bench, tmp_path)
        submit(bench, MEAN + "# again", mechanism=asked)
        bench.drive()
        ledger = Path(shutil.copy(bench.zone.ledger.path, tmp_path / "ledger-elsewhere"))
        destroy(bench)
        put_back(bench, backup, key, ledger)
        catch_up(bench.zone.ledger, bench.database, now=NOW)
        third = submit(bench, MEAN + "# once more", mechanism=asked)
        bench.drive()
        assert bench.job(third).state is JobState.RELEASED
        assert spent(bench, "nats") == (300_000, 300_000)


def test_what_is_no_backup_of_this_zone_is_refused(
    sqlite_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_bench(sqlite_url, tmp_path) as bench:
        given_heights(bench)
        zone = bench.zone.settings.zone_folder
        rotate = ["backup", "rotate-key", "--zone-folder", str(zone)]
        assert run(rotate) == 0
        key, backup = key_apart(bench, tmp_path), tmp_path / "backup"
        asked = ["--zone-folder", str(zone), "--database-url", sqlite_url, "--json"]
        capsys.readouterr()
        assert run(["backup", "make", str(backup), *asked]) == 0
        assert run(["backup", "drill", str(backup), "--key", str(key), "--json"]) == 0
        made, _, tried = capsys.readouterr().out.partition("}\n{")
        assert json.loads(made + "}")["files"] > 1
        assert json.loads("{" + tried)["intact"]
        master = key.read_bytes()
        assert not [path for path in backup.rglob("*") if path.is_file() and master in path.read_bytes()]
        with pytest.raises(DpgateError, match="there already"):
            taken(bench, backup)
        elsewhere = Database(f"sqlite:///{tmp_path / 'new' / 'dpgate.sqlite'}")
        with closing(elsewhere):
            with pytest.raises(DpgateError, match="holds something"):
                restore(backup, zone, elsewhere, key=key, now=NOW)
            assert run(rotate) == 0
            with pytest.raises(DpgateError, match=r"does not open with this master\.key"):
                drill(backup, key=zone / "master.key", now=NOW)
            blob = next(path for path in (backup / "zone" / "snapshots").rglob("*") if path.is_file())
            blob.write_bytes(blob.read_bytes() + b"x")
            with pytest.raises(InvalidRequest, match="not as it was copied"):
                restore(backup, tmp_path / "new-zone", elsewhere, key=key, now=NOW)
            other = zone_ledger(zone).path.with_name("other.key")
            other.write_bytes(bytes(32))
            other.chmod(0o600)
            with pytest.raises(InvalidRequest, match="another key"):
                restore(backup, tmp_path / "new-zone", elsewhere, key=other, now=NOW)
        assert not (tmp_path / "new").exists()


def test_what_was_drawn_after_the_backup_ends_with_the_catch_up(database_url: str, tmp_path: Path) -> None:
    """Wherever the backup met it: its charge stands, and what somebody saved of it still verifies."""
    with open_bench(database_url, tmp_path) as bench:
        given_heights(bench)
        drawing, running = (submit(bench, MEAN + note, epsilon="1") for note in ("# a", "# b"))
        for message in bench.sent.take():
            bench.deliver(message)
        chunks = bench.sent.take()
        for message in chunks:
            if message[1] == drawing:
                bench.deliver(message)
        bench.clock.forward(bench.sent.queue[0][2] + 1)
        assert begin(bench.zone, drawing)
        bench.sent.queue.extend(message for message in chunks if message[1] == running)
        queued = submit(bench, MEAN + "# c", epsilon="1")
        states = (JobState.AGGREGATING, JobState.RUNNING, JobState.QUEUED)
        asked = (drawing, running, queued)
        assert tuple(bench.job(each).state for each in asked) == states
        backup, key = taken(bench, tmp_path / "backup"), key_apart(bench, tmp_path)
        bench.drive()
        saved = [bench.release(each) for each in asked]
        ledger = tmp_path / "ledger-elsewhere"
        copy_sqlite_file(bench.zone.ledger.path, ledger)
        destroy(bench)
        put_back(bench, backup, key, ledger)
        read_before = bench.job(queued)
        catch_up(bench.zone.ledger, bench.database, now=NOW)
        hold(bench.zone, read_before, Reason.LEDGER_BEHIND, what="a charge")  # by a worker that is late
        ends = (JobState.ERRORED, JobState.CANCELLED, JobState.CANCELLED)
        assert tuple(bench.job(each).state for each in asked) == ends
        assert {bench.job(each).reason for each in asked} == {Reason.NOT_IN_LEDGER}
        bench.clock.forward(PATIENCE_S)
        sweep(bench.zone)
        assert list(bench.sent.queue) == []
        assert spent(bench) == (3_000_000, 3_000_000)
        check_books(bench)
        pem = public_key_pem(bench.zone.keys.signing)
        assert all(check_release(each.model_dump(mode="json"), pem) for each in saved)


def test_what_was_charged_after_the_backup_goes_on_beside_what_was_drawn(
    database_url: str, tmp_path: Path
) -> None:
    """One of them the backup does not know at all. What is spent is what was charged, each once."""
    with open_bench(database_url, tmp_path) as bench:
        given_heights(bench)
        drawn = submit(bench, MEAN + "# a", epsilon="1")
        charged = submit(bench, MEAN + "# b", queued=False, epsilon="1")
        backup, key = taken(bench, tmp_path / "backup"), key_apart(bench, tmp_path)
        bench.drive()
        approve(bench, charged)
        bench.deliver(bench.sent.queue.popleft())
        bench.sent.take()  # whoever had taken its runs dies
        unknown = submit(bench, MEAN + "# c", epsilon="4")
        bench.deliver(bench.sent.queue.popleft())
        states = [bench.job(each).state for each in (drawn, charged, unknown)]
        assert states == [JobState.RELEASED, JobState.RUNNING, JobState.RUNNING]
        ledger = tmp_path / "ledger-elsewhere"
        copy_sqlite_file(bench.zone.ledger.path, ledger)
        destroy(bench)
        put_back(bench, backup, key, ledger)
        catch_up(bench.zone.ledger, bench.database, now=NOW)
        assert bench.job(drawn).state is JobState.CANCELLED
        approve(bench, charged)
        anew = submit(bench, MEAN + "# d", epsilon="8")
        bench.drive()
        assert {bench.job(each).state for each in (charged, anew)} == {JobState.RELEASED}
        assert spent(bench) == (14_000_000, 14_000_000)
        check_books(bench)
