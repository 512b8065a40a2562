"""Two requests are the same question exactly when they ask the same of the same at the same price."""

from __future__ import annotations

import pytest
from factories import (
    make_file_shape,
    make_job_request,
    make_manifest,
    make_pipeline,
    make_shape,
    make_source,
    manifest_fields,
    mechanism_fields,
)
from hypothesis import given
from hypothesis import strategies as st

from domain.job import JobRequest
from domain.model import canonical, digest


def question(request: JobRequest, *, dataset_id: str = "d-1", image_digest: str = "sha256:1") -> str:
    return request.question(dataset_id=dataset_id, image_digest=image_digest)


def test_one_loss_in_any_spelling_is_one_question(subtests):
    for epsilon in (0.5, "0.5", "0.50", "0.500000", ".5", "5e-1", " 0.5"):
        with subtests.test(epsilon=epsilon):
            assert question(make_job_request(epsilon=epsilon)) == question(make_job_request(epsilon="0.5"))


def test_who_pays_from_which_project_is_no_part_of_the_question():
    assert question(make_job_request(project="p")) == question(make_job_request())


def test_a_limit_written_as_a_whole_number_is_the_same_limit():
    one, two = (manifest_fields(resources={"wall_seconds": seconds}) for seconds in (10, 10.0))
    assert question(make_job_request(pipeline={"manifest": one})) == question(
        make_job_request(pipeline={"manifest": two})
    )


WIDER = make_manifest(
    outputs=[{"file": "result.tsv", "values": [{"name": "mean_age", "lower": 0, "upper": 121}]}]
)
OTHERS = {
    "loss": question(make_job_request(epsilon="0.500001")),
    "block size": question(make_job_request(block_size=11)),
    "bounds": question(make_job_request(pipeline=make_pipeline(manifest=WIDER).model_dump())),
    "code": question(
        make_job_request(pipeline=make_pipeline(sources=(make_source(content=b""),)).model_dump())
    ),
    "shape": question(make_job_request(shape=make_shape(make_file_shape(rows=[[None]])).model_dump())),
    "data set version": question(make_job_request(), dataset_id="d-2"),
    "image": question(make_job_request(), image_digest="sha256:2"),
    "repeats": question(make_job_request(mechanism=mechanism_fields(repeats=2))),
    "aggregator": question(make_job_request(mechanism=mechanism_fields(aggregator="median"))),
    "weights": question(make_job_request(mechanism=mechanism_fields(weights={"mean_age": 2}))),
    "count of failures": question(make_job_request(mechanism=mechanism_fields(count_failures=True))),
    "interval": question(make_job_request(mechanism=mechanism_fields(interval="sampling"))),
    "delta": question(make_job_request(mechanism=mechanism_fields(noise="gaussian", delta="1e-6"))),
    "pac": question(make_job_request(mechanism={"name": "pac", "nats": "0.5"})),
    "nats": question(make_job_request(mechanism={"name": "pac", "nats": "0.25"})),
    "stability": question(
        make_job_request(mechanism={"name": "stability_calibrated", "noise_multiplier": 0.5})
    ),
}


def test_any_difference_is_another_question():
    assert len({question(make_job_request()), *OTHERS.values()}) == len(OTHERS) + 1


def test_a_default_that_is_written_out_is_the_same_question():
    written = mechanism_fields(block_size=10, repeats=1, aggregator="clipped_mean", noise="laplace")
    assert question(make_job_request(mechanism=written)) == question(make_job_request())


def test_what_was_answered_before_there_were_other_mechanisms_stays_answered():
    """The digest of a plain request is the one that it had then."""
    request = make_job_request()
    asked = {
        "dataset": "d-1",
        "image": "sha256:1",
        "pipeline": request.pipeline.digest,
        "shape": request.shape.model_dump(mode="json"),
        "mechanism": "sample_aggregate",
        "micro_epsilon": 500_000,
        "block_size": 10,
    }
    assert question(request) == digest(asked)


def test_a_request_on_record_asks_the_same_as_when_it_came():
    request = make_job_request(epsilon=0.5)
    assert question(JobRequest.model_validate(request.model_dump(mode="json"))) == question(request)


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.integers()))
def test_canonical_form_ignores_the_order_of_keys(content):
    assert canonical(dict(reversed(content.items()))) == canonical(content)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_canonical_form_has_no_nan(number):
    with pytest.raises(ValueError, match="JSON"):
        digest([number])
