"""What may be asked of each mechanism, what it becomes, and what a policy admits of it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, get_args

import pytest
from factories import (
    make_dataset,
    make_declaration,
    make_job_request,
    make_manifest,
    make_pipeline,
    mechanism_fields,
    policy_fields,
)

from domain.admission import check_policy
from domain.errors import InvalidRequest, NotAllowed
from domain.job import JobRequest
from domain.mechanism import REQUESTS, SampleAggregateRequest
from domain.model import parse
from domain.output_value import OutputValue, PersonValue
from privacy.cost import Cost, Currency
from privacy.loss import GuaranteeClass
from privacy.pac import Pac
from privacy.plan import Blocks, HalfSamples, LeaveOneOut
from privacy.sample_aggregate import SampleAggregate
from privacy.stability import StabilityCalibrated
from privacy.two_step import TwoStepMean

E, D, R, N, C = Currency.EPSILON, Currency.DELTA, Currency.RHO, Currency.NATS, Currency.RELEASES
GAUSSIAN = {"noise": "gaussian", "delta": "0.0001"}
PAC = {"name": "pac", "nats": "0.03125"}
STABILITY = {"name": "stability_calibrated", "noise_multiplier": 2}
TWO = [{"name": "mean", "lower": 0, "upper": 1}, {"name": "sd", "lower": 0, "upper": 1}]
CLASSES = [str(guarantee) for guarantee in GuaranteeClass]


def asking(**mechanism: Any) -> JobRequest:
    fields = mechanism if "name" in mechanism else mechanism_fields(**mechanism)
    return make_job_request(mechanism=fields)


def asking_for_two(**mechanism: Any) -> JobRequest:
    manifest = make_manifest(outputs=[{"file": "result.tsv", "values": TWO}])
    shape = {"file": "result.tsv", "rows": [["mean", "sd"], [None, None]]}
    return make_job_request(
        pipeline=make_pipeline(manifest=manifest).model_dump(),
        shape={"files": [shape]},
        mechanism=mechanism_fields(**mechanism),
    )


def built(request: JobRequest, **declared: Any) -> Any:
    return request.mechanism_for(make_declaration(**declared))


def test_there_is_a_model_for_every_mechanism_of_black_boxes() -> None:
    names = [get_args(model.model_fields["name"].annotation)[0] for model in REQUESTS.values()]
    assert names == list(REQUESTS) == [kind.mechanism for kind in (SampleAggregate, StabilityCalibrated, Pac)]


def test_the_defaults_are_the_plainest_mechanism() -> None:
    found = built(asking())
    assert found == SampleAggregate(
        grids=found.grids, blocks=6, people=60, micro_epsilon=500_000, noise="auto"
    )
    assert (asking().guarantee, asking().mechanism_name) == (GuaranteeClass.PURE_DP, "sample_aggregate")
    assert asking().title == "mean-age"


def test_every_choice_reaches_the_mechanism() -> None:
    request = asking_for_two(
        epsilon="2",
        block_size=5,
        repeats=3,
        aggregator="auto",
        spread_ratio=12.5,
        weights={"sd": 3},
        count_failures=True,
        interval="sampling",
    )
    found = built(request)
    assert found == SampleAggregate(
        grids=found.grids,
        blocks=12,
        people=60,
        micro_epsilon=2_000_000,
        repeats=3,
        aggregator="auto",
        spread_ratios=(Fraction(25, 2),) * 2,
        noise="auto",
        weights=(1, 3),
        count_failures=True,
        interval="sampling",
    )
    assert request.schedule(make_declaration(), slots=2).runs == 36
    assert request.choices()["weights"] == {"sd": 3}


def test_gaussian_noise_is_another_promise_and_costs_a_delta() -> None:
    request = asking(**GAUSSIAN)
    assert request.guarantee is built(request).guarantee is GuaranteeClass.APPROX_DP
    assert request.cost(make_declaration()) == Cost.of({E: 500_000, D: 10**14})


def test_where_rho_is_counted_a_job_costs_what_its_mechanism_proves() -> None:
    declared = {"accounting": "zcdp", "budget_delta": "1e-6"}
    two, one = asking_for_two(epsilon="1"), asking(epsilon="1")
    # two parts of epsilon 1/2 each: 2 (1/2)^2 / 2, half of what they would cost as one
    assert one.cost(make_declaration(**declared)) == Cost.of({R: 500_000_000_000})
    assert two.cost(make_declaration(**declared)) == Cost.of({R: 250_000_000_000})
    gaussian = asking(**GAUSSIAN)
    assert gaussian.cost(make_declaration(**declared)) == Cost.of({R: built(gaussian).pico_rho})
    assert asking(**PAC).cost(make_declaration(**declared)) == Cost.of({N: 31_250})


def test_pac_asks_for_the_half_samples() -> None:
    request = asking(**PAC)
    found = built(request)
    assert (request.guarantee, request.mechanism_name) == (GuaranteeClass.PAC, "pac")
    assert found == Pac(grids=found.grids, micro_nats=31_250)
    assert found.plan == HalfSamples()
    assert request.cost(make_declaration()) == Cost.of({N: 31_250})
    assert request.schedule(make_declaration(), slots=2).runs == 64
    assert request.once_key(snapshot="d-1") is None


def test_stability_leaves_out_as_many_people_as_are_declared() -> None:
    request = asking(**STABILITY)
    found = built(request)
    assert (request.guarantee, request.mechanism_name) == (GuaranteeClass.EMPIRICAL, "stability_calibrated")
    assert found == StabilityCalibrated(grids=found.grids, people=60, micro_epsilon_prime=500_000)
    assert found.plan == LeaveOneOut(60)
    assert request.cost(make_declaration()) == Cost.of({C: 1})


@pytest.mark.parametrize(
    ("multiplier", "prime"), [(0.1, 10_000_000), (3, 333_333), (1000, 1_000), (0.7, 1_428_571)]
)
def test_the_noise_is_never_below_the_multiplier(multiplier: float, prime: int) -> None:
    found = built(asking(name="stability_calibrated", noise_multiplier=multiplier))
    assert found.micro_epsilon_prime == prime
    assert found.noise_multiplier >= Fraction(str(multiplier))


def test_only_stability_releases_once_and_once_for_each_code_and_snapshot() -> None:
    key = asking(**STABILITY).once_key(snapshot="d-1")
    assert key == asking(**{**STABILITY, "noise_multiplier": 3}).once_key(snapshot="d-1")
    assert key != asking(**STABILITY).once_key(snapshot="d-2")
    other = make_job_request(mechanism=STABILITY, pipeline={"manifest": make_manifest(name="b").model_dump()})
    assert key != other.once_key(snapshot="d-1")
    assert asking().once_key(snapshot="d-1") is None


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"noise": "gaussian"}, "mechanism", "noise gaussian needs a delta"),
    ({"noise": "laplace", "delta": "1e-6"}, "mechanism", "delta belongs to noise gaussian or auto"),
    ({"noise": "joint", "delta": "1e-6"}, "mechanism", "delta belongs to noise gaussian or auto"),
    ({"noise": "joint", "aggregator": "median"}, "mechanism", "noise joint is for means"),
    ({**GAUSSIAN, "aggregator": "median"}, "mechanism", "gaussian goes with aggregator clipped_mean"),
    ({"clip_norm": 0.5}, "mechanism", "clip_norm goes with noise gaussian or auto and a delta"),
    ({**GAUSSIAN, "clip_norm": 0}, "mechanism.clip_norm", "is below 0.001."),
    ({**GAUSSIAN, "clip_norm": 21}, "mechanism.clip_norm", "is above 20."),
    ({"aggregator": "auto"}, "mechanism", "aggregator auto needs spread_ratio"),
    ({"spread_ratio": 6}, "mechanism", "spread_ratio belongs to aggregator auto"),
    ({"aggregator": "auto", "spread_ratio": 0.5}, "mechanism.spread_ratio", "is below 1."),
    ({"aggregator": "mode"}, "mechanism.aggregator", "must be clipped_mean, median, two_step or auto."),
    ({"repeats": 101}, "mechanism.repeats", "is above 100."),
    ({"weights": {"mean_age": 1.5}}, "mechanism.weights.mean_age", "whole number"),
    ({"weights": {"mean_age": 1001}}, "mechanism.weights.mean_age", "is above 1000."),
    ({"weights": {"sd": 2}}, "body", "weights name sd, which is no output; there are mean_age"),
    ({"count_failures": "perhaps"}, "mechanism.count_failures", "true or false"),
    ({"interval": "both"}, "mechanism.interval", "must be noise or sampling."),
    ({"nats": "1"}, "mechanism.nats", "is not a known field"),
    ({"name": "pac"}, "mechanism.nats", "is missing"),
    ({"name": "pac", "nats": 0}, "mechanism.nats", "nats must be above zero"),
    ({"name": "pac", "nats": "0.1", "epsilon": "1"}, "mechanism.epsilon", "is not a known field"),
    ({"name": "stability_calibrated", "noise_multiplier": 0}, "mechanism.noise_multiplier", "is below"),
    ({"name": "stability_calibrated", "noise_multiplier": "2"}, "mechanism.noise_multiplier", "number"),
    ({"name": "jackknife"}, "mechanism.name", "is none that is known"),
]  # fmt: skip


def test_what_does_not_fit_is_refused_by_name(subtests: pytest.Subtests) -> None:
    for mechanism, field, words in BAD:
        with subtests.test(mechanism=mechanism, field=field, words=words):
            with pytest.raises(InvalidRequest) as refusal:
                asking(**mechanism)
            problem = refusal.value.problems[0]
            assert problem.field == field
            assert words in problem.problem


def test_an_unknown_mechanism_is_told_which_there_are() -> None:
    with pytest.raises(InvalidRequest) as refusal:
        asking(name="jackknife")
    assert refusal.value.problems[0].fix == "There are sample_aggregate, stability_calibrated, pac."


def asking_for_many(count: int, mechanism: dict[str, Any]) -> JobRequest:
    values = [{"name": f"v{number}", "lower": 0, "upper": 1} for number in range(count)]
    manifest = make_manifest(outputs=[{"file": "result.tsv", "values": values}])
    return make_job_request(
        pipeline=make_pipeline(manifest=manifest).model_dump(),
        shape={"files": [{"file": "result.tsv", "rows": [[None] * count]}]},
        mechanism=mechanism,
    )


@pytest.mark.parametrize("mechanism", [mechanism_fields(noise="laplace"), PAC, STABILITY])
def test_only_joint_and_gaussian_noise_take_more_than_twenty_values(mechanism: dict[str, Any]) -> None:
    asking_for_many(20, mechanism)
    with pytest.raises(InvalidRequest, match="at most 20 values: each one shares the loss"):
        asking_for_many(21, mechanism)
    for chosen in (GAUSSIAN, {}, {"noise": "joint"}):
        many = asking_for_many(400, mechanism_fields(**chosen))
        assert len(built(many).grids) == 400


def test_a_clip_norm_is_exact_and_a_question_of_its_own() -> None:
    asked = asking_for_many(400, mechanism_fields(**GAUSSIAN, clip_norm=7.1))
    assert built(asked).clip_norm == Fraction(71, 10)
    assert asked.mechanism.asked(outputs=400)["clip_norm"] == 7.1
    assert "clip_norm" not in asking_for_many(400, mechanism_fields(**GAUSSIAN)).mechanism.asked(outputs=400)
    for least in (asking(**GAUSSIAN, clip_norm=1.5), asking(**GAUSSIAN, clip_norm=20)):
        with pytest.raises(ValueError, match=r"to the root of the number of outputs \(1\)"):
            built(least)


def test_auto_is_joint_noise_for_several_values_and_laplace_noise_for_one() -> None:
    assert (built(asking()).resolved_noise, built(asking_for_two()).resolved_noise) == ("laplace", "joint")
    delta = asking_for_two(delta="0.0001")
    # what the request may come to, and what it came to
    assert (delta.guarantee, built(delta).guarantee) == (GuaranteeClass.APPROX_DP, GuaranteeClass.PURE_DP)
    assert delta.cost(make_declaration()) == Cost.of({E: 500_000})


def test_auto_does_not_pay_an_account_of_rho_for_one_piece() -> None:
    declared = {"accounting": "zcdp", "budget_delta": "1e-6"}
    found = [
        built(asking_for_two(**chosen), **declared).resolved_noise
        for chosen in (
            {},
            {"delta": "0.0001"},
            {"delta": "0.0001", "aggregator": "median"},
            {"noise": "joint"},
        )
    ]
    assert found == ["laplace", "gaussian", "laplace", "joint"]


def test_a_request_from_before_there_was_joint_noise_is_the_same_question() -> None:
    place = {"dataset_id": "d-1", "image_digest": None}
    one, laplace = asking(), asking(noise="laplace")
    assert one.question(**place) == laplace.question(**place)
    assert "noise" not in laplace.mechanism.asked(outputs=1)
    assert "noise" not in asking_for_two(noise="laplace").mechanism.asked(outputs=2)
    assert asking_for_two().question(**place) != asking_for_two(noise="laplace").question(**place)
    assert asking(delta="0.0001").question(**place) != one.question(**place)


def refused(request: JobRequest, *, policy: dict[str, Any] | None = None, **declared: Any) -> Any:
    fields = policy_fields(**{"guarantees": CLASSES, **(policy or {})})
    dataset = make_dataset(declaration=make_declaration(policy=fields, **declared))
    with pytest.raises((InvalidRequest, NotAllowed)) as refusal:
        check_policy(request, dataset)
    return refusal.value.problems[0]


@pytest.mark.parametrize(
    ("mechanism", "guarantee"), [(GAUSSIAN, "approx_dp"), (PAC, "pac"), (STABILITY, "empirical")]
)
def test_every_class_needs_the_policys_word(mechanism: dict[str, Any], guarantee: str) -> None:
    problem = refused(asking(**mechanism), policy={"guarantees": ["pure_dp"]})
    assert problem.field == "mechanism"
    assert f"promises {guarantee}, which the policy of heights does not allow" in problem.problem
    assert problem.fix == "Allowed: pure_dp."
    assert refused(asking(**mechanism), policy={"guarantees": []}).fix == "Allowed: none."


def test_a_delta_is_at_most_a_tenth_of_one_in_the_nominal_size() -> None:
    dataset = make_dataset(declaration=make_declaration(policy=policy_fields(guarantees=CLASSES)))
    check_policy(asking(noise="gaussian", delta="0.001666666666666666"), dataset)
    problem = refused(asking(noise="gaussian", delta="0.001666666666666667"))
    assert problem.field == "mechanism.delta"
    assert problem.fix == "Use 0.001666666666666666 or less."


def test_stability_is_for_pipelines_that_somebody_has_read() -> None:
    request = asking(**STABILITY)
    problem = refused(request)
    assert problem.field == "pipeline"
    assert request.pipeline.digest in problem.problem
    fields = policy_fields(guarantees=CLASSES, reviewed_pipelines=[request.pipeline.digest])
    check_policy(request, make_dataset(declaration=make_declaration(policy=fields)))


@pytest.mark.parametrize("digest", ["mean-age", "sha256:" + "g" * 64, "sha256:" + "0" * 63, ""])
def test_a_reviewed_pipeline_is_named_by_its_digest(digest: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        make_declaration(policy=policy_fields(reviewed_pipelines=[digest]))
    assert refusal.value.problems[0].field == "policy.reviewed_pipelines.0"


def test_too_many_runs_are_refused_with_a_way_out() -> None:
    problem = refused(asking(block_size=10, repeats=100), nominal_size=1_000_000)
    assert problem.field == "mechanism.block_size"
    assert problem.fix == "Use 100 or more, or fewer repeats."
    assert built(asking(block_size=100, repeats=100), nominal_size=1_000_000).plan == Blocks(
        10_000, 1_000_000, 100
    )


def test_what_only_the_mechanism_can_refuse_names_the_mechanism() -> None:
    digest = asking(**STABILITY).pipeline.digest
    problem = refused(asking(**STABILITY), policy={"reviewed_pipelines": [digest]}, nominal_size=9)
    assert problem.field == "mechanism"
    assert "from 10 to" in problem.problem
    assert refused(asking(name="pac", nats="0.6")).field == "mechanism"


WIDE = [OutputValue(name="wide", lower=0, upper=1000)]


def in_steps(**chosen):
    asked = {"name": "sample_aggregate", "epsilon": "2", "block_size": 1, "spread_ratio": 200, **chosen}
    return parse(SampleAggregateRequest, asked)


def test_two_steps_are_taken_where_asked_and_by_auto_where_they_win():
    two = in_steps(aggregator="two_step").build(WIDE, nominal_size=60)
    assert isinstance(two, TwoStepMean)
    many = [OutputValue(name=f"wide_{k}", lower=0, upper=1000) for k in range(10)]
    assert isinstance(in_steps(aggregator="auto").build(many, nominal_size=195), TwoStepMean)
    # with enough blocks for its share of epsilon a median is better, and with a narrow range one step is
    assert isinstance(in_steps(aggregator="auto").build(WIDE, nominal_size=60), SampleAggregate)
    close = in_steps(aggregator="auto", spread_ratio=5).build(WIDE, nominal_size=25)
    assert isinstance(close, SampleAggregate)
    one = in_steps(aggregator="two_step").in_one_step(WIDE, nominal_size=60)
    assert (one.aggregators, one.spread_ratios) == (("clipped_mean",), None)


def test_two_steps_are_refused_where_they_make_no_sense():
    for chosen, words in (
        ({"spread_ratio": None}, "aggregator two_step needs spread_ratio"),
        ({"interval": "sampling"}, "without interval sampling"),
        ({"noise": "auto", "delta": "0.0001"}, "goes without a delta"),
    ):
        with pytest.raises(InvalidRequest, match=words):
            in_steps(aggregator="two_step", **chosen)
    with pytest.raises(ValueError, match="narrow enough"):
        in_steps(aggregator="two_step", spread_ratio=5).build(WIDE, nominal_size=60)
    part = PersonValue(name="q", lower=0, upper=1, quantile=0.5)
    with pytest.raises(ValueError, match="two_step is not for sums, quantiles"):
        in_steps(aggregator="two_step").build([part], nominal_size=60)


def test_each_output_may_have_a_ratio_of_its_own():
    values = [OutputValue(name=name, lower=0, upper=1000) for name in ("a", "b")]
    own = {"spread_ratio": None, "epsilon": "8"}
    found = in_steps(aggregator="two_step", spread_ratios={"b": 900.5, "a": 300}, **own)
    found.check_outputs(["a", "b"])
    assert found.build(values, nominal_size=60).spread_ratios == (300, Fraction(1801, 2))
    for wrong in ({"a": 300}, {"a": 300, "b": 2, "c": 3}):
        with pytest.raises(ValueError, match="one for each of a, b"):
            in_steps(aggregator="auto", spread_ratios=wrong, **own).check_outputs(["a", "b"])
    with pytest.raises(InvalidRequest, match="leave it out beside spread_ratios"):
        in_steps(aggregator="auto", spread_ratios={"a": 300})
