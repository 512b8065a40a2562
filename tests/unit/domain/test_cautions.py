"""What the twin says against a job before it is charged: each caution at its threshold, silence below."""

from __future__ import annotations

from typing import Any

import pytest
from factories import make_declaration, make_job_request, make_manifest, policy_fields

from domain.cautions import (
    NO_RECORD,
    Public,
    about_job,
    about_request,
    about_runs,
    about_time,
    check_use,
)
from domain.errors import Doubtful, InvalidRequest
from domain.job import JobRequest
from domain.model import parse
from domain.pipeline import OutputValue
from domain.query import QueryRequest
from domain.training import TrainingRequest
from domain.twin_record import BlocksSeen, TwinRecord

HEIGHT = OutputValue(name="height", lower=140, upper=210)
SHARE = OutputValue(name="share", lower=0, upper=1)
VALUES = (HEIGHT, SHARE)
WELL, NEAR = (170.0, 0.5), (171.0, 0.5)


def said(blocks: list[Any], *, whole: tuple[float, ...] = WELL) -> list[str]:
    seen = BlocksSeen.of(VALUES, blocks)
    return [str(caution) for caution in about_runs(VALUES, whole=whole, seen=seen)]


def test_nothing_is_said_of_a_twin_that_did_well() -> None:
    assert said([WELL, NEAR] * 5) == []
    assert said([]) == []
    assert about_runs(VALUES, whole=WELL, seen=None) == ()


# 20 blocks: 4 are a fifth, which is borne, and 5 are more
ROWS: tuple[tuple[Any, str], ...] = (
    (None, "5 of 20 blocks of the twin failed, and so will those of the data"),
    ((130.0, 0.5), "In 5 of 20 blocks of the twin height is outside its bounds 140 to 210"),
    ((211.0, 0.5), "In 5 of 20 blocks of the twin height is outside its bounds 140 to 210"),
    ((170.0, None), "In 5 of 20 blocks of the twin share is missing, and counts as the middle"),
)


@pytest.mark.parametrize(("bad", "words"), ROWS)
def test_more_than_a_fifth_of_the_blocks_is_told(bad: Any, words: str) -> None:
    assert said([bad] * 4 + [WELL, NEAR] * 8) == []
    (caution,) = said([bad] * 5 + [WELL, NEAR, WELL] * 5)
    assert caution.startswith(words)


def test_a_number_at_a_bound_is_inside() -> None:
    for bound in ((140.0, 0.0), (210.0, 1.0)):
        assert said([bound] * 9 + [WELL], whole=bound) == []


def test_the_whole_twin_outside_its_bounds_is_told() -> None:
    (caution,) = said([WELL, NEAR, WELL], whole=(1.7, 0.5))
    assert caution.startswith("On the whole twin height is 1.7, outside its bounds 140 to 210")
    assert "Give wider bounds, or check the unit." in caution
    assert caution.endswith("with such a twin keep bounds that you know from the subject.")
    assert said([(139.0, 0.5)] * 9 + [WELL], whole=(139.0, 0.5)) == said([WELL], whole=(139.0, 0.5)), (
        "no news"
    )


def test_a_count_is_told_to_come_out_as_that_of_a_block() -> None:
    blocks: list[Any] = [(150.0, 0.5), None, None, (152.0, None)] + [(151.0, 0.5)] * 6
    assert said(blocks, whole=(165.0, 0.5)) == []  # a fifth of 70 is borne
    (caution,) = said(blocks, whole=(165.1, 0.5))
    assert caution.startswith("On the whole twin height is 165.1, and 151 on average over its blocks")
    assert "ask a trusted query" in caution
    (other,) = said(blocks, whole=(1651, 0.5))
    assert "outside its bounds" in other, "that alone"
    untold = BlocksSeen.of(VALUES, blocks).model_copy(update={"means": ()})  # as locks of before say it
    assert about_runs(VALUES, whole=(165.1, 0.5), seen=untold) == ()


def test_numbers_that_no_block_decides_are_told() -> None:
    """A group level that finds nothing of its participant level, and writes what it begins with."""
    (caution,) = said([WELL] * 9 + [None])
    assert caution.startswith(
        "All 9 blocks of the twin gave the same numbers: who is in a block decides none"
    )
    assert "below sub-XX/" in caution
    assert said([WELL]) == [], "one block is like itself"
    assert said([WELL] * 9 + [(170.0, 0.6)]) == [], "one number moved"
    (count,) = said([WELL] * 9, whole=(200.0, 0.5))
    assert "on average over its blocks" in count, "the number of people in a block is told as such"


def test_blocks_that_are_alike_are_said_to_a_platform_that_reads_it() -> None:
    alike, apart = BlocksSeen.of(VALUES, [WELL, WELL]), BlocksSeen.of(VALUES, [WELL, NEAR])
    assert alike.model_dump()["alike"]
    assert "alike" not in apart.model_dump(), "platforms of before do not know it"


def test_failed_blocks_are_no_missing_numbers() -> None:
    seen = BlocksSeen.of(VALUES, [None, WELL, (150.0, None)])
    assert seen == BlocksSeen(blocks=3, failed=1, outside=(0, 0), missing=(0, 1), means=(160.0, 0.5))
    assert BlocksSeen.of(VALUES, [None]).means == (None, None)


def about(epsilon: str, **mechanism: Any) -> list[str]:
    asked = make_job_request(mechanism={"name": "sample_aggregate", "epsilon": epsilon, **mechanism})
    return [str(caution) for caution in about_job(with_record(asked), Public(60))]


def with_record(asked: JobRequest, seen: BlocksSeen | None = None) -> JobRequest:
    """It ran on the whole twin, and on blocks of ten if that was seen."""
    whole = tuple(float(value.lower) for value in asked.values)
    record = TwinRecord(pipeline=asked.pipeline.digest, whole=whole, block_size=10, seen=seen)
    return asked.model_copy(update={"on_twin": record})


def test_a_pipeline_that_nobody_saw_on_the_twin_is_told() -> None:
    (caution,) = about_job(
        make_job_request(mechanism={"name": "sample_aggregate", "epsilon": "5"}), Public(60)
    )
    assert caution is NO_RECORD


def test_blocks_of_another_size_say_nothing() -> None:
    failed = BlocksSeen(blocks=6, failed=6, outside=(0,), missing=(0,))
    for size, count in ((10, 1), (5, 0)):
        fields = {"name": "sample_aggregate", "epsilon": "5", "block_size": size}
        asked = with_record(make_job_request(mechanism=fields), failed)
        assert len(about_job(asked, Public(60))) == count


def test_a_record_of_another_pipeline_is_refused() -> None:
    record = {"pipeline": "sha256:" + "0" * 64, "whole": [1.0]}
    with pytest.raises(InvalidRequest, match="on_twin is of another pipeline"):
        make_job_request(on_twin=record)


def test_what_is_said_with_a_request_leaves_no_trace() -> None:
    asked = with_record(make_job_request(anyway=True))
    assert asked.kept() == make_job_request() == parse(JobRequest, asked.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("query", "epsilon", "wide"),
    [
        ({"kind": "count"}, "0.2", False),
        ({"kind": "count"}, "0.1", True),
        ({"kind": "mean", "column": "age"}, "0.5", False),
        ({"kind": "mean", "column": "age"}, "0.1", True),
        ({"kind": "mean", "column": "age", "by": ["sex"]}, "0.5", True),
        ({"kind": "quantile", "column": "age"}, "0.2", True),
        ({"kind": "variance", "column": "age"}, "0.001", False),  # nobody knows before
    ],
)
def test_noise_of_a_query_wider_than_half_of_the_range_is_told(
    query: dict[str, Any], epsilon: str, wide: bool
) -> None:
    asked = parse(QueryRequest, {"dataset": "heights", "query": query, "epsilon": epsilon})
    found = about_request(asked, make_declaration())
    assert [caution.problem.startswith("The noise on") for caution in found] == [True] * wide
    check_use(asked.model_copy(update={"anyway": True}), make_declaration())
    if wide:
        with pytest.raises(Doubtful, match="nothing was charged"):
            check_use(asked, make_declaration())


def test_noise_wider_than_half_of_the_range_is_told() -> None:
    (caution,) = about("0.05", block_size=10)
    assert "reaches half of the range" in caution
    (just,) = about("1", block_size=10)  # 0.499 of the range, which people read as half of it
    assert "reaches half of the range" in just
    assert about("1.02", block_size=10) == []
    assert about("5", block_size=10) == []
    assert about("0.05", block_size=10, aggregator="median") == []


def test_a_choice_that_cannot_be_built_is_left_to_the_check_of_jobs() -> None:
    assert about("1", block_size=1000) == []


def test_a_release_that_is_due_much_later_is_told() -> None:
    manifest = make_manifest(resources={"wall_seconds": 9.5})
    assert about_time(manifest, turns=180) == ()
    (caution,) = about_time(manifest, turns=181)
    assert str(caution).startswith("The release is due after about 30 minutes: 181 runs take a turn of 10 s")
    assert "due after about 3 hours" in str(about_time(manifest, turns=1000)[0])


def test_runs_are_counted_on_a_padded_grid_alone() -> None:
    asked = make_job_request(mechanism={"name": "sample_aggregate", "epsilon": "5", "block_size": 1})
    wall = asked.pipeline.manifest.resources.wall_seconds
    people = int(1800 / (wall + 0.5)) + 1
    for is_padded, count in ((False, 0), (True, 1)):
        public = Public(people, is_padded=is_padded)
        assert len(about_job(with_record(asked), public)) == count


QUESTIONS: tuple[dict[str, Any], ...] = (
    {"query": {"kind": "count"}},
    {
        "model": {"kind": "softmax", "target": "sex", "features": ["age"], "batch": 64},
        "delta": "0.000000001",
    },
)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    ("people", "timing", "late"),
    [
        (100, {"mode": "padded"}, False),
        (40_000_000, {"mode": "padded"}, True),
        (40_000_000, {"mode": "coarse", "step_seconds": 60}, False),
    ],
)
def test_a_late_release_of_what_the_platform_computes_itself_is_told(
    question: dict[str, Any], people: int, timing: dict[str, Any], late: bool
) -> None:
    policy = policy_fields(timing=timing, max_epsilon_per_job="5")
    declaration = make_declaration(nominal_size=people, policy=policy)
    body = {"dataset": "heights", "epsilon": "5", **question}
    asked: Any = parse(TrainingRequest if "model" in question else QueryRequest, body)
    found = about_request(asked, declaration)
    assert ["The release is due after about" in caution.problem for caution in found] == [True] * late
    if late:
        assert "for 40,000,000 people by its declaration" in found[0].problem
