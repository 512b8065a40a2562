"""A backup in the middle of real load, everything destroyed, and restored: real workers, either database.

    python tests/loaded_backups.py 6 --database postgresql --seed 7

Two dozen jobs are in every state, some in the middle of their runs, when the backup is made; workers go on,
draw and charge more, and are killed. Database and zone are destroyed; left are the backup, the master key and
the zone's ledger. Then: every release that the backup knows is there, nothing is charged before somebody has
caught up, nothing is drawn a second time, and what was spent is what was charged, to the unit.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from faults import Faults
from heights import MEAN
from random_faults import SETTINGS, UNITS, Asked, tell_what_is_left
from services import postgresql_server
from waiting import let_pass, wait_until
from workers import Platform, open_platform
from zones import Bench, cancel, check_books, destroy, given_heights, submit

from domain.job import Reason
from domain.states import JobState, is_terminal
from dpgate.backup.making import back_up
from dpgate.backup.restoring import drill, restore
from store import audit, maintenance
from store.database import Database
from store.database_copy import copy_sqlite_file
from store.tables import accounts, jobs, releases
from store.zone_ledger import Kind
from worker.catching_up import catch_up

JOBS, LONGEST_PAUSE_S = 24, 3.0
WAITING, WITHDRAWN, AFTERWARDS = 2, 1, 4


def states(bench: Bench) -> Counter[JobState]:
    with bench.database.reading() as connection:
        return Counter(JobState(each) for each in connection.execute(sa.select(jobs.c.state)).scalars())


def released(bench: Bench) -> dict[str, Any]:
    return {row["job_id"]: row["body"] for row in bench.rows(releases)}


def entries(bench: Bench, kind: Kind) -> list[str]:
    with bench.zone.ledger.reading() as page:
        page.entries()
        return [entry.subject for entry in page.having(kind)]


def spent(bench: Bench) -> tuple[int, int]:
    """Of epsilon, by the platform and by the zone."""
    (there,) = [row["spent"] for row in bench.rows(accounts) if row["currency"] == "epsilon"]
    with bench.zone.ledger.reading() as page:
        return there, page.spent("heights").get("epsilon", 0)


def under_load(platform: Platform, asked: Asked, chance: random.Random, place: Path) -> tuple[Path, Path]:
    """The backup and the newest ledger, of a platform whose worker is dead."""
    bench = platform.bench
    for number in range(JOBS):
        asked.one_more()
        platform.queue.run_job(list(asked.kinds)[-1])
        if number < WAITING:
            submit(bench, MEAN + f"# waits {number}\n", queued=False, epsilon="1")
        if number < WITHDRAWN:
            cancel(bench, submit(bench, MEAN + f"# withdrawn {number}\n", queued=False, epsilon="1"))
    wait_until(lambda: states(bench)[JobState.RELEASED] > 2, said="the first releases")
    let_pass(chance.uniform(0, LONGEST_PAUSE_S), because="a backup comes when it comes")
    wait_until(lambda: states(bench)[JobState.RUNNING], said="jobs that run")
    back_up(bench.zone.settings.zone_folder, bench.database, place / "backup", now=datetime.now(UTC))
    known = states(bench)[JobState.RELEASED]
    for _ in range(AFTERWARDS):
        asked.one_more()
        platform.queue.run_job(list(asked.kinds)[-1])
    wait_until(lambda: states(bench)[JobState.RELEASED] > known + 1, said="releases after the backup")
    let_pass(chance.uniform(0, LONGEST_PAUSE_S), because="so does the end of a host")
    platform.kill_worker()
    copy_sqlite_file(bench.zone.ledger.path, place / "ledger.sqlite")
    return place / "backup", place / "ledger.sqlite"


def lose_and_restore(platform: Platform, asked: Asked, chance: random.Random, place: Path) -> None:
    bench = platform.bench
    backup, ledger = under_load(platform, asked, chance, place)
    key = Path(shutil.copy(bench.zone.settings.key_file, place / "key"))
    before, drawn, charged = released(bench), entries(bench, Kind.DRAW), entries(bench, Kind.CHARGE)
    drill(backup, key=key, now=datetime.now(UTC))
    asked.gateway.engine.dispose()  # its process ended with the rest
    destroy(bench)
    restore(
        backup, bench.zone.settings.zone_folder, bench.database, key=key, newest_ledger=ledger,
        now=datetime.now(UTC),
    )  # fmt: skip
    at_backup, kept = states(bench), released(bench)
    print(f"  at the backup {dict(at_backup)}; drawn {len(kept)}, at the end {len(drawn)}", flush=True)
    assert kept == {job_id: before[job_id] for job_id in kept}
    with bench.database.reading() as connection:
        assert maintenance.current(connection) is not None
    platform.start_worker()
    asked.count += 1
    late = f"query-{asked.count:06d}"
    asked._submit(late, asked._request("query"))
    asked.kinds[late] = "query"
    platform.queue.run_job(late)
    wait_until(lambda: bench.job(late).reason is Reason.LEDGER_BEHIND, said="a job that waits")
    assert released(bench) == kept
    assert entries(bench, Kind.CHARGE) == charged
    catch_up(bench.zone.ledger, bench.database, now=datetime.now(UTC))
    try:
        wait_until(lambda: not still_open(bench), said="the end of all jobs")
    except AssertionError:
        tell_what_is_left(Faults([platform], chance, place), asked)
        raise
    platform.stop_worker()
    check(bench, asked, kept=kept, before=before)


def still_open(bench: Bench) -> list[JobState]:
    return [each for each in states(bench) if not is_terminal(each) and each is not JobState.SUBMITTED]


def check(bench: Bench, asked: Asked, *, kept: dict[str, Any], before: dict[str, Any]) -> None:
    """None lost, none drawn twice, and what is spent is what was charged."""
    found, drawn, charged = released(bench), entries(bench, Kind.DRAW), set(entries(bench, Kind.CHARGE))
    assert kept.items() <= found.items()
    assert len(drawn) == len(set(drawn))
    assert found.keys() | before.keys() <= set(drawn)
    # drawn in a slot that was killed before the platform had it: nobody has seen it, nobody ever will
    assert len(set(drawn) - found.keys() - before.keys()) <= bench.zone.settings.slots
    assert not (found.keys() - kept.keys()) & before.keys(), "what came out before is not drawn again"
    units = sum(UNITS[asked.kinds[job_id]] for job_id in charged)
    assert spent(bench) == (units, units)
    check_books(bench)
    with bench.zone.ledger.reading() as page:
        known = page.heads()
    with bench.database.reading() as connection:
        assert audit.verify(connection, known=known).intact
    ends = Counter((bench.job(row["id"]).state.value, row["reason"]) for row in bench.rows(jobs))
    print(f"  at the end {dict(ends)}, {units} units spent", flush=True)


def one_round(database_url: str, place: Path, chance: random.Random) -> None:
    with open_platform(database_url, place / "platform", **SETTINGS) as platform:
        given_heights(platform.bench)
        with platform.bench.database.transaction() as connection:
            connection.execute(accounts.update().values(cap=10**12))
        platform.start_worker()
        gateway = Database(database_url)
        try:
            lose_and_restore(platform, Asked(platform.bench, chance, gateway), chance, place)
        finally:
            gateway.close()
            if platform.process is not None and not platform.has_ended():
                platform.kill_worker()


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rounds", type=int)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--seed", type=int)
    told = parser.parse_args(words)
    seed = told.seed if told.seed is not None else random.SystemRandom().randrange(2**32)
    chance = random.Random(seed)
    with ExitStack() as stack:
        server = (
            stack.enter_context(postgresql_server(durable=False)) if told.database == "postgresql" else None
        )
        for number in range(told.rounds):
            print(f"round {number + 1} of {told.rounds}, {told.database}, seed {seed}", flush=True)
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dpgate-backups-"))
            place = Path(folder)
            (place / "platform").mkdir()
            if server is None:
                url = f"sqlite:///{place / 'dpgate.db'}"
                made = Database(url)
                made.migrate()
                made.close()
            else:
                url = server.fresh()
            one_round(url, place, chance)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
