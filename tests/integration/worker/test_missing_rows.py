"""A job whose table lacks rows in some blocks and has a year in it: value by value, the year as it was."""

from __future__ import annotations

import pytest
from factories import manifest_fields
from heights import LOWER, PEOPLE, UPPER, request_fields
from zones import Bench, check_books, given_heights, submit

from domain.states import JobState

MIDDLE = (LOWER + UPPER) / 2
# 4 blocks, three values, epsilon 1000: the noise has a scale of 120 * 3 / 4 / 1000 = 0.09
NEAR = 2.0
TALLEST = "sub-12"
# the tallest person is in one block of each partition; nobody is below 100
BY_GROUP = """\
rows = [line.split("\\t") for line in open("/in/participants.tsv").read().splitlines()[1:]]
heights = [float(row[1]) for row in rows]
groups = {"tallest": [h for h in heights if h > 183], "all": heights, "low": [h for h in heights if h < 100]}
lines = [f"%s\\t{group}\\t{sum(found) / len(found)}" for group, found in groups.items() if found]
open("/out/result.tsv", "w").write("\\n".join(["year\\tgroup\\tmean", *lines]) + "\\n")
"""
ROWS = [["year", "group", "mean"], *([None, group, None] for group in ("all", "low", "tallest"))]


def given_job(bench: Bench, year: str) -> str:
    fields = request_fields(BY_GROUP % year)
    outputs = [
        {
            "file": "result.tsv",
            "constants": ["column:year"],
            "bounds": [{"select": "*", "name": "mean", "lower": LOWER, "upper": UPPER}],
        }
    ]
    manifest = fields["pipeline"]["manifest"]
    fields["pipeline"]["manifest"] = manifest_fields(**{**manifest, "outputs": outputs})
    shape = {"file": "result.tsv", "rows": ROWS, "constants": ["2020", None] * 3}
    return submit(bench, pipeline=fields["pipeline"], shape={"files": [shape]})


def test_a_row_that_a_block_lacks_takes_its_default_and_a_constant_stays(bench: Bench) -> None:
    given_heights(bench)
    job_id = given_job(bench, "2020")
    bench.drive()
    assert bench.job(job_id).state == JobState.RELEASED
    release = bench.release(job_id)
    mean = sum(PEOPLE.values()) / len(PEOPLE)
    of_all, of_none, of_one = (float(value.value) for value in release.values)
    assert of_all == pytest.approx(mean, abs=12)  # blocks of three by lot, of people 3 cm apart
    assert of_none == pytest.approx(MIDDLE, abs=NEAR)
    assert of_one == pytest.approx((3 * MIDDLE + PEOPLE[TALLEST]) / 4, abs=NEAR)
    lines = [line.split("\t")[:2] for line in release.files["result.tsv"].splitlines()]
    assert lines == [["year", "group"], ["2020", "all"], ["2020", "low"], ["2020", "tallest"]]
    check_books(bench)


def test_another_constant_gives_defaults_and_tells_nothing(bench: Bench) -> None:
    given_heights(bench)
    job_id = given_job(bench, "2021")
    bench.drive()
    job = bench.job(job_id)
    assert (job.state, job.reason) == (JobState.RELEASED, None)
    assert all(value.value == pytest.approx(MIDDLE, abs=NEAR) for value in bench.release(job_id).values)
    assert "2021" not in bench.release(job_id).files["result.tsv"]
