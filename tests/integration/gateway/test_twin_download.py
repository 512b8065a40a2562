"""The twin as a download: from the declaration alone, equal bytes each time, never too much work."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from asking import Gateway, problem
from factories import given_dataset, policy_fields, table_fields
from made_counts import given_counts

from desk import drawn_twins
from domain.states import JobState
from domain.twin import LABEL, README
from store import twins
from twins.drawn import make_twin

BIDS = {
    "layout": "bids",
    "person_files": [{"path": "{person}/anat/T1w.json", "twin_text": "x" * 100_000}],
}


def test_it_is_what_the_declaration_gives(gateway: Gateway):
    with gateway.database.transaction() as connection:
        declaration = given_dataset(connection).declaration
    first, second = (gateway.ask("GET", "/datasets/heights/twin", by="ada") for _ in range(2))
    assert first.content == second.content
    with zipfile.ZipFile(io.BytesIO(first.content)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == make_twin(declaration)
    assert LABEL in found[README].decode()


TOO_MUCH: dict[str, dict[str, Any]] = {
    "a billion people": {"nominal_size": 1_000_000_000},
    "two million people": {"nominal_size": 2_000_000},
    "many rows each": {"nominal_size": 700_000, "tables": [table_fields(rows_per_person="many")]},
    "very many rows": {
        "nominal_size": 500, "tables": [table_fields(rows_per_person="many", typical_rows=5000)],
    },
    "large files each": {"nominal_size": 600, **BIDS},
}  # fmt: skip


def test_one_that_would_take_the_gateway_down_is_refused_and_never_drawn(
    shared_gateway: Gateway, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
):
    drawn: list[Any] = []
    monkeypatch.setattr(drawn_twins, "_zipped", drawn.append)
    for number, (what, fields) in enumerate(TOO_MUCH.items()):
        name = f"crowd-{number}"
        with subtests.test(what):
            with shared_gateway.database.transaction() as connection:
                given_dataset(connection, name=name, **fields)
            answer = shared_gateway.ask("GET", f"/datasets/{name}/twin", by="ada")
            assert problem(answer, status=413, kind="TooLarge")["field"] == "twin"
            assert drawn == []


def test_counts_that_are_not_approved_look_to_a_data_user_like_none(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
):
    with gateway.database.transaction() as connection:
        dataset = given_dataset(connection, policy=policy_fields(review_twin=True))
        given_counts(connection, dataset, job_id="counts-there")
        given_counts(
            connection, dataset, job_id="counts-made", state=JobState.QUEUED, epsilon="2", again=True
        )
    read, counts_of = [], twins._counts
    # what is read takes time, which would tell as well
    monkeypatch.setattr(twins, "_counts", lambda *found: read.append(found[1].job_id) or counts_of(*found))
    asked = [
        gateway.ask("GET", f"/datasets/heights/twin?counts={counts}", by="ada").text
        for counts in ("counts-there", "counts-made", "counts-none")
    ]
    assert "no such counts that you may use" in asked[0]
    assert set(asked) == {asked[0]}
    assert read == []
    assert gateway.ask("GET", "/datasets/heights/twin?counts=counts-there", by="holder").status_code == 200
    assert read == ["counts-there"]


def test_counts_are_asked_for_by_the_id_that_their_rights_holder_chose(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_dataset(connection)
    order = {"tables": [{"path": "participants.tsv"}], "epsilon": "1"}
    place = "/datasets/heights/twin/counts/chosen-0001"
    made = gateway.ask("PUT", place, by="holder", json=order)
    assert made.status_code == 201, made.text
    assert (
        gateway.ask("PUT", place, by="holder", json=order).json()["id"] == made.json()["id"] != "chosen-0001"
    )
    assert gateway.ask("POST", f"{place}/cancel", by="holder").json()["state"] == "CANCELLED"
