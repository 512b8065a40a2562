"""The twin as a download: from the declaration alone, equal bytes each time, never too much work."""

from __future__ import annotations

import io
import time
import zipfile

import pytest
from asking import Gateway, problem
from factories import given_dataset, table_fields

from domain.twin import LABEL, README, make_twin

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


@pytest.mark.parametrize(
    "fields",
    [
        {"nominal_size": 1_000_000_000},
        {"nominal_size": 2_000_000},
        {"nominal_size": 700_000, "tables": [table_fields(rows_per_person="many")]},
        {"nominal_size": 500, "tables": [table_fields(rows_per_person="many", typical_rows=5000)]},
        {"nominal_size": 600, **BIDS},
    ],
    ids=["a billion people", "two million people", "many rows each", "very many rows", "large files each"],
)
def test_one_that_would_take_the_gateway_down_is_refused_at_once(gateway: Gateway, fields: dict):
    with gateway.database.transaction() as connection:
        given_dataset(connection, **fields)
    gateway.ask("GET", "/datasets", by="ada")  # the first request of an app makes its schemas
    start = time.process_time()  # ours: others may be busy
    found = problem(gateway.ask("GET", "/datasets/heights/twin", by="ada"), status=413, kind="TooLarge")
    assert time.process_time() - start < 2
    assert found["field"] == "twin"
