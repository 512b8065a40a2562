"""A program that writes a row for each person, as quality-control apps do: columns' means are released."""

from __future__ import annotations

import pytest
from factories import manifest_fields
from heights import LOWER, PEOPLE, UPPER, request_fields
from zones import Bench, check_books, given_heights, submit

from domain.states import JobState

# blocks of three people by lot, 3 cm apart; two values at epsilon 1000
NEAR = 12.0
EACH_PERSON = """\
lines = open("/in/participants.tsv").read().splitlines()
rows = [line.split("\\t") for line in lines[1:]]
table = "".join(f"{row[0]}\\t{row[1]}\\tSECRET\\n" for row in rows)
open("/out/group.tsv", "w").write("bids_name\\theight\\tnote\\n" + table)
"""
COLUMNS = [
    {"column": "height", "name": "mean_height", "lower": LOWER, "upper": UPPER},
    {"column": "height", "name": "tall", "above": 150},
]


def test_columns_of_people_become_means_and_nothing_else_leaves(bench: Bench) -> None:
    given_heights(bench)
    pipeline = request_fields(EACH_PERSON)["pipeline"]
    outputs = [{"file": "group.tsv", "columns": COLUMNS}]
    pipeline["manifest"] = manifest_fields(**{**pipeline["manifest"], "outputs": outputs})
    summaries = [{"column": "height"}, {"column": "height", "above": 150}]
    shape = {"format": "table", "file": "group.tsv", "columns": summaries}
    job_id = submit(bench, pipeline=pipeline, shape={"files": [shape]})
    bench.drive()
    assert bench.job(job_id).state == JobState.RELEASED
    release = bench.release(job_id)
    assert [value.name for value in release.values] == ["mean_height", "tall"]
    mean, tall = (float(value.value) for value in release.values)
    assert mean == pytest.approx(sum(PEOPLE.values()) / len(PEOPLE), abs=NEAR)
    # an empty block counts as half
    assert 0.4 < tall < 1.1
    lines = release.files["group.tsv"].splitlines()
    assert lines[0] == "column\tsummary\tvalue"
    assert [line.split("\t")[:2] for line in lines[1:]] == [["height", "mean"], ["height", "share_above_150"]]
    assert "SECRET" not in release.model_dump_json()
    check_books(bench)
