"""One forecast for one choice, whichever mechanism it is; and why there is none."""

from __future__ import annotations

from typing import Any

import pytest
from factories import NOW, job_request_fields, make_declaration, make_shape

from domain.choice_forecast import NoForecast, check_noise, forecast_of
from domain.mechanism import PacRequest, SampleAggregateRequest, StabilityRequest
from domain.model import parse
from domain.rehearsal import (
    Draws,
    Preview,
    QuietMean,
    Rehearsal,
    RehearsalRequest,
    RehearsalState,
    Rung,
    TwinRuns,
    UnitNoise,
)

FACTS = {
    "declaration": make_declaration(nominal_size=600, policy={"max_epsilon_per_job": "2"}),
    "index": 0,
}
PREVIEW = Preview(
    rungs=tuple(
        Rung(
            output=0,
            block_size=10,
            aggregator="clipped_mean",
            micro_epsilon=micro,
            typical=1.0,
            within_95=4e6 / micro,
            without_noise_95=0.5,
            noise_95=3e6 / micro,
        )
        for micro in (500_000, 1_000_000)
    ),
    draws=(Draws(output=0, aggregator="clipped_mean", micro_epsilon=500_000, values=(41.0, 43.0)),),
    means=tuple(QuietMean(output=0, block_size=size, offsets=(-0.5, 0.0, 0.5)) for size in (10, 20)),
    noise=UnitNoise(normal=(-1.0, 0.0, 1.0), laplace=(-1.0, 0.5)),
)
RUNS = TwinRuns(
    shape=make_shape(),
    numbers=(41.0,),
    blocks=((40.0,),) * 8,
    half_samples=tuple((40.0 + at / 32,) for at in range(64)),
    leave_one_out=tuple((41.0 + at / 600,) for at in range(601)),
    seconds=0.1,
)


def rehearsed(*, preview: Preview | None = PREVIEW, runs: TwinRuns | None = RUNS) -> Rehearsal:
    asked = {"dataset": "heights", "pipeline": job_request_fields()["pipeline"]}
    return Rehearsal(
        id="rehearsal-0001",
        author="ada",
        dataset_id="d",
        pipeline_digest="p",
        request=parse(RehearsalRequest, asked),
        image_digest="sha256:" + "1a" * 32,
        state=RehearsalState.DONE,
        attempts=1,
        done=1,
        total=1,
        problem=None,
        runs=runs,
        preview=preview,
        created_at=NOW,
        moved_at=NOW,
    )


def blocks(**choices: Any) -> SampleAggregateRequest:
    return SampleAggregateRequest(name="sample_aggregate", **({"epsilon": "1"} | choices))


@pytest.mark.parametrize(
    ("asked", "unit", "amount"),
    [
        (blocks(epsilon="1"), "epsilon", "1"),
        (blocks(epsilon="0.7", noise="gaussian", delta="0.000001"), "epsilon", "0.7"),
        (PacRequest(name="pac", nats="0.3"), "nats", "0.3"),
        (StabilityRequest(name="stability_calibrated", noise_multiplier=3), "noise multiplier", "3"),
    ],
)
def test_every_mechanism_has_one(asked: Any, unit: str, amount: str) -> None:
    found = forecast_of(asked, rehearsed(), **FACTS)
    assert (found.output, found.unit, found.amount) == ("mean_age", unit, amount)
    assert found.chosen.amount == amount
    assert found.chosen.within_95 > 0
    assert len(found.rungs) > 1
    assert found.simulated.values


@pytest.mark.parametrize(("epsilon", "at"), [("0.7", "0.5"), ("0.1", "0.5"), ("3", "1")])
def test_laplace_is_said_at_a_rung_that_was_replayed(epsilon: str, at: str) -> None:
    found = forecast_of(blocks(epsilon=epsilon), rehearsed(), **FACTS)
    assert found.amount == at
    assert found.simulated.within_95 == found.chosen.within_95 == 4 / float(at)


def test_a_delta_that_joint_or_laplace_noise_does_not_need_leaves_the_ladder() -> None:
    found = forecast_of(blocks(delta="0.000001"), rehearsed(), **FACTS)
    assert (found.noise_kind, found.amount) == ("laplace", "1")
    assert (
        forecast_of(blocks(noise="gaussian", delta="0.000001"), rehearsed(), **FACTS).noise_kind == "gaussian"
    )


def test_a_ladder_of_other_noise_says_nothing_of_means() -> None:
    joint = rehearsed(preview=PREVIEW.model_copy(update={"noise_kind": "joint"}))
    with pytest.raises(NoForecast, match="no forecast with laplace noise: the rehearsal has replayed joint"):
        forecast_of(blocks(noise="laplace"), joint, **FACTS)
    with pytest.raises(NoForecast, match="no forecast with joint noise"):
        forecast_of(blocks(noise="joint"), rehearsed(), **FACTS)
    check_noise("laplace", "median", joint.preview)


CLIPPED = {"noise": "gaussian", "delta": "0.000001", "clip_norm": 0.2}


def test_a_clip_norm_narrows_the_noise_and_moves_the_blocks_of_the_twin() -> None:
    wide = forecast_of(blocks(noise="gaussian", delta="0.000001"), rehearsed(), **FACTS)
    found = forecast_of(blocks(**CLIPPED), rehearsed(), **FACTS)
    assert found.chosen.noise_95 == pytest.approx(0.2 * (wide.chosen.noise_95 or 0), rel=1e-3)
    # all blocks say 40, a third of a half-range below the middle, and count as a fifth below it: 48
    assert found.rungs[-1].within_95 == pytest.approx(8 + 0.5, abs=found.rungs[-1].noise_95)
    assert found.rungs[-1].within_95 > 8
    simulated = [value - 41 for value in found.simulated.values]
    assert sum(simulated) / len(simulated) == pytest.approx(8, abs=1e-3)
    # joint and Laplace noise have no use for a ball, so it changes no word of theirs
    auto = blocks(delta="0.000001", clip_norm=1)
    assert (
        forecast_of(auto, rehearsed(), **FACTS).chosen == forecast_of(blocks(), rehearsed(), **FACTS).chosen
    )


A_CHOICE_THAT_WAS_NOT_REPLAYED_HAS_NONE = (
    (
        blocks(repeats=2, count_failures=True),
        "repeats and count_failures, which a rehearsal does not",
        False,
    ),
    (blocks(weights={"mean_age": 2}, noise="gaussian", delta="0.000001"), "with weights", False),
    (blocks(block_size=20, **CLIPPED), "With a clip norm there is a forecast for blocks of 10", False),
    (blocks(aggregator="auto", spread_ratio=8), "ask for clipped_mean, and for median", False),
    (blocks(aggregator="median"), "no forecast for this output at this block size", False),
    (blocks(block_size=7), "no forecast for this output at this block size", False),
    (blocks(block_size=7, noise="gaussian", delta="0.000001"), "for this output at this block", False),
)


def test_a_choice_that_was_not_replayed_has_none(subtests: pytest.Subtests) -> None:
    for asked, words, is_to_run in A_CHOICE_THAT_WAS_NOT_REPLAYED_HAS_NONE:
        with subtests.test(asked=asked, words=words, is_to_run=is_to_run):
            with pytest.raises(NoForecast, match=words) as refused:
                forecast_of(asked, rehearsed(), **FACTS)
            assert refused.value.is_to_run is is_to_run


@pytest.mark.parametrize(
    "asked",
    [
        PacRequest(name="pac", nats="0.3"),
        StabilityRequest(name="stability_calibrated", noise_multiplier=3),
    ],
)
def test_blocks_say_nothing_about_other_plans(asked: Any) -> None:
    runs = RUNS.model_copy(update={"half_samples": (), "leave_one_out": ()})
    with pytest.raises(NoForecast, match="which the rehearsal has not made") as refused:
        forecast_of(asked, rehearsed(runs=runs), **FACTS)
    assert refused.value.is_to_run
    unable = PREVIEW.model_copy(update={"unable_sampled": "600 runs take too long."})
    with pytest.raises(NoForecast, match="600 runs take too long") as refused:
        forecast_of(asked, rehearsed(runs=runs, preview=unable), **FACTS)
    assert not refused.value.is_to_run


def test_a_ladder_that_there_is_not_says_why() -> None:
    unable = Preview(unable="there are no two blocks")
    with pytest.raises(NoForecast, match="there are no two blocks"):
        forecast_of(blocks(), rehearsed(preview=unable), **FACTS)
    with pytest.raises(NoForecast, match="is not done"):
        forecast_of(blocks(), rehearsed(preview=None), **FACTS)


def test_what_no_job_could_ask_has_none() -> None:
    with pytest.raises(ValueError, match="weights name nobody"):
        forecast_of(blocks(weights={"nobody": 2}), rehearsed(), **FACTS)
