"""Decisions about identifying columns, through an import: no name is left, and people have one budget."""

from __future__ import annotations

from typing import Any

from heights import COLUMNS, PEOPLE, table_text
from zones import Bench, given_delivery, imported

from domain.dataset import Dataset, DatasetState, ImportProblem
from worker.importing import import_dataset

DECIDED = {
    "kind": "RECORD_ID",
    "classification": "direct",
    "decision": "pseudonymise",
    "by": "dana",
    "why": "agreed",
}


def given(bench: Bench, *, pseudonymised: bool, **fields: Any) -> Dataset:
    """The same people, by their names or under others."""
    columns = [
        {**column, "pii": DECIDED} if pseudonymised and column["kind"] == "person" else column
        for column in COLUMNS
    ]
    table = {"path": "participants.tsv", "columns": columns}
    dataset = given_delivery(bench, {"participants.tsv": table_text(PEOPLE)}, tables=[table], **fields)
    import_dataset(bench.zone, dataset.id)
    return imported(bench, dataset.id)


def test_people_have_other_names_in_the_snapshot_and_the_same_at_every_import(bench: Bench) -> None:
    first, again = (given(bench, pseudonymised=True) for _ in range(2))
    assert (first.state, again.state) == (DatasetState.READY, DatasetState.READY)
    assert first.snapshot == again.snapshot
    snapshot = bench.zone.sealed.of(first).snapshots.open(str(first.snapshot))
    assert len(snapshot.people) == len(PEOPLE)
    assert not set(snapshot.people) & set(PEOPLE)
    text = snapshot.table("participants.tsv").decode()
    assert all(name in text for name in snapshot.people)
    assert not any(f"{name}\t" in text for name in PEOPLE)


def test_without_the_decision_their_names_are_there(bench: Bench) -> None:
    """So that the test above can fail."""
    found = given(bench, pseudonymised=False)
    snapshot = bench.zone.sealed.of(found).snapshots.open(str(found.snapshot))
    assert set(snapshot.people) == set(PEOPLE)


def test_other_names_do_not_give_people_a_second_budget(bench: Bench) -> None:
    given(bench, pseudonymised=False, name="plain")
    other = given(bench, pseudonymised=True, name="renamed")
    assert (other.state, other.problem) == (DatasetState.REFUSED, ImportProblem.SAME_PEOPLE)
