"""An erased data set: with everything that is left, and any backup without its key, no sealed byte opens."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from factories import make_user
from gateway_intruder import ask_to_erase, given_guarded, refusals, rows_of
from heights import PEOPLE, table_text
from test_backups import destroy, key_apart, put_back, taken
from test_draining_rehearsals import announce
from test_killed_between_ledgers import killed_after
from test_query_route import HEIGHT, TALL, ask
from test_zone_books import Died
from zones import Bench, check_books, given_delivery, given_heights, imported, open_bench

from domain.dataset import Dataset, DatasetState
from domain.errors import Conflict, PlatformError
from domain.job import Reason
from domain.permissions import Role
from domain.release import opened
from domain.states import JobState
from dpgate.mandates import Custody
from dpgate.verification import check_deletion
from store import data_keys, datasets, erasures
from store.database import Database
from store.envelopes import sign
from store.keys import Keys, OwnKeys, derived
from store.sealing import open_sealed, open_stream
from store.tables import accounts as account_rows
from store.tables import chunks as chunk_rows
from store.tables import datasets as version_rows
from store.tables import jobs as job_rows
from store.tables import run_outputs
from store.zone_ledger import Kind, ZoneLedger
from worker import erasing
from worker.catching_up import catch_up
from worker.certificate import public_key_pem
from worker.collect import output_context
from worker.importing import import_dataset
from worker.mandates import guards, why_not_allowed
from worker.sweep import sweep

HOLDER = make_user("holder", Role.RIGHTS_HOLDER)
OUTCOME = b"o" * 32
OTHERS = {f"other-{name}": height for name, height in PEOPLE.items()}


@pytest.fixture
def bench(sqlite_bench: Bench) -> Bench:
    return sqlite_bench


def ask_for_it(bench: Bench, name: str = "heights") -> erasures.Erasure:
    with bench.database.transaction() as connection:
        return erasures.ask(connection, name=name, user=HOLDER, now=bench.clock())


def spent(bench: Bench) -> tuple[int, int]:
    """Of epsilon, by the platform and by the zone."""
    accounts = [row for row in bench.rows(account_rows) if row["cohort"] == "heights"]
    (there,) = [row["spent"] for row in accounts if row["currency"] == "epsilon"]
    with bench.zone.ledger.reading() as page:
        return there, page.spent("heights").get("epsilon", 0)


def found(bench: Bench, name: str = "heights") -> erasures.Erasure:
    with bench.database.reading() as connection:
        known = erasures.newest(connection, name)
    assert known is not None
    return known


def sealed_here(bench: Bench, dataset: Dataset) -> list[Path]:
    folders = (bench.zone.settings.snapshots_folder, bench.zone.settings.participants_folder)
    places = [folder / "own" / str(dataset.data_key) for folder in folders]
    return [path for place in places for path in place.rglob("*") if path.is_file()]


def opens(path: Path, keys: Sequence[bytes]) -> bool:
    """Under any of these, as whatever it may be."""
    for key in keys:
        for kind in ("blob", "manifest", "outcome"):
            try:
                list(open_stream([path.read_bytes()], key=key, context=f"{kind} {path.name}"))
            except PlatformError:
                continue
            return True
    return False


def outputs_open(rows: Sequence[dict], job_id: str, keys: Sequence[bytes]) -> bool:
    for row in rows:
        for key in keys:
            try:
                open_sealed(row["sealed"], key=key, context=output_context(job_id, row["run"]))
            except PlatformError:
                continue
            return True
    return False


def keys_left(bench: Bench) -> list[bytes]:
    """All of the zone's, and those of each data set that has one, also where they would be of no use."""
    zone = bench.zone.keys
    others = ("signing", "wrapping")
    names = [name for name, value in vars(Keys).items() if isinstance(value, property) and name not in others]
    own = [bench.zone.sealed.keys.find(name) for name in bench.zone.sealed.keys.names()]
    found = [getattr(zone, name) for name in names] + [
        zone._master,
        zone.signing.private_bytes_raw(),
        *zone.wrapping,
    ]
    for each in filter(None, own):
        found += [each.root, each.snapshots, each.outputs, each.participants]
    purposes = ("snapshots", "run outputs", "participant outputs", "data keys")
    return found + [derived(key, purpose) for key in tuple(found) for purpose in purposes]


def test_nothing_that_is_left_opens_a_sealed_byte(bench: Bench, tmp_path: Path) -> None:
    dataset = given_heights(bench)
    given_heights(bench, OTHERS, name="weights", cohort="weights")
    released = ask(bench, TALL)
    bench.drive()
    before = bench.release(released)
    waits = ask(bench, HEIGHT)
    while not bench.rows(run_outputs):
        bench.deliver(bench.sent.queue.popleft())
    bench.sent.queue.clear()
    bench.zone.sealed.of(dataset).participants.of_job(waits, cohort="heights").keep(OUTCOME, {"a": b"secret"})
    shutil.copytree(bench.zone.settings.zone_folder, tmp_path / "home")
    backup, key = taken(bench, tmp_path / "backup"), key_apart(bench, tmp_path)
    rows, mine = bench.rows(run_outputs), sealed_here(bench, dataset)
    assert len(mine) > 3
    assert all(opens(path, keys_left(bench)) for path in mine), "as long as the key is there"
    assert outputs_open(rows, waits, keys_left(bench))

    ask_for_it(bench)
    assert bench.job(waits).state is JobState.CANCELLED
    sweep(bench.zone)
    assert imported(bench, dataset.id).state is DatasetState.ERASED
    assert not sealed_here(bench, dataset)
    left = keys_left(bench)
    copies = [
        path for place in ("home", "backup") for path in (tmp_path / place).rglob("*") if path.is_file()
    ]
    lost = [path for path in copies if str(dataset.data_key) in str(path)]
    assert len(lost) == 2 * len(mine)
    assert not [path for path in lost if opens(path, left)]
    assert not outputs_open(rows, waits, left)
    assert [path for path in copies if path not in lost and opens(path, left)], "weights is as it was"

    assert bench.release(released) == before
    assert spent(bench) == (2_000_000, 2_000_000)
    check_books(bench)
    assert ask_for_it(bench).id == found(bench).id, "again is the same"
    again = given_heights(bench)
    assert again.data_key not in (None, dataset.data_key)
    later = ask(bench, HEIGHT)
    bench.drive()
    assert bench.job(later).state is JobState.RELEASED

    # all is lost, and comes back from the day before: with the newest ledger the key goes at once
    ledger = Path(shutil.copy(bench.zone.ledger.path, tmp_path / "ledger-elsewhere"))
    destroy(bench)
    put_back(bench, backup, key, ledger)
    assert opens(sealed_here(bench, dataset)[0], keys_left(bench))
    sweep(bench.zone)
    assert imported(bench, dataset.id).state is DatasetState.ERASED
    assert not [path for path in lost if opens(path, keys_left(bench))]
    catch_up(bench.zone.ledger, bench.database, now=bench.clock())
    assert spent(bench) == (3_000_000, 3_000_000)


def test_killed_anywhere_it_is_gone_on_with(sqlite_url: str, tmp_path: Path) -> None:
    """After each commit of either ledger, and while the key is overwritten."""
    with open_bench(sqlite_url, tmp_path) as bench, pytest.MonkeyPatch.context() as patched:
        for turn in range(4):
            dataset = given_heights(bench, {f"{turn}-{name}": height for name, height in PEOPLE.items()})
            ask_for_it(bench)
            if turn < 3:
                of = ((ZoneLedger,), (Database,), (ZoneLedger, Database))[turn]
                with pytest.raises(Died), killed_after(1, of=of):
                    erasing.erase(bench.zone)
            else:
                patched.setattr(data_keys.Path, "unlink", _die)
                with pytest.raises(Died):
                    erasing.erase(bench.zone)
                patched.undo()
            erasing.erase(bench.zone)
            assert imported(bench, dataset.id).state is DatasetState.ERASED
            assert bench.zone.sealed.keys.names() == []
            assert not sealed_here(bench, dataset)
        with bench.zone.ledger.reading() as page:
            assert len(page.having(Kind.ERASED)) == 4
            page.entries()
        check_record(found(bench), public_key_pem(bench.zone.keys.signing), version=dataset.version)


def check_record(erasure: erasures.Erasure, pem: str, *, version: int) -> None:
    """The zone has signed what is gone and what stays; changed, or of another zone, it counts for nothing."""
    record = erasure.record
    assert record is not None
    said = check_deletion(record, pem)
    assert said is not None
    assert (said["dataset"], said["versions"], said["askedBy"]) == ("heights", [version], "holder")
    assert said["stays"][0]["what"] == "what was spent of the budget, in both ledgers"
    statement = json.loads(base64.b64decode(record["payload"]))
    statement["predicate"]["versions"] = [1, 2]
    changed = {**record, "payload": base64.b64encode(json.dumps(statement).encode()).decode()}
    for other in (changed, {**record, "signatures": []}, {}):
        assert check_deletion(other, pem) is None
    assert check_deletion(record, public_key_pem(Ed25519PrivateKey.generate())) is None


def test_a_worker_from_a_copied_folder_destroys_the_key_there_too(bench: Bench, tmp_path: Path) -> None:
    given_heights(bench)
    given_heights(bench, OTHERS, name="weights", cohort="weights")
    copied = shutil.copytree(bench.zone.settings.zone_folder, tmp_path / "copied")
    ask_for_it(bench)
    erasing.erase(bench.zone)
    apart = bench.another(zone_folder=copied)
    assert apart.zone.sealed.keys.names() == ["heights", "weights"]
    # whoever writes rows has nothing destroyed: another key signs, or the record is of another thing
    row = bench.rows(erasures.erasures)[0]
    own = apart.zone.sealed.keys.id_of("weights")
    statement = opened(row["record"])
    statement["predicate"] |= {"dataset": "weights", "key": own}
    forged = sign(statement, key=Ed25519PrivateKey.generate())
    other = sign(
        {**statement, "predicateType": "urn:dpgate:predicate:release:v3"}, key=bench.zone.keys.signing
    )
    for record in (forged, other, {}, [1], "record"):
        with bench.database.transaction() as connection:
            fields = {**row, "id": str(uuid4()), "name": "weights", "record": record}
            connection.execute(sa.insert(erasures.erasures).values(fields))
    erasing.erase(apart.zone)
    assert apart.zone.sealed.keys.names() == ["weights"]
    apart.close()


def _die(*_: object, **__: object) -> None:
    raise Died


def test_what_still_needs_the_key_comes_first(bench: Bench) -> None:
    dataset = given_heights(bench)
    job_id = ask(bench, TALL)
    while bench.job(job_id).state is not JobState.RUNNING or bench.sent.queue[0][0] != "publish":
        bench.deliver(bench.sent.queue.popleft())
    ask_for_it(bench)
    assert bench.job(job_id).state is JobState.CANCELLED
    change = sa.update(job_rows).where(job_rows.c.id == job_id)
    with bench.database.transaction() as connection:  # a gateway of a version before left it at its release
        connection.execute(change.values(state=JobState.AGGREGATING))
    erasing.erase(bench.zone)
    assert imported(bench, dataset.id).state is DatasetState.WITHDRAWN
    assert bench.zone.sealed.keys.names() == ["heights"]
    with bench.database.transaction() as connection, pytest.raises(Conflict, match="being erased"):
        erasures.check_none_waits(connection, "heights")
    with bench.database.transaction() as connection:
        connection.execute(change.values(state=JobState.CANCELLED))
    erasing.erase(bench.zone)
    assert imported(bench, dataset.id).state is DatasetState.ERASED
    with bench.database.reading() as connection:
        erasures.check_none_waits(connection, "heights")


def test_data_that_a_key_guards_go_when_it_has_signed_that(bench: Bench, tmp_path: Path) -> None:
    """Rows alone have data erased that none guards: `test_killed_anywhere_it_is_gone_on_with`."""
    own, other = Custody(tmp_path / "own"), Custody(tmp_path / "other")
    deliveries = bench.zone.settings.deliveries_folder
    dataset = given_guarded(bench, own)
    mandate = own.newest("heights")
    assert mandate is not None
    (signed,) = deliveries.glob("*.mandate")
    signed.rename(own.folder / signed.name)
    intruder, holder = (f"{number:08}-0000-4000-8000-000000000000" for number in (1, 2))

    def is_charge_refused() -> bool:
        """Before the job is looked at: there is none."""
        with bench.zone.ledger.reading() as page:
            (guard,) = guards(page, imported(bench, dataset.id))
            if not guard.is_ordered:
                return False
            asked: Any = None
            said = why_not_allowed(bench.zone, page, asked, imported(bench, dataset.id), spent={})
            return said is Reason.MANDATE_MISSING

    forged = other.first_for(dataset.declaration, version=1, delivery=mandate.delivery)
    assert other.to_erase("weights") is None
    for attempt in (lambda: None, lambda: other.deliver(other.to_erase("heights") or forged, deliveries)):
        attempt()
        ask_to_erase(bench, erasure_id=intruder)
        sweep(bench.zone)
        assert bench.zone.sealed.keys.names() == ["heights"]
        with rows_of(bench) as rows:
            rows.execute("DELETE FROM erasures")
    assert refusals(bench) == [f"{intruder} UNSIGNED"]
    assert not list(deliveries.glob("*.mandate")), "the sweep took all in"

    # somebody who may deliver puts data of theirs under this name and signs that it goes: the key of the
    # others guards, though it has signed nothing yet
    table = {"participants.tsv": table_text(dict(list(PEOPLE.items())[:10]))}
    theirs = given_delivery(
        bench, table, budget_epsilon="1", policy=dataset.declaration.policy.model_dump(mode="json")
    )
    with bench.database.reading() as connection:
        delivery = datasets.delivery_of(connection, theirs.id)
    other.enrol_with(deliveries / delivery)
    import_dataset(bench.zone, theirs.id)
    assert imported(bench, theirs.id).state is DatasetState.READY
    mine = other.first_for(theirs.declaration, version=theirs.version, delivery=delivery)
    for envelope in (mine, other.to_erase("heights") or mine):
        other.deliver(envelope, deliveries)
    ask_to_erase(bench, erasure_id=intruder)
    sweep(bench.zone)
    assert bench.zone.sealed.keys.names() == ["heights"]
    with rows_of(bench) as rows:
        rows.execute("DELETE FROM erasures")
        rows.execute("DELETE FROM datasets WHERE id = ?", (theirs.id,))
    own.deliver(json.loads((own.folder / signed.name).read_bytes()), deliveries)

    ask_to_erase(bench, erasure_id=holder)
    sweep(bench.zone)
    with bench.database.reading() as connection:
        assert "dpgate dataset erase" in str(erasures.waits_for(connection, found(bench)))
    order = own.to_erase("heights")
    assert order is not None
    assert order == own.to_erase("heights"), "again is the same"
    # an order that a newer mandate has taken back, and brought again, is none
    own.deliver(order, deliveries)
    own.deliver(own.next_for(mandate, policy=mandate.policy), deliveries)
    sweep(bench.zone)
    own.deliver(order, deliveries)
    sweep(bench.zone)
    assert bench.zone.sealed.keys.names() == ["heights"]
    assert is_charge_refused() is False
    second = own.to_erase("heights")
    assert second not in (None, order)
    own.deliver(second, deliveries)
    sweep(bench.zone)
    assert imported(bench, dataset.id).state is DatasetState.ERASED
    with bench.database.reading() as connection:
        assert erasures.waits_for(connection, found(bench)) is None
    assert is_charge_refused() is True, "whatever job rows bring"

    # the same data once more, as before under another delivery: the order was about those of before
    given_guarded(bench, own)
    ask_to_erase(bench, erasure_id=intruder.replace("1", "3"))
    sweep(bench.zone)
    assert bench.zone.sealed.keys.names() == ["heights"]


def test_data_without_a_key_of_their_own_are_not_said_to_be_erased(bench: Bench) -> None:
    dataset = given_heights(bench)
    own = bench.zone.sealed.of(dataset)
    assert isinstance(own.keys, OwnKeys)
    shared = bench.zone.settings.snapshots_folder
    for part in ("blobs", "manifests"):
        os.rename(shared / "own" / own.keys.id / part, shared / part)
    mine = sa.update(version_rows).where(version_rows.c.id == dataset.id)
    with bench.database.transaction() as connection:
        connection.execute(mine.values(data_key=None))
    with pytest.raises(Conflict, match="before each data set had a key"):
        ask_for_it(bench)
    # rows that say otherwise do not convince the zone
    with bench.database.transaction() as connection:
        connection.execute(mine.values(data_key=own.keys.id))
    ask_for_it(bench)
    erasing.erase(bench.zone)
    with bench.database.transaction() as connection:
        assert datasets.get(connection, dataset.id).state is DatasetState.WITHDRAWN
    assert bench.zone.sealed.keys.names() == ["heights"]
    assert found(bench).record is None
    # nor do those that name no snapshot at all: whose the data under the zone's key are, rows alone say
    bench.zone.sealed.keys.destroy("heights", own.keys.id)
    with bench.database.transaction() as connection:
        connection.execute(mine.values(snapshot=None, data_key=None))
    erasing.erase(bench.zone)
    assert found(bench).record is None


def test_a_worker_with_a_folder_of_its_own_takes_no_chunk_that_it_cannot_open(
    bench: Bench, tmp_path: Path
) -> None:
    """It has the master key and no snapshot: what another has charged waits for that one, tried by nobody."""
    given_heights(bench)
    job_id = ask(bench, TALL)
    bench.deliver(bench.sent.queue.popleft())
    zone = tmp_path / "apart"
    zone.mkdir(mode=0o700)
    shutil.copy(bench.zone.settings.key_file, zone / "master.key")
    shutil.copy(bench.zone.ledger.path, zone / "ledger.sqlite")
    apart = bench.another(zone_folder=zone)
    chunk = bench.sent.queue.popleft()
    for _ in range(2 * apart.zone.settings.max_attempts):
        apart.deliver(chunk)
        sweep(apart.zone)
        assert bench.job(job_id).reason is None, "it is not late"
    bench.clock.forward(
        1 + (bench.job(job_id).due_at - bench.clock() + timedelta(minutes=10)).total_seconds()
    )
    apart.deliver(chunk)
    assert bench.job(job_id).reason is Reason.SNAPSHOT_MISSING
    assert bench.rows(chunk_rows)[0]["attempts"] == 0
    bench.deliver(chunk)
    publishes = bench.sent.queue.popleft()
    apart.deliver(publishes)
    assert bench.job(job_id).state is JobState.RUNNING
    bench.deliver(publishes)
    assert (bench.job(job_id).state, bench.job(job_id).reason) == (JobState.RELEASED, None)
    waits = ask(bench, HEIGHT)
    announce(bench, "has-it")
    for _ in range(1 + apart.zone.settings.max_attempts):
        apart.deliver(("job", waits))
    job = bench.job(waits)
    assert (job.state, job.reason, job.attempts) == (JobState.QUEUED, Reason.SNAPSHOT_MISSING, 0)
    bench.clock.forward(3600)  # nobody is there any more who may have it
    for _ in range(apart.zone.settings.max_attempts):
        apart.deliver(("job", waits))
    assert bench.job(waits).state is JobState.ERRORED
    assert spent(bench) == (1_000_000, 1_000_000), "of the first alone"
    apart.close()
