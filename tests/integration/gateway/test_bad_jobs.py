"""Job requests that are not valid: each refusal names field and fix, and nothing is charged or kept."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest
from asking import Gateway, problem
from factories import given_dataset, given_image, job_request_fields, policy_fields

MANIFEST = ("pipeline", "manifest")
VALUE = (*MANIFEST, "outputs", 0, "values", 0)
DELETE = object()
NESTED_VALUES = [{"name": f"v{number}", "lower": 0, "upper": 1} for number in range(2000)]

OUT, SRC = "pipeline.manifest.outputs.0", "pipeline.sources.0"
V, WALL = f"{OUT}.values.0", "pipeline.manifest.resources.wall_seconds"
FILE, VALUES = (*MANIFEST, "outputs", 0, "file"), (*MANIFEST, "outputs", 0, "values")
RESOURCES, SOURCE = (*MANIFEST, "resources"), ("pipeline", "sources", 0)
NAME, EPSILON, BLOCK_SIZE = ("mechanism", "name"), ("mechanism", "epsilon"), ("mechanism", "block_size")
PAC = {"name": "pac", "nats": "0.1"}
ROWS, NAN = ("shape", "files", 0, "rows"), float("nan")
LARGE = base64.b64encode(bytes(700_000)).decode()
TOO_LARGE = [{"path": f"{number}.py", "content_base64": LARGE} for number in range(2)]

# (what, where in the request, value put there, status, field named, words)
INVALID: list[tuple[str, tuple[Any, ...], Any, int, str, str]] = [
    ("unknown key", ("epsilonn",), "1", 422, "epsilonn", "is not a known field"),
    ("unknown key inside", (*MANIFEST, "network"), True, 422, "pipeline.manifest.network", "is not a known"),
    ("unknown key deep inside", (*VALUE, "clip"), 1, 422, f"{V}.clip", "known"),
    ("no bounds", (*VALUE, "lower"), DELETE, 422, f"{V}.lower", "is missing"),
    ("bounds inverted", (*VALUE, "lower"), 121, 422, V, "less than upper"),
    ("bounds equal", (*VALUE, "lower"), 120, 422, V, "less than upper"),
    ("bound as text", (*VALUE, "lower"), "0", 422, f"{V}.lower", "a number"),
    ("bound NaN", (*VALUE, "lower"), NAN, 422, f"{V}.lower", "finite"),
    ("no epsilon", EPSILON, DELETE, 422, "mechanism.epsilon", "is missing"),
    ("epsilon 0", EPSILON, 0, 422, "mechanism.epsilon", "above zero"),
    ("epsilon negative", EPSILON, "-0.5", 422, "mechanism.epsilon", "above zero"),
    ("epsilon NaN", EPSILON, NAN, 422, "mechanism.epsilon", "finite"),
    ("epsilon infinite", EPSILON, float("inf"), 422, "mechanism.epsilon", "finite"),
    ("epsilon 1e-18", EPSILON, 1e-18, 422, "mechanism.epsilon", "below 0.001"),
    ("epsilon 1e999999999", EPSILON, "1e999999999", 422, "mechanism.epsilon", "above 1000"),
    ("epsilon of 4000 digits", EPSILON, 10**4000, 422, "mechanism.epsilon", "above 1000"),
    ("epsilon in words", EPSILON, "half", 422, "mechanism.epsilon", "must be a number"),
    ("epsilon true", EPSILON, True, 422, "mechanism.epsilon", "must be a number"),
    ("epsilon a list", EPSILON, ["0.5"], 422, "mechanism.epsilon", "must be a number"),
    ("epsilon over policy", EPSILON, "1.5", 422, "mechanism.epsilon", "over the 1 that the policy"),
    ("data set unknown", ("dataset",), "unknown", 404, "dataset", "there is no data set"),
    ("another version", ("dataset_version",), 2, 409, "dataset_version", "version 2, and the job would"),
    ("version in words", ("dataset_version",), "1", 422, "dataset_version", "a whole number"),
    ("data set not a name", ("dataset",), "../heights", 422, "dataset", "no short name"),
    ("image not approved", (*MANIFEST, "image"), "fsl", 422, "pipeline.manifest.image", "is approved"),
    ("image not allowed", (*MANIFEST, "image"), "r", 403, "pipeline.manifest.image", "does not allow"),
    ("path outside", FILE, "../x.tsv", 422, f"{OUT}.file", "inside"),
    ("path absolute", FILE, "/x.tsv", 422, f"{OUT}.file", "relative"),
    ("too many outputs", VALUES, NESTED_VALUES, 422, f"{OUT}.values", "has more than"),
    ("names repeated", VALUES, NESTED_VALUES[:1] * 2, 422, "pipeline.manifest", "same name"),
    ("no outputs", (*MANIFEST, "outputs"), [], 422, "pipeline.manifest.outputs", "needs 1 entries"),
    ("block size under policy", BLOCK_SIZE, 6, 422, "mechanism.block_size", "under the 7"),
    ("block size over nominal", BLOCK_SIZE, 61, 422, "mechanism.block_size", "block"),
    ("block size a fraction", BLOCK_SIZE, 7.5, 422, "mechanism.block_size", "whole number"),
    ("wall time over policy", RESOURCES, {"wall_seconds": 61}, 422, WALL, "over the policy's 60"),
    ("wall time NaN", RESOURCES, {"wall_seconds": NAN}, 422, WALL, "finite"),
    ("no mechanism", ("mechanism",), DELETE, 422, "mechanism", "is missing"),
    ("mechanism as text", ("mechanism",), "pac", 422, "mechanism", "object"),
    ("mechanism without a name", NAME, DELETE, 422, "mechanism.name", "is missing"),
    ("mechanism unknown", NAME, "none", 422, "mechanism.name", "is none that is known"),
    ("mechanism's unknown key", ("mechanism", "seed"), 1, 422, "mechanism.seed", "is not a known field"),
    ("guarantee not allowed", ("mechanism",), PAC, 403, "mechanism", "promises pac"),
    ("weight of no output", ("mechanism", "weights"), {"sd": 2}, 422, "body", "there are mean_age"),
    ("weight of 0", ("mechanism", "weights"), {"mean_age": 0}, 422, "mechanism.weights.mean_age", "1"),
    ("delta without gaussian", ("mechanism", "delta"), "1e-6", 403, "mechanism", "promises approx_dp"),
    ("no repeats", ("mechanism", "repeats"), 0, 422, "mechanism.repeats", "1"),
    ("project unknown", ("project",), "moon", 403, "project", "there is no project moon of yours"),
    ("not base64", (*SOURCE, "content_base64"), "%%%", 422, f"{SRC}.content_base64", "base64"),
    ("source outside", (*SOURCE, "path"), "a/../../b", 422, f"{SRC}.path", "inside"),
    ("sources too large", ("pipeline", "sources"), TOO_LARGE, 422, "pipeline", "1024 KiB"),
    ("shape of another file", ("shape", "files", 0, "file"), "other.tsv", 422, "body", "shape"),
    ("NUL in a label", ROWS, [["a\0"], ["b"]], 422, "body", "shape"),
    ("NUL in a name", ("dataset",), "heights\0", 422, "dataset", "no short name"),
    ("NUL in an argument", (*MANIFEST, "command"), ["a\0b"], 422, "pipeline.manifest.command.0", "plain"),
    ("lone surrogate", ("dataset",), "\ud800", 422, "dataset", "in Unicode"),
    ("lone surrogate in a label", ROWS, [["\udfff"], [None]], 422, "shape.files.0.rows.0.0", "in Unicode"),
    ("lone surrogate as a key", ("\ud800",), 1, 422, "body", "in Unicode"),
    ("a key of many letters", ("k" * 100_000,), 1, 422, "k" * 1000 + "...", "not a known field"),
    ("a text as pipeline", ("pipeline",), "x", 422, "pipeline", ""),
    ("null as shape", ("shape",), None, 422, "shape", ""),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def heights(shared_gateway: Gateway) -> None:
    with shared_gateway.database.transaction() as connection:
        given_image(connection)
        given_image(connection, digest="sha256:" + "2b" * 32, name="r")
        given_dataset(connection, policy=policy_fields(images=["python", "fsl"], min_block_size=7))


def request_with(where: tuple[Any, ...], value: Any) -> bytes:
    request: Any = copy.deepcopy(job_request_fields(block_size=10))
    *path, last = where
    inner = request
    for key in path:
        inner = inner[key]
    if value is DELETE:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(request).encode()  # ASCII only, and NaN as it is


def test_is_refused_by_name_and_nothing_is_kept(shared_gateway: Gateway, subtests: pytest.Subtests):
    before = shared_gateway.rows()
    for what, where, value, status, field, words in INVALID:
        with subtests.test(what):
            answer = shared_gateway.ask(
                "PUT",
                "/jobs/job-not-valid",
                by="ada",
                content=request_with(where, value),
                headers={"Content-Type": "application/json"},
            )
            found = problem(answer, status=status)
            assert found["field"] == field
            assert words in found["problem"]
            assert len(answer.content) < 10_000
            assert shared_gateway.rows() == before


def test_a_word_that_is_no_id_is_the_id_of_no_job(shared_gateway: Gateway):
    for method, path in (("GET", "/jobs/good"), ("GET", "/jobs/good/release"), ("POST", "/jobs/good/cancel")):
        answer = shared_gateway.ask(method, path, by="ada")
        assert answer.status_code == 404
        assert "no such job that you may see. `dpgate status` lists yours" in answer.json()["detail"]


def test_every_problem_is_named_up_to_a_limit(shared_gateway: Gateway):
    request = job_request_fields(**{f"extra-{number}": number for number in range(500)})
    body = shared_gateway.ask("PUT", "/jobs/job-not-valid", by="ada", json=request).json()
    assert len(body["problems"]) == 20
    assert body["detail"].endswith("and 480 more")
    assert {found["fix"] for found in body["problems"]} == {"Remove it, or check its spelling."}


@pytest.mark.parametrize(
    "job_id", ["short", "a" * 65, "with%20space", "-hyphen-1", "job%00job0", "j%C3%B6b-j%C3%B6b"]
)
def test_an_id_of_a_wrong_form(shared_gateway: Gateway, job_id: str):
    before = shared_gateway.rows()
    answer = shared_gateway.ask("PUT", f"/jobs/{job_id}", by="ada", json=job_request_fields())
    found = problem(answer, status=422, kind="InvalidRequest")
    assert (found["field"], found["fix"]) == (
        "job_id",
        "`dpgate status` lists the ids of your jobs; a UUID is good for a new one.",
    )
    assert shared_gateway.rows() == before


def test_the_request_that_these_were_made_from_is_taken(shared_gateway: Gateway):
    answer = shared_gateway.ask("PUT", "/jobs/job-valid-1", by="ada", json=job_request_fields(block_size=10))
    assert answer.status_code == 201
