"""Erased in the middle of an import: what that seals afterwards is gone, too, before anybody says erased."""

from __future__ import annotations

from pathlib import Path

import pytest
from heights import PEOPLE, table_text
from test_erasing import ask_for_it, found
from zones import Bench, given_delivery, given_heights, imported

from domain.dataset import DatasetState
from worker import erasing, importing
from worker.importing import import_dataset
from worker.sweep import sweep


def sealed(bench: Bench) -> list[Path]:
    return [path for path in bench.zone.settings.snapshots_folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("versions", [0, 1])
@pytest.mark.parametrize("step", ["check_delivery", "join_cohort", "finish"])
def test_what_an_import_seals_afterwards_goes_with_the_rest(sqlite_bench, monkeypatch, step, versions):
    bench = sqlite_bench
    for _ in range(versions):
        given_heights(bench)
    dataset = given_delivery(bench, {"participants.tsv": table_text(PEOPLE)})
    before, said = getattr(importing, step), []

    def erased_meanwhile(*arguments, **keywords):
        ask_for_it(bench)
        for _ in range(2):
            sweep(bench.zone)
        said.append(found(bench).done_at)
        return before(*arguments, **keywords)

    monkeypatch.setattr(importing, step, erased_meanwhile)
    import_dataset(bench.zone, dataset.id)
    assert said == [None], "nobody says erased while there is a plain copy and somebody at work on it"
    sweep(bench.zone)
    assert found(bench).done_at is not None
    assert bench.zone.sealed.keys.names() == []
    erasing.erase(bench.zone)
    assert sealed(bench) == []
    assert list(bench.zone.settings.deliveries_folder.iterdir()) == []
    assert imported(bench, dataset.id).state in (DatasetState.REFUSED, DatasetState.ERASED)


def test_a_plain_copy_whose_worker_died_goes_before_anybody_says_erased(sqlite_bench):
    bench = sqlite_bench
    given_delivery(bench, {"participants.tsv": table_text(PEOPLE)})
    ask_for_it(bench)
    erasing.erase(bench.zone)
    assert found(bench).done_at is None
    sweep(bench.zone)
    assert found(bench).done_at is not None
    assert list(bench.zone.settings.deliveries_folder.iterdir()) == []
