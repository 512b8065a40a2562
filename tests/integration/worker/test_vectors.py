"""A spectrum of 400 values as one release: locked on a twin, run, noised, verified, written as it was."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from heights import LOWER, UPPER
from zones import Bench, check_books, given_heights, submit

from domain.model import parse
from domain.pipeline import OutputFile, Source
from domain.release import Release, opened
from domain.shape import Shape, lock
from domain.states import JobState
from dpgate.verification import check_release, recompute
from worker.certificate import public_key_pem

PEOPLE = {f"sub-{number:02d}": 140 + number for number in range(24)}
VALUES = 400
# the power at each frequency of a signal that every person's height sets, so that the truth is known
SPECTRUM = """\
rows = [line.split("\\t") for line in open("/in/participants.tsv").read().splitlines()[1:]]
mean = sum(float(row[-1]) for row in rows) / len(rows)
with open("/out/spectrum.csv", "w") as out:
    out.write("hz,power\\n")
    for place in range(1, 401):
        out.write("%r,%r\\n" % (place / 4, mean * 100 / (100 + place)))
"""
OUTPUT = {
    "file": "spectrum.csv",
    "bounds": [{"select": "column:power", "name": "power", "lower": 0, "upper": UPPER}],
    "constants": ["column:hz"],
}


# the same file as a smooth curve: 9 numbers in place of 400
CURVE = {
    "file": "spectrum.csv",
    "curve": {
        "name": "power", "axis": "hz", "value": "power", "knots": [0, 10, 20, 40, 60, 80, 100],
        "lower": 0, "upper": UPPER,
    },
}  # fmt: skip


def on_twin(output: dict[str, Any]) -> Shape:
    rows = "".join(f"{place / 4!r},{LOWER * 100 / (100 + place)!r}\n" for place in range(1, VALUES + 1))
    return Shape(files=(lock(parse(OutputFile, output), f"hz,power\n{rows}".encode(), {}),))


def released(bench: Bench, output: dict[str, Any] = OUTPUT, **chosen: Any) -> Release:
    manifest = {
        "name": "spectrum",
        "image": "python",
        "command": ["python3", "-I", "-S", "/pipeline/main.py"],
        "outputs": [output],
        "resources": {"wall_seconds": 30, "memory_mib": 128, "scratch_mib": 8, "processes": 16},
    }
    mechanism = {"name": "sample_aggregate", "epsilon": "900", "block_size": 3, **chosen}
    shape = on_twin(output).model_dump(mode="json")
    pipeline = {"manifest": manifest, "sources": [Source.of("main.py", SPECTRUM.encode()).model_dump()]}
    job_id = submit(bench, pipeline=pipeline, shape=shape, mechanism=mechanism)
    bench.drive()
    check_books(bench)
    assert bench.job(job_id).state is JobState.RELEASED
    release = bench.release(job_id)
    statement = check_release(release.model_dump(mode="json"), public_key_pem(bench.zone.keys.signing))
    assert statement is not None
    assert recompute(opened(release.certificate)).differs == []
    return release


def written(release: Release) -> list[list[str]]:
    return list(csv.reader(io.StringIO(release.files["spectrum.csv"])))


def test_four_hundred_values_come_back_in_the_form_of_their_file(sqlite_bench: Bench) -> None:
    given_heights(sqlite_bench, PEOPLE, nominal_size=24)
    release = released(sqlite_bench)
    assert (len(release.values), release.guarantee) == (VALUES, "pure_dp")
    head, *rows = written(release)
    assert head == ["hz", "power"]
    assert [row[0] for row in rows] == [repr(place / 4) for place in range(1, VALUES + 1)]
    inside = 0
    for place, (row, value) in enumerate(zip(rows, release.values, strict=True), start=1):
        # in the file a value is projected to its bounds, as on pages
        assert float(row[1]) == pytest.approx(min(max(value.value, 0), UPPER), rel=1e-3, abs=1e-3)
        truth = sum(PEOPLE.values()) / len(PEOPLE) * 100 / (100 + place)
        assert value.lower_95 is not None
        assert value.upper_95 is not None
        inside += value.lower_95 <= truth <= value.upper_95
    # all values share a radius, which varies by a twentieth here: 95 in 100 are inside, give or take
    assert inside >= 0.8 * VALUES


def test_a_clipped_vector_costs_a_delta_and_says_its_norm(sqlite_bench: Bench) -> None:
    """Blocks of all people alike lie at half of each range: that is within the norm, so nothing is biased."""
    policy = {"guarantees": ["pure_dp", "approx_dp"]}
    given_heights(sqlite_bench, PEOPLE, nominal_size=24, policy=policy, budget_delta="0.01")
    release = released(sqlite_bench, noise="gaussian", delta="0.004", clip_norm=18)
    assert (len(release.values), release.guarantee) == (VALUES, "approx_dp")
    assert release.cost == {"delta": "0.004", "epsilon": "900"}
    parameters = opened(release.certificate)["predicate"]["mechanism"]["parameters"]
    assert (parameters["noise"], parameters["clip_norm"]) == ("discrete gaussian", "18")
    assert len(written(release)) == VALUES + 1


def test_a_curve_is_released_as_coefficients_and_written_as_itself(sqlite_bench: Bench) -> None:
    given_heights(sqlite_bench, PEOPLE, nominal_size=24)
    release = released(sqlite_bench, CURVE)
    assert [value.name for value in release.values] == [f"power-{place}" for place in range(1, 10)]
    head, *rows = written(release)
    assert head == ["hz", "power"]
    mean = sum(PEOPLE.values()) / len(PEOPLE)
    for place, (hz, power) in enumerate(rows, start=1):
        assert float(hz) == place / 4
        # the curve lies on the splines to half a centimetre, and noise of 9 values adds little
        assert float(power) == pytest.approx(mean * 100 / (100 + place), abs=2)
