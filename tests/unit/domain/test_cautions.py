"""What the twin says against a job before it is charged: each caution at its threshold, silence below."""

from __future__ import annotations

from typing import Any

import pytest
from factories import make_job_request, make_manifest

from domain.cautions import BlocksSeen, Twin, about_job, about_runs, about_time
from domain.pipeline import OutputValue

HEIGHT = OutputValue(name="height", lower=140, upper=210)
SHARE = OutputValue(name="share", lower=0, upper=1)
VALUES = (HEIGHT, SHARE)
WELL = (170.0, 0.5)


def said(blocks: list[Any], *, whole: tuple[float, ...] = WELL) -> list[str]:
    seen = BlocksSeen.of(VALUES, blocks)
    return [str(caution) for caution in about_runs(VALUES, whole=whole, seen=seen)]


def test_nothing_is_said_of_a_twin_that_did_well() -> None:
    assert said([WELL] * 10) == []
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
    assert said([bad] * 4 + [WELL] * 16) == []
    (caution,) = said([bad] * 5 + [WELL] * 15)
    assert caution.startswith(words)


def test_a_number_at_a_bound_is_inside() -> None:
    assert said([(140.0, 0.0), (210.0, 1.0)] * 10, whole=(210.0, 1.0)) == []


def test_the_whole_twin_outside_its_bounds_is_told() -> None:
    (caution,) = said([WELL] * 3, whole=(1.7, 0.5))
    assert caution.startswith("On the whole twin height is 1.7, outside its bounds 140 to 210")
    assert caution.endswith("Give wider bounds, or check the unit.")


def test_failed_blocks_are_no_missing_numbers() -> None:
    seen = BlocksSeen.of(VALUES, [None, WELL, (150.0, None)])
    assert seen == BlocksSeen(blocks=3, failed=1, outside=(0, 0), missing=(0, 1))


def about(epsilon: str, **mechanism: Any) -> list[str]:
    asked = make_job_request(mechanism={"name": "sample_aggregate", "epsilon": epsilon, **mechanism})
    whole = [float(value.lower) for value in asked.values]
    found = about_job(asked, Twin(whole=whole, seen=None, nominal_size=60))
    return [str(caution) for caution in found]


def test_noise_wider_than_half_of_the_range_is_told() -> None:
    (caution,) = about("0.05", block_size=10)
    assert "exceeds half of the range" in caution
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
    whole = [float(value.lower) for value in asked.values]
    for is_padded, count in ((False, 0), (True, 1)):
        twin = Twin(whole=whole, seen=None, nominal_size=people, is_padded=is_padded)
        assert len(about_job(asked, twin)) == count
