"""A pipeline that runs person by person: what dpgate makes of everybody's row, on the whole route."""

from __future__ import annotations

from statistics import correlation, fmean
from typing import Any

import pytest
from heights import request_fields
from levels import noting
from zones import Bench, check_books, given_heights, submit

from domain.model import parse
from domain.pipeline import Manifest
from domain.release import Release, opened
from domain.shape import Shape, lock
from dpgate.verification import check_release, recompute
from worker.certificate import public_key_pem

MANY = {f"sub-{number:02d}": 140 + 3 * number for number in range(1, 25)}
ROW = """\
import sys
assert sys.argv[3] == "participant", sys.argv
((person, height),) = [line.split("\\t") for line in open("/in/participants.tsv").read().splitlines()[1:]]
height = float(height)
with open("/out/group_T1w.tsv", "w") as file:
    file.write("bids_name\\tsnr\\tcnr\\n%s_T1w\\t%r\\t%r\\n" % (person, height, 1000 - 2 * height))
"""
BOUNDS = {"lower": 100, "upper": 300}
COLUMNS: list[dict[str, Any]] = [
    {"column": "snr", "name": "mean_snr", **BOUNDS},
    {"column": "snr", "name": "tall", "above": 170, "aggregate": "count"},
    {"column": "snr", "name": "all_snr", "aggregate": "sum", **BOUNDS},
    {"column": "snr", "name": "low_quarter", "quantile": 0.25, **BOUNDS},
    {
        "column": "snr", "name": "with_cnr", "aggregate": "correlation", **BOUNDS,
        "beside": {"column": "cnr", "lower": 400, "upper": 800},
    },
    {
        "column": "snr", "name": "of_squares", "aggregate": "correlation", "centre": 177.5, "spread": 20.8,
        **BOUNDS,
        "beside": {"column": "cnr", "lower": 400, "upper": 800, "centre": 645, "spread": 41.6},
    },
]  # fmt: skip


@pytest.fixture
def bench(sqlite_bench: Bench) -> Bench:
    return sqlite_bench


def fields(source: str = ROW, columns: list[dict[str, Any]] = COLUMNS, **chosen: Any) -> dict[str, Any]:
    """A request for it, its shape locked on one person's row."""
    outputs = [{"file": "group_T1w.tsv", "columns": columns}]
    body = request_fields(source)
    body["pipeline"]["manifest"] |= {
        "levels": ["participant"], "outputs": outputs, "command": ["python3", "/pipeline/main.py"]
    }  # fmt: skip
    manifest = parse(Manifest, body["pipeline"]["manifest"])
    row = b"bids_name\tsnr\tcnr\nsub-x_T1w\t150\t700\n"
    shape = Shape(files=(lock(manifest.outputs[0], row, {}),))
    mechanism = {"name": "sample_aggregate", "epsilon": "900", "block_size": 1, **chosen}
    return {
        "pipeline": body["pipeline"], "shape": shape.model_dump(mode="json"), "mechanism": mechanism
    }  # fmt: skip


def released(bench: Bench, **request: Any) -> Release:
    """The release of one job, which verifies and can be derived again."""
    job_id = submit(bench, **(request or fields()))
    bench.drive()
    check_books(bench)
    release = bench.release(job_id)
    assert check_release(release.model_dump(mode="json"), public_key_pem(bench.zone.keys.signing))
    found = recompute(opened(release.certificate))
    assert not found.differs
    return release


def test_every_person_is_a_run_and_results_follow_from_their_rows(bench: Bench) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench, MANY, nominal_size=24)
    release = released(bench)
    runs = sandbox.take("participant")
    assert sorted(person for run in runs for person in run.people) == sorted(MANY)
    assert all(len(run.people) == 1 for run in runs)
    values = {value.name: value.value for value in release.values}
    heights = list(MANY.values())
    assert values["mean_snr"] == pytest.approx(fmean(heights), abs=3)
    assert values["low_quarter"] == pytest.approx(sorted(heights)[6], abs=4)
    results = {result.name: result for result in release.results}
    tall = sum(height > 170 for height in heights)
    assert results["tall"].value == pytest.approx(tall, abs=1)
    assert results["all_snr"].value == pytest.approx(sum(heights), abs=24 * 3)
    ends = (results["with_cnr"].lower_95, results["with_cnr"].upper_95)
    # an interval of 95 % may miss -1; beyond what 8 standard deviations of noise make of it, once in 10^12
    assert ends[0] <= correlation(heights, [-height for height in heights]) + 0.05 <= ends[1] + 0.1
    of_squares = results["of_squares"]
    assert (of_squares.kind, of_squares.centres) == ("correlation of squares", ("355/2", "645"))
    assert of_squares.lower_95 == pytest.approx(-1, abs=0.05)
    assert of_squares.upper_95 < -0.8
    wanted = opened(release.certificate)["predicate"]["mechanism"]["results"][-1]["standards"]
    assert [(standard["centre"], standard["spread"]) for standard in wanted] == [
        ("177.5", "20.8"), ("645.0", "41.6"),
    ]  # fmt: skip
    assert release.guarantee == "pure_dp"
