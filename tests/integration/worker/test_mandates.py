"""Data that a mandate guards: what the worker waits for, and what it takes from the deliveries folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gateway_intruder
import pytest
import sqlalchemy as sa
from gateway_intruder import given_guarded, raise_caps
from heights import PEOPLE, table_text
from zones import Bench, cancel, given_delivery, given_heights, imported, submit

from domain.dataset import Dataset, DatasetState, ImportProblem
from domain.errors import RequestError
from domain.job import Reason
from domain.policy import Policy
from domain.states import JobState
from domain.twin.request import AskedTable, TwinRequest
from dpgate.cli.app import run
from dpgate.errors import DpgateError
from dpgate.mandates import Custody
from store import datasets, policies, twins
from store.envelopes import fingerprint
from store.tables import accounts, ledger_entries
from store.tables import datasets as dataset_rows
from store.zone_ledger import Kind
from worker import importing, mandates
from worker.mandates import enrol, key_file
from worker.profile import delivered
from worker.zone import WorkerZone

YEAR_S = 366 * 86_400
JOB = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def own(tmp_path: Path) -> Custody:
    return Custody(tmp_path / "custody")


@pytest.fixture
def bench(sqlite_bench: Bench) -> Bench:
    return sqlite_bench


def waits(bench: Bench, job_id: str, reason: Reason) -> None:
    """Where it is, with the reason, and nothing is charged."""
    bench.drive()
    job = bench.job(job_id)
    assert (job.state, job.reason) == (JobState.QUEUED, reason)
    assert not [e for e in bench.rows(ledger_entries) if (e["job_id"], e["action"]) == (job_id, "charge")]


def goes_on(bench: Bench, job_id: str) -> None:
    bench.sent.run_job(job_id)  # as the sweep does
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED


def sign(bench: Bench, own: Custody, policy: Policy | None = None) -> dict[str, Any]:
    before = own.newest("heights")
    assert before is not None
    signed = own.next_for(before, policy=policy or before.policy)
    own.deliver(signed, bench.zone.settings.deliveries_folder)
    return signed


def in_force(bench: Bench) -> list[str]:
    with bench.zone.ledger.reading() as page:
        return [entry.subject.rpartition(" ")[2] for entry in page.having(Kind.MANDATE)]


def test_nothing_is_charged_before_somebody_signed(bench: Bench, own: Custody) -> None:
    dataset = given_guarded(bench, own)
    for path in bench.zone.settings.deliveries_folder.glob("*.mandate"):
        path.rename(own.folder / path.name)
    job_id = submit(bench, epsilon="1")
    waits(bench, job_id, Reason.MANDATE_MISSING)
    own.deliver(sign(bench, own), bench.zone.settings.deliveries_folder)
    goes_on(bench, job_id)
    assert not key_file(bench.zone.settings.deliveries_folder / delivery_of(bench, dataset)).exists()


def test_what_is_no_file_is_not_waited_for(bench: Bench, own: Custody) -> None:
    """A pipe that nobody writes to, and a folder, where mandates, approvals and keys are looked for."""
    given_guarded(bench, own)
    deliveries = bench.zone.settings.deliveries_folder
    other = deliveries / JOB
    other.mkdir()
    for name in ("heights.8.mandate", "others.8.approval"):
        (deliveries / name).mkdir()
    goes_on(bench, submit(bench, epsilon="0.1"))
    for name in ("heights.7.mandate", "others.7.mandate", "heights.7.approval"):
        os.mkfifo(deliveries / name)
    goes_on(bench, submit(bench, epsilon="0.2"))
    mandates.take_in(bench.zone)
    assert [path.name for path in deliveries.iterdir() if path.is_fifo()] == []
    # of a delivery no key is left out for it: it is refused, as one whose file is none
    for find in (mandates.key_file, delivered.key_file):
        os.mkfifo(find(other))
    with pytest.raises(RequestError):
        mandates.delivered_key(other)
    assert delivered._read(delivered.key_file(other)) is None


def test_a_mandate_ends(bench: Bench, own: Custody) -> None:
    given_guarded(bench, own)
    bench.clock.forward(YEAR_S)
    job_id = submit(bench, epsilon="1")
    waits(bench, job_id, Reason.MANDATE_EXPIRED)
    mandate = own.newest("heights")
    assert mandate is not None
    own.deliver(own.next_for(mandate, policy=mandate.policy, days=800), bench.zone.settings.deliveries_folder)
    goes_on(bench, job_id)


def test_a_draw_waits_when_the_mandate_has_ended(bench: Bench, own: Custody) -> None:
    given_guarded(bench, own)
    job_id = submit(bench, epsilon="1")
    while bench.sent.queue[0][0] != "publish":
        bench.deliver(bench.sent.queue.popleft())
    message = bench.sent.queue.popleft()
    bench.clock.forward(YEAR_S)
    bench.deliver(message)
    job = bench.job(job_id)
    assert (job.state, job.reason) == (JobState.RUNNING, Reason.MANDATE_EXPIRED)
    mandate = own.newest("heights")
    assert mandate is not None
    own.deliver(own.next_for(mandate, policy=mandate.policy, days=800), bench.zone.settings.deliveries_folder)
    bench.deliver(message)
    job = bench.job(job_id)
    assert (job.state, job.reason) == (JobState.RELEASED, None)


def test_another_policy_is_another_mandate_and_so_is_who_approves(
    bench: Bench, own: Custody, tmp_path: Path
) -> None:
    dataset = given_guarded(bench, own)
    policy = changed(bench, dataset, approve_jobs=True, max_wall_seconds=59)
    job_id = submit(bench, epsilon="0.4")
    waits(bench, job_id, Reason.MANDATE_DIFFERS)
    sign(bench, own, policy)
    goes_on(
        bench, job_id
    )  # no person was asked: that it waits for one was a row, and no row says so any more

    # the same attack on data whose mandate names approvers: one of them has to sign, for this very job
    ada, bob, mandate = Custody(tmp_path / "ada"), Custody(tmp_path / "bob"), own.newest("heights")
    assert mandate is not None
    deliveries = bench.zone.settings.deliveries_folder
    named = {"ada": ada.public, "bob": bob.public}
    own.deliver(own.next_for(mandate, policy=policy, approvers=named), deliveries)
    kept = own.newest("heights")
    assert kept is not None
    own.deliver(own.next_for(kept, policy=policy), deliveries)  # those whom it names stay
    job_id = submit(bench, epsilon="0.3")
    waits(bench, job_id, Reason.MANDATE_DIFFERS)
    asked, other = bench.job(job_id).request, submit(bench, epsilon="0.2", queued=False)
    fields: dict[str, Any] = {"dataset": "heights", "version": 1, "author": "ada", "request": asked}
    for signed in (
        ada.approve(job_id, **fields),  # she asks herself
        own.approve(job_id, **fields),  # of no key that is named
        bob.approve(other, **fields),
        bob.approve(job_id, **fields | {"request": bench.job(other).request}),
        bob.approve(job_id, **fields | {"version": 2}),
    ):
        ada.deliver_approval(signed, deliveries)
        bench.sent.run_job(job_id)
        waits(bench, job_id, Reason.MANDATE_DIFFERS)
    bob.deliver_approval(bob.approve(job_id, **fields), deliveries)
    goes_on(bench, job_id)
    assert not list(deliveries.glob("*.approval"))

    # counts of a twin, for which the platform asks no vote: rows are not enough for them either
    asked = TwinRequest(dataset="heights", epsilon="0.05", tables=(AskedTable(path="participants.tsv"),))
    with bench.database.transaction() as connection:
        now, of = bench.clock(), datasets.get(connection, dataset.id)
        job_id = twins.submit(connection, job_id=JOB, request=asked, dataset=of, by=of.owner, now=now).id
    bench.sent.run_job(job_id)
    waits(bench, job_id, Reason.MANDATE_DIFFERS)
    fields |= {"author": dataset.owner, "request": asked}
    ada.deliver_approval(ada.approve(job_id, **fields | {"version": 2}), deliveries)
    bench.sent.run_job(job_id)
    waits(bench, job_id, Reason.MANDATE_DIFFERS)
    own.deliver_approval(own.approve(job_id, **fields), deliveries)
    goes_on(bench, job_id)
    with pytest.raises(DpgateError, match="asks for 2 votes"):
        own.next_for(
            kept,
            policy=policy.model_copy(update={"votes": 2}),
            approvers={"ada": ada.public, "bob": ada.public},
        )


def test_a_number_never_goes_back(bench: Bench, own: Custody) -> None:
    """Whoever has an older envelope, signed as it should be, cannot bring its policy back."""
    dataset = given_guarded(bench, own)
    (first,) = bench.zone.settings.deliveries_folder.glob("heights.1.mandate")
    kept = first.read_bytes()
    sign(bench, own, changed(bench, dataset, max_wall_seconds=59))
    job_id = submit(bench, epsilon="1", wall_s=59)
    goes_on(bench, job_id)
    assert in_force(bench) == ["1", "2"]
    first.write_bytes(kept)
    raise_caps(bench)
    second = submit(bench, epsilon="0.001")
    waits(bench, second, Reason.MANDATE_DIFFERS)  # the cap that was signed is spent
    assert in_force(bench) == ["1", "2"]


def test_data_that_were_imported_under_other_words_are_not_used(
    bench: Bench, own: Custody, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody changes the declaration in the database while the import goes on, and puts it back."""
    said: list[Any] = []

    def declare(title: str) -> None:
        with bench.database.transaction() as connection:
            (row,) = connection.execute(sa.select(dataset_rows)).all()
            said.append(row.declaration["title"])
            connection.execute(
                sa.update(dataset_rows).values(declaration={**row.declaration, "title": title})
            )

    real = importing.import_dataset

    def lied_to(zone: WorkerZone, dataset_id: str) -> None:
        declare("Something else")
        real(zone, dataset_id)
        declare(said[0])

    monkeypatch.setattr(gateway_intruder, "import_dataset", lied_to)
    given_guarded(bench, own)
    waits(bench, submit(bench, epsilon="1"), Reason.MANDATE_DIFFERS)


def test_a_key_that_is_none_is_refused_in_words(bench: Bench, own: Custody) -> None:
    """Data that came with a key are never imported without it."""
    given = given_delivery(bench, {"participants.tsv": "person\theight\n"})
    with bench.database.reading() as connection:
        delivery = datasets.delivery_of(connection, given.id)
    folder = bench.zone.settings.deliveries_folder / delivery
    (folder / "participants.tsv").write_text(table_text(PEOPLE))
    key_file(folder).write_text('{"key": "half of it')
    importing.import_dataset(bench.zone, given.id)
    found = imported(bench, given.id)
    assert (found.state, found.problem) == (DatasetState.REFUSED, ImportProblem.UNFINISHED)


@pytest.mark.parametrize("place", ["../snapshots", ".", "", "a/b"])
def test_a_row_leads_an_import_to_no_other_folder(bench: Bench, place: str) -> None:
    """An import removes the folder that it has read."""
    ready = given_heights(bench)
    waiting = given_delivery(bench, {"participants.tsv": table_text(PEOPLE)})
    with bench.database.reading() as connection:
        mine = datasets.delivery_of(connection, waiting.id)
    with bench.database.transaction() as connection:
        change = sa.update(dataset_rows).where(dataset_rows.c.id == waiting.id)
        connection.execute(change.values(delivery=place))
    importing.import_dataset(bench.zone, waiting.id)
    found = imported(bench, waiting.id)
    assert (found.state, found.problem) == (DatasetState.REFUSED, ImportProblem.NOT_DELIVERED)
    assert ready.snapshot is not None
    assert bench.zone.sealed.of(ready).snapshots.has(ready.snapshot)
    assert (bench.zone.settings.deliveries_folder / mine / "participants.tsv").exists()


def test_a_delivery_never_becomes_other_data_than_those_of_its_key(bench: Bench, own: Custody) -> None:
    """Somebody stops an import behind its enrolment, declares something else, and lets it go on."""
    given = given_delivery(bench, {"participants.tsv": table_text(PEOPLE)})
    with bench.database.reading() as connection:
        delivery = datasets.delivery_of(connection, given.id)
    own.enrol_with(bench.zone.settings.deliveries_folder / delivery)
    with bench.database.transaction() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER stop BEFORE UPDATE ON datasets BEGIN SELECT raise(abort, 'no'); END"
        )
    with pytest.raises(sa.exc.IntegrityError):
        importing.import_dataset(bench.zone, given.id)
    with bench.database.transaction() as connection:
        connection.exec_driver_sql("DROP TRIGGER stop")
        row = connection.execute(sa.select(dataset_rows)).one()
        connection.execute(sa.update(dataset_rows).values(declaration={**row.declaration, "title": "Else"}))
    importing.import_dataset(bench.zone, given.id)
    found = imported(bench, given.id)
    assert (found.state, found.problem) == (DatasetState.REFUSED, ImportProblem.UNFINISHED)
    with bench.zone.ledger.reading() as page:
        assert len(page.having(Kind.ENROLLED)) == 1


def test_an_import_that_was_stopped_goes_on(bench: Bench, own: Custody) -> None:
    given = given_guarded(bench, own)
    with bench.database.reading() as connection:
        delivery = datasets.delivery_of(connection, given.id)
    key = own.public
    again = {"delivery": delivery, "snapshot": given.snapshot, "key": key}
    assert enrol(bench.zone, given, **again)
    assert not enrol(bench.zone, given, **again | {"snapshot": "0" * 64})


def test_somebody_elses_key_signs_nothing(bench: Bench, own: Custody, tmp_path: Path) -> None:
    dataset = given_guarded(bench, own)
    other = Custody(tmp_path / "other")
    lax = dataset.declaration.model_copy(
        update={"policy": dataset.declaration.policy.model_copy(update={"max_epsilon_per_job": "1000"})}
    )
    forged = other.first_for(lax, version=1, delivery=delivery_of(bench, dataset))
    bench.zone.settings.deliveries_folder.joinpath("heights.1.mandate").unlink()
    other.deliver(forged, bench.zone.settings.deliveries_folder)
    job_id = submit(bench, epsilon="1")
    waits(bench, job_id, Reason.MANDATE_MISSING)
    assert in_force(bench) == []


def test_a_held_job_keeps_nobody_elses_from_going(bench: Bench, own: Custody) -> None:
    given_guarded(bench, own)
    bench.clock.forward(YEAR_S)
    held = submit(bench, epsilon="1")
    given_heights(bench, {"one": 170.0}, name="open", new_people=True, nominal_size=12)
    free = submit(bench, dataset="open", epsilon="1")
    bench.drive()
    assert [bench.job(each).state for each in (held, free)] == [JobState.QUEUED, JobState.RELEASED]
    cancel(bench, held)
    assert all(row["reserved"] == 0 for row in bench.rows(accounts))


def test_a_zone_may_ask_for_a_mandate_of_all_data(bench: Bench) -> None:
    given_heights(bench)
    strict = bench.another(slot=0, mandates="required")
    job_id = submit(strict, epsilon="1")
    waits(strict, job_id, Reason.MANDATE_MISSING)
    strict.close()


def test_a_lost_key_is_replaced_by_two_people(
    bench: Bench, own: Custody, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = given_guarded(bench, own)
    new, delivery = Custody(tmp_path / "new"), delivery_of(bench, dataset)
    asked = ["ledger", "enrol", delivery, new.public, "--zone-folder", str(bench.zone.settings.zone_folder)]
    assert run([*asked, "--confirmed", fingerprint(own.public)]) != 0
    assert "not the key's fingerprint" in " ".join(capsys.readouterr().err.split())
    # whoever lost the folder of their key has not the number either
    assert run(["ledger", "show", *asked[-2:]]) == 0
    assert f"heights delivery {delivery}: key {fingerprint(own.public)}" in capsys.readouterr().out
    assert run([*asked, "--confirmed", fingerprint(new.public)]) == 0
    job_id = submit(bench, epsilon="1")
    waits(bench, job_id, Reason.MANDATE_MISSING)  # what the old key signed counts no more
    signed = new.first_for(dataset.declaration, version=1, delivery=delivery)
    new.deliver(signed, bench.zone.settings.deliveries_folder)
    goes_on(bench, job_id)


def delivery_of(bench: Bench, dataset: Dataset) -> str:
    with bench.database.reading() as connection:
        return datasets.delivery_of(connection, dataset.id)


def changed(bench: Bench, dataset: Dataset, **fields: Any) -> Policy:
    """Another policy, by its rights holder or by somebody in their name."""
    policy = dataset.declaration.policy.model_copy(update=fields)
    with bench.database.transaction() as connection:
        policies.change(
            connection,
            dataset=dataset,
            policy=policy,
            expected=1,
            by="holder",
            reason="so",
            now=bench.clock(),
        )
    return policy
