"""Noise, costs and intervals of a certificate follow from its own parameters, by a file without our code."""

from __future__ import annotations

import ast
import base64
import itertools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from factories import (
    NOW,
    job_request_fields,
    make_dataset,
    make_declaration,
    manifest_fields,
    mechanism_fields,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from mutants import mutant

from domain.job import Job, JobRequest
from domain.model import parse
from domain.pipeline import Manifest
from domain.policy import ALL_MECHANISMS
from domain.query import QueryRequest
from domain.query.kinds import AnyQuery
from domain.release import PREDICATE_TYPE, Release, opened
from domain.states import JobState
from dpgate import verification
from dpgate.verification import check_release, read_release, recompute
from privacy import clipped_mean, joint_noise, mean_noise, noise
from privacy.accounting import in_rho
from privacy.cost import Cost
from privacy.sample_checks import MAX_JOINT_OUTPUTS
from store.ledger import Standing
from worker import certificate, drawing
from worker.certificate import certify, public_key_pem
from worker.collect import pack
from worker.runs_premise import RunsOnRecord
from worker.scan.answer import draw_query
from worker.scan.chunk import pack_sums

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
BUDGETS = {"budget_delta": "0.01"}


def job_of(request: JobRequest | QueryRequest) -> Job:
    fields = dict.fromkeys(("project", "slots", "answered_by", "reason", "charged_at", "due_at"))
    return Job(
        id="job-000001", dataset_id="d-1", author="ada", owner="holder", request=request,
        image_digest="sha256:" + "1a" * 32, question="sha256:" + "2b" * 32, state=JobState.AGGREGATING,
        attempts=0, created_at=NOW, **fields,
    )  # fmt: skip


def pipeline_request(outputs: int = 2, **chosen: Any) -> JobRequest:
    values = [{"name": f"v{k}", "lower": -k, "upper": 10**k + 0.3} for k in range(outputs)]
    rows = [[value["name"] for value in values], [None] * outputs]
    manifest = manifest_fields(outputs=[{"file": "result.tsv", "values": values}])
    fields = job_request_fields(
        mechanism=mechanism_fields(**chosen), shape={"files": [{"file": "result.tsv", "rows": rows}]}
    )
    fields["pipeline"] = {**fields["pipeline"], "manifest": manifest}
    return parse(JobRequest, fields)


def standings(cost: Cost) -> tuple[Standing, ...]:
    return tuple(Standing(currency, cap=10**18, before=0, after=amount) for currency, amount in cost)


def of_pipeline(request: JobRequest, *, is_rho: bool = False, by: ModuleType = certificate) -> Release:
    """With every third run failed, signed by this module."""
    dataset = make_dataset(declaration=make_declaration(**BUDGETS))
    mechanism = request.mechanism_for(dataset.declaration)
    width = len(mechanism.grids)
    runs = range(mechanism.plan.runs)
    outputs = {run: pack((9_000 * run % 2**20,) * width if run % 3 else None, width=width) for run in runs}
    # neither zone nor database is needed where no state is kept
    drawn = drawing.draw_pipeline(None, None, job_of(request), dataset, outputs)  # type: ignore[arg-type]
    cost = in_rho(mechanism.cost, pico_rho=mechanism.pico_rho) if is_rho else mechanism.cost
    return by.certify(
        drawn, job=job_of(request), dataset=dataset, standings=standings(cost),
        on_record=RunsOnRecord([], NOW), key=KEY, now=NOW,
    )  # fmt: skip


def of_query(query: dict[str, Any], epsilon: str = "0.5") -> Release:
    request = parse(QueryRequest, {"dataset": "heights", "query": query, "epsilon": epsilon})
    dataset = make_dataset()
    width = request.mechanism_for(dataset.declaration).width
    drawn = draw_query(request, dataset.declaration, pack_sums([30] * width))
    return certify(
        drawn, job=job_of(request), dataset=dataset, standings=standings(request.cost(dataset.declaration)),
        on_record=RunsOnRecord([], NOW), key=KEY, now=NOW,
    )  # fmt: skip


def found_in(release: Release) -> verification.Recomputed:
    return recompute(opened(release.certificate))


CHOICES: list[dict[str, Any]] = [
    {},
    {"noise": "laplace"},
    {"noise": "joint", "count_failures": True, "interval": "sampling", "epsilon": "0.002", "repeats": 3},
    {"noise": "joint", "aggregator": "auto", "spread_ratio": 2, "epsilon": "20"},
    {"noise": "auto", "delta": "0.001"},
    {"aggregator": "median", "interval": "sampling"},
    {"count_failures": True, "interval": "sampling", "repeats": 3},
    {"weights": {"v0": 3}, "block_size": 3, "epsilon": "0.001"},
    {"aggregator": "auto", "spread_ratio": 40, "epsilon": "1000"},
    {"noise": "gaussian", "delta": "0.001", "weights": {"v1": 7}, "count_failures": True},
    {"noise": "gaussian", "delta": "0.000001", "interval": "sampling", "repeats": 2},
    {"noise": "gaussian", "delta": "0.000001", "clip_norm": 0.7, "repeats": 2, "count_failures": True},
    {"noise": "auto", "delta": "0.001", "clip_norm": 0.05},
    {"noise": "auto", "delta": "0.001", "clip_norm": 1},
]


@pytest.mark.parametrize("is_rho", [False, True], ids=["plain sum", "rho"])
def test_a_release_of_a_pipeline_agrees_with_its_own_parameters(
    is_rho: bool, subtests: pytest.Subtests
) -> None:
    for chosen in CHOICES:
        with subtests.test(**chosen):
            release = of_pipeline(pipeline_request(**chosen), is_rho=is_rho)
            found = found_in(release)
            assert found.differs == []
            assert check_release(release.model_dump(mode="json"), public_key_pem(KEY))
            assert {"cost", "shares of epsilon", "number of blocks", "number of slots"} <= set(found.agrees)
            if chosen.get("aggregator", "clipped_mean") == "clipped_mean":
                assert {"v1: noise scale", "v1: interval of the noise"} <= set(found.agrees)
            if chosen.get("count_failures"):
                assert "failed_runs: noise scale" in found.agrees


@settings(max_examples=25)
@given(
    epsilon=st.integers(1_000, 10**9),
    outputs=st.integers(1, 6),
    repeats=st.integers(1, 9),
    size=st.integers(3, 30),
)
def test_whatever_was_chosen_it_agrees(epsilon: int, outputs: int, repeats: int, size: int) -> None:
    chosen = {"epsilon": f"{epsilon / 10**6:.6f}", "repeats": repeats, "block_size": size}
    assert found_in(of_pipeline(pipeline_request(outputs, **chosen))).differs == []


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "count"},
        {"kind": "count", "by": ["sex"]},
        {"kind": "histogram", "column": "age", "bins": 4},
        {"kind": "histogram", "column": "age", "edges": [30, 50]},
        {"kind": "sum", "column": "age"},
        {"kind": "mean", "column": "height", "by": ["sex"]},
        {"kind": "variance", "column": "age"},
    ],
    ids=lambda query: "-".join(map(str, query.values())),
)
def test_what_is_a_sum_or_count_of_a_query_agrees(query: dict[str, Any]) -> None:
    found = found_in(of_query(query))
    assert found.differs == []
    assert any(sentence.endswith("interval of the noise") for sentence in found.agrees)


BOUNDS = {"lower": 0, "upper": 60}
BESIDE = {"column": "cnr", "lower": -1, "upper": 9}
PEOPLE_COLUMNS = [
    {"column": "snr", "name": "mean_snr", **BOUNDS},
    {"column": "snr", "name": "low", "above": 10, "aggregate": "count"},
    {"column": "snr", "name": "all", "aggregate": "sum", **BOUNDS},
    {"column": "snr", "name": "q", "quantile": 0.125, **BOUNDS},
    {"column": "snr", "name": "c", "aggregate": "covariance", "beside": BESIDE, **BOUNDS},
    {"column": "snr", "name": "r", "aggregate": "correlation", "beside": BESIDE, **BOUNDS},
    {
        "column": "snr", "name": "w", "aggregate": "correlation", "centre": 20.3, "spread": 10, **BOUNDS,
        "beside": {**BESIDE, "centre": 4, "spread": 2.5},
    },
]  # fmt: skip


def people_request(**chosen: Any) -> JobRequest:
    """A pipeline that is run person by person."""
    outputs = [{"file": "group_T1w.tsv", "columns": PEOPLE_COLUMNS}]
    manifest = manifest_fields(levels=["participant"], outputs=outputs)
    columns = [
        summary.model_dump(mode="json")
        for column in parse(Manifest, manifest).outputs[0].columns
        for summary in column.summaries
    ]
    shape = {"files": [{"format": "table", "file": "group_T1w.tsv", "columns": columns}]}
    fields = job_request_fields(mechanism=mechanism_fields(**{"block_size": 1, **chosen}), shape=shape)
    fields["pipeline"] = {**fields["pipeline"], "manifest": manifest}
    return parse(JobRequest, fields)


def test_results_over_people_are_derived_again(subtests: pytest.Subtests) -> None:
    for chosen in ({}, {"noise": "laplace"}, {"aggregator": "median"}, {"epsilon": "900"}):
        with subtests.test(**chosen):
            release = of_pipeline(people_request(**chosen))
            found = found_in(release)
            assert found.differs == []
            assert check_release(release.model_dump(mode="json"), public_key_pem(KEY))
            derived = {f"{name}: {kind} of its parts, and its interval" for name, kind in RESULTS.items()}
            assert derived <= set(found.agrees)
            assert {result.name: result.kind for result in release.results} == RESULTS


TWO_STEPS: list[dict[str, Any]] = [
    {"noise": "laplace", "spread_ratio": 900},
    {"spread_ratios": {"v0": 900, "v1": 350.5}, "count_failures": True},
    {"spread_ratio": 900.5, "count_failures": True, "block_size": 1, "weights": {}},
    {"noise": "laplace", "spread_ratio": 400, "epsilon": "60.000001", "weights": {"v1": 3}, "block_size": 2},
]


@pytest.mark.parametrize("is_rho", [False, True], ids=["plain sum", "rho"])
def test_a_mean_in_two_steps_is_derived_again(is_rho: bool, subtests: pytest.Subtests) -> None:
    for chosen in TWO_STEPS:
        with subtests.test(**chosen):
            asked = {"epsilon": "8", "block_size": 1, **chosen, "aggregator": "two_step"}
            release = of_pipeline(pipeline_request(**asked), is_rho=is_rho)
            found = found_in(release)
            assert found.differs == []
            assert check_release(release.model_dump(mode="json"), public_key_pem(KEY))
            wanted = {"v0: width of its window", "v1: exact noise scale", "first_step_1: noise scale"}
            assert wanted <= set(found.agrees)
            for place, value in ((("windows",), [7, 7]), (("noise_scales",), ["1", "1"])):
                statement = opened(release.certificate)
                statement["predicate"]["mechanism"]["parameters"][place[0]] = value
                assert recompute(statement).differs


RESULTS = {
    "low": "total",
    "all": "total",
    "c": "covariance",
    "r": "correlation",
    "w": "correlation of squares",
}
OTHER_RESULTS: list[tuple[str, Any]] = [
    ("value", "0.5"), ("interval95", ["-0.5", "0.5"]), ("kind", "total"), ("centres", ["1", "2"]),
    ("parts", ["mean_snr", "r.y", "r.xy", "r.xx", "r.yy"]),
]  # fmt: skip


def test_a_result_that_does_not_follow_differs(subtests: pytest.Subtests) -> None:
    release = of_pipeline(people_request(epsilon="900"))
    for (field, value), place in itertools.product(OTHER_RESULTS, (-2, -1)):
        with subtests.test(field, place=place):
            statement = opened(release.certificate)
            statement["predicate"]["results"][place][field] = value
            assert recompute(statement).differs
    other = release.model_dump(mode="json")
    other["results"][-1]["value"] = 0.5
    assert check_release(other, public_key_pem(KEY)) is None


@pytest.mark.parametrize(
    ("field", "forgery"), [("value", "inf"), ("value", "-inf"), ("interval95", ["-inf", "inf"])]
)
def test_a_result_without_an_end_differs(field: str, forgery: object, subtests: pytest.Subtests) -> None:
    release = of_pipeline(people_request())
    for place, result in enumerate(release.results):
        with subtests.test(result.name):
            assert recompute(forged(release, {("results", place, field): forgery})).differs


def of_people_between(lower: float, upper: float, monkeypatch: pytest.MonkeyPatch) -> Release:
    bounds = {"lower": lower, "upper": upper}
    columns = [{**column, **bounds} if "lower" in column else column for column in PEOPLE_COLUMNS]
    columns = [
        {**column, "beside": {**BESIDE, **bounds}} if "beside" in column else column for column in columns
    ]
    standard = {"centre": (lower + upper) / 2, "spread": (upper - lower) / 4}
    columns[-1] |= {**standard, "beside": {**columns[-1]["beside"], **standard}}
    monkeypatch.setitem(globals(), "PEOPLE_COLUMNS", columns)
    return of_pipeline(people_request(epsilon="900"))


def test_a_covariance_of_small_numbers_is_told_from_another(monkeypatch: pytest.MonkeyPatch) -> None:
    release = of_people_between(0, 1e-6, monkeypatch)
    assert found_in(release).differs == []
    assert recompute(forged(release, {("results", 2, "value"): "7e-13"})).differs


@pytest.mark.parametrize("lower", [1e9, 1e12])
def test_results_far_from_zero_agree_as_far_as_floats_tell(
    lower: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = of_people_between(lower, lower * (1 + 1e-12), monkeypatch)
    found = found_in(release)
    assert found.differs == []
    assert "c: its digits, since bounds are too near for floats" in found.not_derived
    for place in range(5):
        assert recompute(forged(release, {("results", place, "value"): "1e+300"})).differs


def test_what_follows_from_blocks_of_two_people_differs() -> None:
    release = of_pipeline(people_request())
    twice = {
        ("mechanism", "chosen", "block_size"): 2,
        ("mechanism", "nominalSize"): lambda people: 2 * people,
        ("mechanism", "parameters", "people"): lambda people: 2 * people,
        ("results",): lambda all_of_them: all_of_them[2:],
        ("mechanism", "results"): lambda all_of_them: all_of_them[2:],
    }
    assert recompute(forged(release, twice)).differs == [
        f"{name}: a run is one person's: the certificate says 60, its own parameters give 120"
        for name in "crw"
    ]


@pytest.mark.parametrize("width", [0, -5, 2**21])
def test_a_window_that_there_cannot_be_differs_at_once(width: int) -> None:
    asked = {"epsilon": "8", "block_size": 1, "aggregator": "two_step", "spread_ratio": 900}
    release = of_pipeline(pipeline_request(**asked))
    assert recompute(forged(release, {("mechanism", "parameters", "windows"): [width] * 2})).differs


def test_every_parameter_of_step_one_is_derived(subtests: pytest.Subtests) -> None:
    asked = {"epsilon": "8", "block_size": 1, "aggregator": "two_step", "spread_ratio": 900}
    for kind in ("joint", "laplace"):
        release = of_pipeline(pipeline_request(**asked, noise=kind))
        assert found_in(release).differs == []
        for name in opened(release.certificate)["predicate"]["mechanism"]["parameters"]["first_step"]:
            with subtests.test(f"{kind}: {name}"):
                path = ("mechanism", "parameters", "first_step", name)
                assert recompute(forged(release, {path: "7"})).differs


@pytest.mark.parametrize("epsilon", ["0.1", "3", "8"])
def test_between_which_ranks_medians_lie_is_derived(epsilon: str) -> None:
    release = of_pipeline(pipeline_request(aggregator="median", epsilon=epsilon, block_size=1))
    assert found_in(release).differs == []
    signed = opened(release.certificate)["predicate"]["mechanism"]["ranks"]
    other = signed.replace("of the 60 answers", "of the 61 answers")
    assert recompute(forged(release, {("mechanism", "ranks"): other})).differs


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "8"])
@pytest.mark.parametrize("more", [{}, {"by": ["sex"]}, {"probabilities": ["0.1", "0.5", "0.75"]}])
def test_by_how_many_ranks_quantiles_of_rows_miss_is_derived(epsilon: str, more: dict[str, Any]) -> None:
    release = of_query(MEDIAN | more, epsilon)
    assert found_in(release).differs == []
    assert "by how many ranks quantiles miss" in found_in(release).agrees
    signed = opened(release.certificate)["predicate"]["mechanism"]["ranks"]
    for other in (re.sub(r"by [\d,]+ rows", "by 0 rows", signed), "It is exact."):
        assert recompute(forged(release, {("mechanism", "ranks"): other})).differs


def test_what_is_not_derived_is_said() -> None:
    assert found_in(of_query({"kind": "quantile", "column": "age", "probabilities": ["0.5"]})).not_derived
    (said,) = found_in(of_pipeline(pipeline_request(1, aggregator="median"))).not_derived
    assert "depends on the data" in said
    older = opened(of_pipeline(pipeline_request()).certificate) | {
        "predicateType": "urn:dpgate:predicate:release:v2"
    }
    assert "older form" in recompute(older).not_derived[0]
    assert not recompute(older).holds  # whoever can sign could call theirs older
    assert found_in(of_pipeline(pipeline_request())).holds
    assert verification.PREDICATE_TYPE == PREDICATE_TYPE


def test_its_tables_name_what_the_platform_offers() -> None:
    """The file stands alone, so it repeats the names: one that it lacks would be refused as a forgery."""
    assert set(verification._CLASSES) == {*ALL_MECHANISMS, "twin_counts"}
    kinds = {get_args(kind.model_fields["kind"].annotation)[0] for kind in get_args(get_args(AnyQuery)[0])}
    assert set(verification._OTHER_QUERIES) < kinds
    assert verification._MOST_OUTPUTS == MAX_JOINT_OUTPUTS
    assert kinds == {*verification._OTHER_QUERIES, "count", "sum", "mean", "variance", "histogram"}


HALVES = {
    "half of the scale is signed": (
        certificate, "noise_scale=_float(output.noise_scale)", "noise_scale=_float(output.noise_scale / 2)",
    ),
    "the interval is signed half as wide": (
        certificate, "(value - half, value + half)", "(value - half / 2, value + half / 2)",
    ),
    "the grid is signed one step coarser": (certificate, "str(value.step)", "str(2 * value.step)"),
}  # fmt: skip


def test_a_signed_scale_that_is_not_what_was_asked_differs(subtests: pytest.Subtests) -> None:
    for mistake, (module, old, new) in HALVES.items():
        with subtests.test(mistake):
            broken = mutant(module, old, new, mistake=mistake)
            assert found_in(of_pipeline(pipeline_request(), by=broken)).differs


DRAWN = {
    "half the joint noise is drawn": (
        joint_noise, "p, rate = len(self.joint.widths), self.joint.rate",
        "p, rate = len(self.joint.widths), 2 * self.joint.rate",
    ),
    "the joint noise of one value is stated": (
        joint_noise, "reach = _quantile(alpha, len(self.joint.widths))", "reach = _quantile(alpha, 1)",
    ),
    "half the noise is drawn": (
        clipped_mean, "LaplaceNoise(sensitivity / epsilon)", "LaplaceNoise(sensitivity / epsilon / 2)",
    ),
    "half the width is stated": (
        noise, "quantile(alpha, self.scale)", "quantile(alpha, self.scale / 2)",
    ),
}  # fmt: skip


def test_a_mechanism_that_states_too_little_differs(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    for mistake, (module, old, new) in DRAWN.items():
        with subtests.test(mistake), monkeypatch.context() as patched:
            broken = mutant(module, old, new, mistake=mistake)
            if module is clipped_mean:
                patched.setattr(mean_noise, "laplace_noise", broken.laplace_noise)
            elif module is joint_noise:
                patched.setattr(mean_noise, "joint_noise", broken.joint_noise)
            else:
                patched.setattr(clipped_mean, "LaplaceNoise", broken.LaplaceNoise)
            chosen = "joint" if module is joint_noise else "laplace"
            assert found_in(of_pipeline(pipeline_request(noise=chosen))).differs


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("guarantee", "cost"), {"epsilon": "0.25"}),
        (("mechanism", "chosen", "epsilon"), "0.25"),
        (("mechanism", "chosen", "block_size"), 20),
        (("mechanism", "nominalSize"), 30),
        (("mechanism", "parameters", "people"), 61),
        (("mechanism", "parameters", "repeats"), 2),
        (("mechanism", "parameters", "weights"), [1, 2]),
        (("mechanism", "chosen", "weights"), {"v1": 2}),
        (("mechanism", "parameters", "shares", "values"), ["0", "1/2"]),
        (("mechanism", "parameters", "noise_scales"), None),
        (("outputs", 0, "cells"), 7),
        (("outputs", 0, "gridStep"), "nonsense"),
        (("outputs", 0, "interval95"), ["nan", "nan"]),
        (("outputs",), []),
    ],
    ids=lambda part: ".".join(map(str, part)) if isinstance(part, tuple) else "",
)
def test_parameters_that_do_not_fit_each_other_differ(path: tuple[Any, ...], value: object) -> None:
    statement = opened(of_pipeline(pipeline_request()).certificate)
    place = statement["predicate"]
    for step in path[:-1]:
        place = place[step]
    assert place[path[-1]] != value
    place[path[-1]] = value
    assert recompute(statement).differs


def forged(release: Release, changes: dict[tuple[Any, ...], Any]) -> dict[str, Any]:
    """The signed statement of a release with other things in it."""
    statement = opened(release.certificate)
    for path, value in changes.items():
        place = statement["predicate"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value(place[path[-1]]) if callable(value) else value
    return statement


OUTPUT, PARAMETERS, COST = ("outputs", 0), ("mechanism", "parameters"), ("guarantee", "cost")
GAUSSIAN = {"noise": "gaussian", "delta": "0.001"}
SUM = {"kind": "sum", "column": "age"}
MEDIAN = {"kind": "quantile", "column": "age"}
FORGERIES: dict[str, tuple[Any, dict[tuple[Any, ...], Any]]] = {
    "a rho far below zero, from which epsilon and delta follow, and no noise": (
        lambda: of_pipeline(pipeline_request(1, **GAUSSIAN)),
        {
            (*PARAMETERS, "rho"): "-1000000", (*PARAMETERS, "noise_scales"): ["0"],
            (*OUTPUT, "noiseScale"): "0.0", (*OUTPUT, "value"): "0.0",
            (*OUTPUT, "interval95"): [repr(-(2.0**-21)), repr(2.0**-21)],
        },
    ),
    "laplace noise that is called gaussian, without a delta": (
        lambda: of_pipeline(pipeline_request(1, noise="laplace")),
        {(*PARAMETERS, "noise"): "discrete gaussian", ("mechanism", "chosen", "noise"): "gaussian"},
    ),
    "joint noise where laplace noise was asked for": (
        lambda: of_pipeline(pipeline_request(noise="joint")), {("mechanism", "chosen", "noise"): "laplace"},
    ),
    "a box of half the sides": (
        lambda: of_pipeline(pipeline_request(noise="joint")),
        {(*PARAMETERS, "joint", "widths"): lambda widths: [width // 2 for width in widths]},
    ),
    "joint noise at the price of noise for each": (
        lambda: of_pipeline(pipeline_request(noise="joint"), is_rho=True),
        {(*PARAMETERS, "rho"): "0.0625", COST: {"rho": "0.0625"}},
    ),
    "a smaller ball of vectors than was asked for": (
        lambda: of_pipeline(pipeline_request(**GAUSSIAN, clip_norm=1)), {(*PARAMETERS, "clip_norm"): "1/2"},
    ),
    "noise of a smaller ball": (
        lambda: of_pipeline(pipeline_request(**GAUSSIAN, clip_norm=1)),
        {("mechanism", "chosen", "clip_norm"): 0.5, (*PARAMETERS, "clip_norm"): "1/2"},
    ),
    "a ball that joint noise has no use for": (
        lambda: of_pipeline(pipeline_request(noise="joint")), {(*PARAMETERS, "clip_norm"): "1/2"},
    ),
    "a delta for gaussian noise that nobody has": (
        lambda: of_pipeline(pipeline_request(noise="auto", delta="0.001")),
        {COST: {"epsilon": "0.5", "delta": "0.001"}},
    ),
    "a value that is called the other bound": (
        lambda: of_pipeline(pipeline_request(1)),
        {(*OUTPUT, "value"): "7.0", (*OUTPUT, "interval95"): ["6.0", "8.0"], (*OUTPUT, "projected"): "0.0"},
    ),
    "gaussian noise that is called pure": (
        lambda: of_pipeline(pipeline_request(1, **GAUSSIAN)), {("guarantee", "class"): "pure_dp"},
    ),
    "quartiles that nobody paid for": (
        lambda: of_pipeline(pipeline_request(1)), {(*OUTPUT, "samplingInterval95"): ["1.0", "2.0"]},
    ),
    "six counts of failed runs for one": (
        lambda: of_pipeline(pipeline_request(1, count_failures=True)),
        {("diagnostics",): lambda one: 6 * one},
    ),
    "a median where a mean was asked for": (
        lambda: of_pipeline(pipeline_request(1)),
        {
            (*PARAMETERS, "aggregators"): ["median"], (*OUTPUT, "noiseScale"): None,
            (*PARAMETERS, "rho"): "0.03125",
        },
    ),
    "a query that costs no rho": (lambda: of_query({"kind": "count"}), {COST: {"rho": "0"}}),
    "a query with a delta": (lambda: of_query(SUM), {COST: {"epsilon": "0.5", "delta": "0.1"}}),
    "a sum in steps beyond its noise": (
        lambda: of_query(SUM),
        {
            (*OUTPUT, "gridStep"): "1e30", (*OUTPUT, "value"): "1.0", (*OUTPUT, "interval95"): ["1.0", "1.0"],
        },
    ),
    "a sum that tells no noise": (
        lambda: of_query(SUM), {(*OUTPUT, "noiseScale"): None, (*OUTPUT, "interval95"): ["1.0", "1.0"]},
    ),
    "a mechanism of another name": (
        lambda: of_pipeline(pipeline_request(1)), {("mechanism", "name"): "sample_\u0430ggregate"},
    ),
    "a promise that the mechanism does not make": (
        lambda: of_pipeline(pipeline_request(1)), {("mechanism", "name"): "stability_calibrated"},
    ),
    "a median with an interval": (
        lambda: of_pipeline(pipeline_request(1, aggregator="median")),
        {(*OUTPUT, "interval95"): ["1.0", "1.0"]},
    ),
    "a median with a noise scale among the parameters": (
        lambda: of_pipeline(pipeline_request(1, aggregator="median")), {(*PARAMETERS, "noise_scales"): ["0"]},
    ),
    "a median beyond its bounds": (
        lambda: of_pipeline(pipeline_request(1, aggregator="median")),
        {(*OUTPUT, "value"): "-7.0", (*OUTPUT, "projected"): "0.0"},
    ),
    "a median that is no number": (
        lambda: of_pipeline(pipeline_request(1, aggregator="median")),
        {(*OUTPUT, "value"): "nan", (*OUTPUT, "projected"): "nan"},
    ),
    "an exact count beside the noised one": (
        lambda: of_query({"kind": "count"}), {("diagnostics",): [{"name": "exact", "value": "30.0"}]},
    ),
    "a sampling interval of a query": (
        lambda: of_query({"kind": "count"}), {(*OUTPUT, "samplingInterval95"): ["30.0", "30.0"]},
    ),
    "a query of a kind that there is not": (
        lambda: of_query({"kind": "quantile", "column": "age", "probabilities": ["0.5"]}),
        {("mechanism", "chosen", "kind"): "exact"},
    ),
    "a block of ten people and a half": (
        lambda: of_pipeline(pipeline_request(1)), {("mechanism", "chosen", "block_size"): 10.5},
    ),
    "the same count twice": (lambda: of_query({"kind": "count"}), {("outputs",): lambda one: 2 * one}),
    "results left out": (lambda: of_pipeline(people_request()), {("results",): []}),
    "a result left out": (
        lambda: of_pipeline(people_request()), {("results",): lambda all_of_them: all_of_them[1:]},
    ),
    "a value beside which no float tells its interval": (
        lambda: of_pipeline(pipeline_request(1)),
        {
            (*OUTPUT, "value"): "-1e+300", (*OUTPUT, "projected"): "0.0",
            (*OUTPUT, "interval95"): ["-1e+300", "-1e+300"],
        },
    ),
    "a count beside which no float tells its interval": (
        lambda: of_query({"kind": "count"}),
        {(*OUTPUT, "value"): "1e+300", (*OUTPUT, "interval95"): ["1e+300", "1e+300"]},
    ),
    "a count of failed runs beside which no float tells its interval": (
        lambda: of_pipeline(pipeline_request(1, count_failures=True)),
        {
            ("diagnostics", 0, "value"): "-1e+300",
            ("diagnostics", 0, "interval95"): ["-1e+300", "-1e+300"],
        },
    ),
    "two outputs of one name": (
        lambda: of_pipeline(pipeline_request()), {("outputs", 1, "name"): "v0"},
    ),
    "two results of one name": (
        lambda: of_pipeline(people_request()),
        {
            ("results",): lambda found: found + found[-1:],
            ("mechanism", "results"): lambda found: found + found[-1:],
        },
    ),
    "five hundred quantiles for one": (
        lambda: of_query(MEDIAN),
        {
            ("outputs",): lambda one: [
                {**one[0], "name": f"quantile {number}"} for number in range(500)
            ],
        },
    ),
    "a quantile five hundred times as large": (
        lambda: of_query(MEDIAN), {(*OUTPUT, "value"): lambda value: repr(500 * (float(value) + 1))},
    ),
    "a quantile with an interval": (
        lambda: of_query(MEDIAN), {(*OUTPUT, "interval95"): ["1.0", "1.0"]},
    ),
    "quantiles that fall": (
        lambda: of_query({**MEDIAN, "probabilities": ["0.25", "0.5"]}),
        {("outputs", 0, "value"): "90.0", ("outputs", 1, "value"): "3.0"},
    ),
    "a quantile at another price": (
        lambda: of_query(MEDIAN), {(*PARAMETERS, "epsilon_each"): "1/1000"},
    ),
    "covariances that nobody paid for": (
        lambda: of_query({"kind": "covariance", "columns": ["age", "height"]}),
        {("outputs",): lambda some: [*some, {**some[0], "name": "cov(age, more)"}]},
    ),
    "slopes that nobody paid for": (
        lambda: of_query({"kind": "regression", "features": ["age"], "target": "height"}),
        {("outputs",): lambda some: [*some, {**some[0], "name": "slope(more)"}]},
    ),
    "a promise between data sets that are alike": (
        lambda: of_pipeline(pipeline_request()), {("guarantee", "relation"): "any two data sets"},
    ),
    "a promise of a query between data sets that are alike": (
        lambda: of_query({"kind": "count"}), {("guarantee", "relation"): "none"},
    ),
    "a promise in other words": (
        lambda: of_pipeline(pipeline_request()), {("guarantee", "sentence"): "Nobody learns anything."},
    ),
    "a smaller factor": (
        lambda: of_pipeline(pipeline_request()),
        {("guarantee", "sentence"): lambda said: said.replace("1.65", "1.01")},
    ),
    "a smaller delta": (
        lambda: of_pipeline(pipeline_request(1, **GAUSSIAN)),
        {("guarantee", "sentence"): lambda said: said.replace("delta is 0.001", "delta is 0")},
    ),
    "further words behind the promise": (
        lambda: of_query({"kind": "count"}), {("guarantee", "sentence"): lambda said: said + " And free."},
    ),
}  # fmt: skip


def test_what_only_a_forger_signs_differs(subtests: pytest.Subtests) -> None:
    for forgery, (release, changes) in FORGERIES.items():
        with subtests.test(forgery):
            honest = release()
            assert found_in(honest).differs == []
            assert recompute(forged(honest, changes)).differs


@pytest.mark.parametrize(
    ("value", "projected"),
    [("-3.5", "0.0"), ("99.0", "2.0"), ("1.25", None)],
    ids=["below", "above", "within"],
)
def test_a_value_beyond_its_bounds_is_the_nearest_of_them(value: str, projected: str | None) -> None:
    output = opened(of_pipeline(pipeline_request(1)).certificate)["predicate"]["outputs"][0]
    found = verification.Recomputed()
    verification._compare_projected(
        {**output, "lower": "0.0", "upper": "2.0", "value": value, "projected": projected}, found
    )
    assert (len(found.agrees), found.differs) == (1, [])
    without = {name: part for name, part in output.items() if name != "projected"}
    verification._compare_projected(without, found)
    assert len(found.agrees) == 1


def test_noise_carries_values_beyond_their_bounds_and_both_numbers_are_signed() -> None:
    releases = [of_pipeline(pipeline_request(2, epsilon="0.001")) for _ in range(10)]
    values = [value for release in releases for value in release.values]
    beyond = [value for value in values if value.projected is not None]
    assert len(beyond) > 10  # the noise is thousands of ranges wide
    assert all(value.headline == value.projected != value.value for value in beyond)
    document = releases[0].model_dump(mode="json")
    assert check_release(document, public_key_pem(KEY))
    document["values"][0]["projected"] = 0.125
    assert check_release(document, public_key_pem(KEY)) is None


def test_weights_and_runs_are_at_least_one() -> None:
    three = of_pipeline(pipeline_request(2))
    statement = forged(three, {("mechanism", "chosen", "weights"): {"v0": 3, "v1": -1}})
    (said,) = recompute(statement).differs
    assert "no mechanism has such weights" in said
    for path in (("mechanism", "chosen", "repeats"), ("mechanism", "chosen", "block_size")):
        (said,) = recompute(forged(three, {path: -1})).differs
        assert "no mechanism has such runs" in said
    (said,) = recompute(forged(three, {("mechanism", "chosen", "epsilon"): "-1"})).differs
    assert "no mechanism has such epsilon" in said


def narrow(lower: float, upper: float) -> dict[str, Any]:
    """A statement whose one output has these bounds."""
    value = {"name": "v0", "lower": lower, "upper": upper}
    fields = job_request_fields(
        mechanism=mechanism_fields(), shape={"files": [{"file": "result.tsv", "rows": [["v0"], [None]]}]}
    )
    manifest = manifest_fields(outputs=[{"file": "result.tsv", "values": [value]}])
    fields["pipeline"] = {**fields["pipeline"], "manifest": manifest}
    return opened(of_pipeline(parse(JobRequest, fields)).certificate)


def test_a_grid_spans_its_bounds_as_far_as_floats_tell() -> None:
    statement = narrow(1e15, 1e15 + 1)
    found = recompute(statement)
    assert (found.differs, len(found.not_derived)) == ([], 1)
    assert "too near each other" in found.not_derived[0]
    output = statement["predicate"]["outputs"][0]
    # an eighth of the bounds' width, hence of the noise
    output["gridStep"], output["cells"] = str(2.0**-23), 2**20
    assert "v0: the grid spans its bounds" in " ".join(recompute(statement).differs)
    assert recompute(narrow(0, 3)).not_derived == []


def test_the_file_needs_nothing_of_dpgate() -> None:
    tree = ast.parse(Path(verification.__file__).read_text(encoding="utf-8"))
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    roots = {name.partition(".")[0] for name in modules}
    assert roots - set(sys.stdlib_module_names) == {"cryptography"}


@pytest.mark.needs(process=True)
def test_it_runs_by_itself(tmp_path: Path) -> None:
    shutil.copy(verification.__file__, tmp_path)
    release = of_pipeline(pipeline_request()).model_dump(mode="json")
    (tmp_path / "release.json").write_text(json.dumps(release))
    (tmp_path / "key.pem").write_text(public_key_pem(KEY))
    command = [sys.executable, "-I", "verification.py", "release.json", "key.pem"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "agrees: v1: noise scale" in ended.stdout
    release["values"][0]["value"] += 1
    (tmp_path / "release.json").write_text(json.dumps(release))
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, "does not fit" in ended.stdout) == (1, True)


def test_a_release_of_before_people_were_dealt_still_agrees() -> None:
    statement = opened(of_pipeline(pipeline_request()).certificate)
    del statement["predicate"]["mechanism"]["parameters"]["people"]
    found = recompute(statement)
    assert not found.differs
    assert "number of slots" not in found.agrees


@pytest.mark.parametrize("number", ["1e999999999", "1e-999999999", "9" * 3_000, "1_0", "\u0661"])
def test_a_number_that_takes_days_to_count_with_differs_at_once(number: str) -> None:
    mean, gaussian = of_pipeline(pipeline_request(1)), of_pipeline(pipeline_request(1, **GAUSSIAN))
    forgeries = [
        (mean, ("mechanism", "chosen", "epsilon")), (mean, (*OUTPUT, "gridStep")),
        (mean, (*PARAMETERS, "rho")), (mean, (*COST, "epsilon")),
        (gaussian, ("mechanism", "chosen", "delta")), (of_query(SUM), ("mechanism", "chosen", "epsilon")),
        (of_query(SUM), (*PARAMETERS, "bounds", 0, 1)),
    ]  # fmt: skip
    for release, path in forgeries:
        assert "is no exact number" in recompute(forged(release, {path: number})).differs[-1]


def test_more_outputs_than_a_pipeline_has_differ_at_once() -> None:
    many = {
        ("outputs",): lambda one: one * 20_000, (*PARAMETERS, "aggregators"): ["clipped_mean"] * 20_000,
    }  # fmt: skip
    statement = forged(of_pipeline(pipeline_request(1, noise="joint")), many)
    assert "no mechanism has such number of outputs" in recompute(statement).differs[-1]


@pytest.mark.parametrize("form", ["https://example.org/other", f"{PREDICATE_TYPE} ", None, 3])
def test_a_form_that_there_has_never_been_differs(form: object) -> None:
    assert recompute({**opened(of_pipeline(pipeline_request()).certificate), "predicateType": form}).differs


def test_what_no_signature_covers_is_held_against_what_one_does() -> None:
    release = of_pipeline(pipeline_request()).model_dump(mode="json")
    certificate, (signature,) = release["certificate"], release["certificate"]["signatures"]
    for changed in (
        {"created_at": "2001-01-01T00:00:00Z"},
        {"created_at": "no time"},
        {"created_at": f"{release['created_at']}\0 and withdrawn since"},
        {"created_at": release["created_at"].replace("T", "\u202e")},
        {"certificate": {**certificate, "payloadType": "text/plain"}},
        {"certificate": {**certificate, "signatures": [{**signature, "keyid": "0" * 64}]}},
        {"certificate": {**certificate, "signatures": [{**signature, "witness": "the registrar"}]}},
        {"certificate": {**certificate, "signatures": [signature, {"keyid": "the registrar", "sig": ""}]}},
        {"dataset_version": True},
    ):
        assert check_release({**release, **changed}, public_key_pem(KEY)) is None
    assert check_release(release, public_key_pem(KEY))


def test_what_clipping_does_is_said_and_not_derived() -> None:
    asked = {"epsilon": "8", "block_size": 1, "aggregator": "two_step", "spread_ratio": 900}
    for chosen in (asked, {**GAUSSIAN, "clip_norm": 0.7}):
        release = of_pipeline(pipeline_request(**chosen))
        assert any("how far clipping moved" in said for said in found_in(release).not_derived)
        assert "depends on the data" in opened(release.certificate)["predicate"]["mechanism"]["clipping"]
    plain = of_pipeline(pipeline_request())
    assert not [said for said in found_in(plain).not_derived if "clipping" in said]
    assert "clipping" not in opened(plain.certificate)["predicate"]["mechanism"]


def test_certificates_of_before_agree_and_what_they_lack_is_said() -> None:
    statement = forged(
        of_pipeline(people_request()), {("guarantee", "sentence"): lambda said: said.partition(" What")[0]}
    )
    assert statement["predicate"]["guarantee"]["sentence"].endswith("at most 1.65.")
    del statement["predicate"]["mechanism"]["results"]
    found = recompute(statement)
    assert not found.differs
    assert any("which results were asked for" in said for said in found.not_derived)


def test_what_is_no_statement_differs() -> None:
    for nothing in (None, "x", [], {}):
        assert recompute(nothing).differs  # type: ignore[arg-type]


def signed(payload: bytes, release: dict[str, Any]) -> dict[str, Any]:
    """The release with these bytes for a statement, under the right key."""
    signature = KEY.sign(verification.pre_authentication_encoding(payload))
    texts = [base64.b64encode(part).decode() for part in (payload, signature)]
    certificate = {"payloadType": verification.PAYLOAD_TYPE, "payload": texts[0]}
    return {**release, "certificate": {**certificate, "signatures": [{"sig": texts[1]}]}}


def test_a_payload_that_is_deep_or_names_something_twice_does_not_fit() -> None:
    release = of_pipeline(pipeline_request()).model_dump(mode="json")
    payload = base64.b64decode(release["certificate"]["payload"])
    assert check_release(signed(payload, release), public_key_pem(KEY))
    twice = b'{"predicate":{},' + payload[1:]
    for hostile in (b"[" * 200_000 + b"]" * 200_000, twice):
        assert check_release(signed(hostile, release), public_key_pem(KEY)) is None


def test_a_release_that_names_something_twice_is_refused() -> None:
    text = json.dumps(of_pipeline(pipeline_request()).model_dump(mode="json"))
    assert read_release(text)
    with pytest.raises(ValueError, match="twice"):
        read_release('{"values": [],' + text[1:])


def test_every_figure_shown_is_signed() -> None:
    release = of_pipeline(pipeline_request(1, aggregator="median")).model_dump(mode="json")
    assert check_release(release, public_key_pem(KEY))
    (value,) = release["values"]
    for changed in (
        {"id": "another"}, {"dataset_version": 99}, {"values": [{**value, "grid_step": 4.0}]},
        {"values": [{**value, "lower_95": 1.0}]},
    ):  # fmt: skip
        assert check_release({**release, **changed}, public_key_pem(KEY)) is None


def test_a_number_that_readers_take_for_another_does_not_fit(subtests: pytest.Subtests) -> None:
    """The signed number as Python alone reads it: to others these are texts, or other numbers."""
    release = of_pipeline(pipeline_request(1)).model_dump(mode="json")
    (value,) = release["values"]
    for name in ("value", "noise_scale", "grid_step", "lower_95", "upper_95"):
        text = repr(value[name])
        looks = (text, f" {text}", f"0_{text}", text.translate({48 + n: 0x661 + n - 1 for n in range(10)}))
        for other in (*(look for look in looks if float(look) == value[name]), [value[name]], True):
            with subtests.test(f"{name} {other!r}"):
                altered = {**release, "values": [{**value, name: other}]}
                assert check_release(altered, public_key_pem(KEY)) is None


def test_a_whole_number_between_floats_is_no_number_of_a_release() -> None:
    assert verification._text(2**53) == "9007199254740992.0"
    with pytest.raises(ValueError, match="no float"):
        verification._text(2**53 + 1)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a": 1, "a": 1}', "no"], ids=["deep", "twice", "none"])
def test_a_file_that_is_no_release_is_refused_with_a_sentence(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in (("release.json", text), ("key.pem", public_key_pem(KEY))):
        (tmp_path / name).write_text(content)
    assert verification.main([str(tmp_path / name) for name in ("release.json", "key.pem")]) == 1
    assert "not valid JSON" in capsys.readouterr().out
