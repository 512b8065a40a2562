"""What a manifest may ask of people's rows, what a table then says, and what a job may be."""

from __future__ import annotations

import math
from typing import Any

import pytest
from factories import job_request_fields, make_manifest, manifest_fields, mechanism_fields

from domain.errors import InvalidRequest
from domain.job import JobRequest
from domain.model import parse
from domain.output_value import PersonValue
from domain.outputs import values_of
from domain.rehearsal import RehearsalRequest
from domain.shape import Shape, lock
from domain.shape.table import stacked

ROWS = b"id\tsnr\tcnr\na\t10\t1\nb\t30\t9\nc\t20\tn/a\n"
BOUNDS = {"lower": 0, "upper": 40}
BESIDE = {"column": "cnr", "lower": 0, "upper": 8}
ALL: list[dict[str, Any]] = [
    {"column": "snr", "name": "m", "aggregate": "mean", **BOUNDS},
    {"column": "snr", "name": "s", "above": 15},
    {"column": "snr", "name": "n", "above": 15, "aggregate": "count"},
    {"column": "snr", "name": "t", "aggregate": "sum", **BOUNDS},
    {"column": "snr", "name": "q", "quantile": 0.5, **BOUNDS},
    {"column": "snr", "name": "c", "aggregate": "covariance", "beside": BESIDE, **BOUNDS},
    {"column": "snr", "name": "r", "aggregate": "correlation", "beside": BESIDE, **BOUNDS},
    {
        "column": "snr", "name": "w", "aggregate": "correlation", "centre": 18, "spread": 8, **BOUNDS,
        "beside": {**BESIDE, "centre": 5, "spread": 4},
    },
]  # fmt: skip


def fields(columns: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return manifest_fields(**{"outputs": [{"file": "g.tsv", "columns": columns}], **more})


def shape_of(columns: list[dict[str, Any]]) -> Shape:
    return Shape(files=(lock(make_manifest(**fields(columns)).outputs[0], ROWS, {}),))


def test_each_column_gives_what_its_aggregate_needs() -> None:
    manifest, shape = make_manifest(**fields(ALL)), shape_of(ALL)
    shape.check_fits(manifest)
    values = values_of(manifest, shape)
    assert [value.name for value in values] == [
        "m", "s", "n.share", "t.mean", "q", "c.x", "c.y", "c.xy", "r.x", "r.y", "r.xy", "r.xx", "r.yy",
        "w.plus", "w.minus",
    ]  # fmt: skip
    # of the two people who have both: (10, 1), and (30, 9) of which 9 is clipped to 8 in products
    products = [-10 * -3, 10 * 4]
    squares = [100, 100], [9, 16]
    moments = [20, 5, sum(products) / 2, *(sum(each) / 2 for each in squares)]
    # from 18 and 5 in units of 8 and 4: (-1, -1) and (1.5, 0.75), for 9 is clipped here too
    squares = [(2**2 + 2.25**2) / 2, (0 + 0.75**2) / 2]
    found = shape.read({"g.tsv": ROWS})
    assert found == pytest.approx([20, 2 / 3, 2 / 3, 20, 20, *moments[:3], *moments, *squares])
    assert shape.files[0].addresses[-1] == "column:snr (mean square of difference with cnr for w)"
    absent = [value.absent if isinstance(value, PersonValue) else None for value in values]
    assert absent == [None, None, 0, 0, None, 20, 4, 0, 20, 4, 0, 0, 0, 0, 0]
    assert [(value.lower, value.upper) for value in values[-5:]] == [
        (-80, 80), (0, 400), (0, 16), (0, 16), (0, 16),
    ]  # fmt: skip
    assert [(result.name, result.kind) for result in manifest.results] == [
        ("n", "total"), ("t", "total"), ("c", "covariance"), ("r", "correlation"),
        ("w", "correlation of squares"),
    ]  # fmt: skip
    assert manifest.results[-1].centres(values[-2:]) == (18, 5)


def test_whoever_lacks_one_of_two_numbers_is_missing_in_all_parts() -> None:
    found = shape_of(ALL).read({"g.tsv": b"id\tsnr\tcnr\nc\t20\tn/a\n"})
    assert found == [20, 1, 1, 20, 20, *[None] * 10]


REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"aggregate": "mean"}, "give lower and upper for a mean"),
    ({"aggregate": "quantile", "quantile": 0.5}, "give lower and upper for a quantile"),
    ({"aggregate": "covariance", "beside": BESIDE}, "give lower and upper for a covariance"),
    ({"aggregate": "count"}, "a count is of people above a number; add above"),
    ({"aggregate": "count", "above": 1, **BOUNDS}, "leave lower and upper out"),
    ({"aggregate": "sum", "above": 1, **BOUNDS}, "above belongs to a share or a count"),
    ({"aggregate": "quantile", **BOUNDS}, "say which quantile, such as quantile: 0.25"),
    ({"quantile": 0, **BOUNDS}, "a quantile lies between 0 and 1"),
    ({"quantile": 1, **BOUNDS}, "take 0.05 or 0.95"),
    ({"quantile": 0.12345, **BOUNDS}, "at most three decimals"),
    ({"aggregate": "mean", "quantile": 0.5, **BOUNDS}, "quantile belongs to aggregate quantile"),
    ({"aggregate": "covariance", **BOUNDS}, "name the other column of the covariance and its bounds"),
    (
        {"aggregate": "correlation", "beside": {**BESIDE, "column": "snr"}, **BOUNDS},
        "a correlation of snr with itself says nothing",
    ),
    ({**ALL[7], "spread": None}, "wants centre and spread of both columns"),
    ({**ALL[7], "beside": BESIDE}, "wants centre and spread of both columns"),
    ({**ALL[7], "centre": 41}, "the centre of snr lies within its bounds"),
    ({**ALL[7], "spread": 0.039}, "at least a 1,000th of that"),
    ({**ALL[7], "spread": -8}, "at least a 1,000th of that"),
    ({**ALL[7], "beside": {**BESIDE, "centre": 5, "spread": 9}}, "the centre of cnr lies within its bounds"),
    ({**ALL[7], "aggregate": "covariance"}, "centre and spread belong to a correlation"),
    ({"aggregate": "sum", "centre": 3, **BOUNDS}, "centre and spread belong to a correlation"),
    ({"beside": BESIDE, **BOUNDS}, "beside belongs to a covariance or a correlation"),
    ({"aggregate": "covariance", "beside": {"column": "cnr"}, **BOUNDS}, "lower"),
    (
        {"aggregate": "covariance", "beside": {**BESIDE, "upper": -1}, **BOUNDS},
        "lower must be less than upper",
    ),
    ({"name": "a" * 60, "aggregate": "sum", **BOUNDS}, "have at most 56 letters"),
)


def test_what_cannot_be_is_refused_in_words(subtests: pytest.Subtests) -> None:
    for asked, words in REFUSED:
        with subtests.test(words), pytest.raises(InvalidRequest, match=words):
            make_manifest(**fields([{"column": "snr", "name": "a", **asked}]))
    twice = [ALL[2], {**ALL[0], "name": "n"}]
    with pytest.raises(InvalidRequest, match="two outputs have the same name"):
        make_manifest(**fields(twice))


def job(columns: list[dict[str, Any]], levels: list[str], **mechanism: Any) -> JobRequest:
    asked = job_request_fields(mechanism=mechanism, shape=shape_of(columns).model_dump(mode="json"))
    asked["pipeline"] = {**asked["pipeline"], "manifest": fields(columns, levels=levels)}
    return parse(JobRequest, asked)


def test_a_job_looks_at_people_one_by_one_where_their_numbers_are_wanted() -> None:
    job(ALL, ["participant"], **mechanism_fields(block_size=1))
    job(ALL, ["group"], **mechanism_fields(block_size=1))
    job(ALL[:2], ["group"], **mechanism_fields(block_size=10))
    with pytest.raises(InvalidRequest, match="is run on one person at a time; choose block_size 1"):
        job(ALL[:2], ["participant"], **mechanism_fields(block_size=10))
    with pytest.raises(InvalidRequest, match="n: a count is over single people; choose block_size 1"):
        job(ALL, ["group"], **mechanism_fields(block_size=10))
    with pytest.raises(InvalidRequest, match="choose the mechanism sample_aggregate with block_size 1"):
        job(ALL[:2], ["participant"], name="pac", nats="0.1")
    asked = job(ALL, ["group"], **mechanism_fields(block_size=1, noise="auto", delta="0.0001"))
    with pytest.raises(ValueError, match="a quantile is drawn by ranks and has no use for a delta"):
        asked.mechanism.build(asked.values, nominal_size=60)


def test_a_rehearsal_too() -> None:
    asked = {"dataset": "heights", "pipeline": {"manifest": fields(ALL, levels=["participant"])}}
    assert parse(RehearsalRequest, {**asked, "block_size": 1}).pipeline.manifest.is_person_by_person
    with pytest.raises(InvalidRequest, match="choose block_size 1"):
        parse(RehearsalRequest, asked)
    with pytest.raises(InvalidRequest, match="leave mechanism out"):
        parse(RehearsalRequest, {**asked, "block_size": 1, "mechanism": "pac"})


def test_tables_of_two_people_are_stacked_where_they_are_tables() -> None:
    one, other = b"id\tsnr\na\t1\n", b"id\tsnr\nb\t2\n"
    assert stacked("g.tsv", [one, other]) == b"id\tsnr\na\t1\nb\t2\n"
    assert stacked("g.tsv", [one, b"x\ty\nb\t2\n"]) == one
    assert stacked("g.tsv", [one, b"\xff"]) == one
    assert stacked("g.json", [b"{}", b"[]"]) == b"{}"


def test_no_extreme_bounds_overflow() -> None:
    wide = {"lower": -1e200, "upper": 1e200}
    with pytest.raises(InvalidRequest, match="finite"):
        make_manifest(**fields([{**ALL[6], "beside": {**BESIDE, **wide}, **wide}]))
    assert math.isfinite(shape_of(ALL).read({"g.tsv": ROWS})[0] or 0)
