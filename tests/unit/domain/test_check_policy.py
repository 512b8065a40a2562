"""What a data set's policy refuses, in the words that the data user reads."""

from __future__ import annotations

import pytest
from factories import (
    make_dataset,
    make_declaration,
    make_file_shape,
    make_job_request,
    make_manifest,
    make_pipeline,
    make_shape,
    manifest_fields,
    policy_fields,
)

from domain.admission import check_policy, check_values
from domain.errors import InvalidRequest, NotAllowed
from domain.model import parse
from domain.pipeline import Manifest
from domain.policy import Policy, Timing
from privacy.loss import GuaranteeClass


def refused(error, *, request=None, policy=None, **declared):
    declaration = make_declaration(policy=policy_fields(**(policy or {})), **declared)
    with pytest.raises(error) as refusal:
        check_policy(make_job_request(**(request or {})), make_dataset(declaration=declaration))
    return refusal.value.problems[0]


def asking_for(**manifest):
    return {"pipeline": make_pipeline(manifest=make_manifest(**manifest)).model_dump()}


def test_a_request_within_policy_passes():
    check_policy(make_job_request(), make_dataset())


def test_epsilon_at_the_limit_passes_and_above_it_does_not():
    check_policy(make_job_request(epsilon=1), make_dataset())
    problem = refused(InvalidRequest, request={"epsilon": "1.000001"})
    assert (problem.field, problem.fix) == ("mechanism.epsilon", "Ask for 1 or less.")


def test_an_image_that_nobody_allowed():
    problem = refused(NotAllowed, policy={"images": []})
    assert problem.field == "pipeline.manifest.image"
    assert problem.fix == "Allowed: none yet; ask the rights holder."


def test_an_image_that_is_not_among_the_allowed():
    problem = refused(NotAllowed, request=asking_for(image="r"))
    assert "does not allow the image r" in problem.problem
    assert problem.fix == "Allowed: python."


def test_how_many_values_a_policy_and_a_budget_admit(subtests: pytest.Subtests):
    gaussian = ["pure_dp", "approx_dp"]
    for guarantees, mechanisms, budgets, most in (
        (["pure_dp"], None, {}, 400),
        (["approx_dp"], None, {}, 20),
        (["pac"], None, {"budget_delta": "0.01"}, 20),
        (gaussian, None, {"budget_delta": "0.01"}, 400),
        (gaussian, ["pac", "trusted_query"], {"budget_delta": "0.01"}, 20),
        (gaussian, ["sample_aggregate"], {"budget_delta": "0.01"}, 400),
    ):
        policy = policy_fields(guarantees=guarantees, **({"mechanisms": mechanisms} if mechanisms else {}))
        declared = make_declaration(policy=policy, **budgets)
        with subtests.test(msg=f"{guarantees} {mechanisms} {budgets}"):
            check_values(most, declared)
            with pytest.raises(InvalidRequest, match=f"gives {most + 1} values.*more than {most}"):
                check_values(most + 1, declared)


def test_more_values_than_the_policy_lets_one_release_hold():
    declared = make_declaration(policy=policy_fields(max_values=100))
    check_values(100, declared)
    with pytest.raises(InvalidRequest) as found:
        check_values(400, declared)
    (said,) = found.value.problems
    assert said.field == "pipeline.manifest.outputs"
    assert "gives 400 values, over the 100 that max_values in the policy of" in said.problem
    assert said.fix == "Declare 100 or fewer, or ask the rights holder to raise max_values."


def test_values_of_a_group_count_one_by_one():
    """The manifest has one name, the locked shape says that it stands for two values."""
    whole, row = [{"select": "*", "name": "x", "lower": 0, "upper": 1}], [[None, None]]
    request = make_job_request(
        **asking_for(outputs=[{"file": "a.tsv", "bounds": whole}]),
        shape=make_shape(make_file_shape(file="a.tsv", rows=row)).model_dump(mode="json"),
    )
    check_policy(request, make_dataset(declaration=make_declaration(policy=policy_fields(max_values=2))))
    with pytest.raises(InvalidRequest, match="gives 2 values, over the 1 that max_values"):
        check_policy(request, make_dataset(declaration=make_declaration(policy=policy_fields(max_values=1))))


def test_a_guarantee_that_the_policy_does_not_name():
    problem = refused(NotAllowed, policy={"guarantees": ["empirical"]})
    assert problem.field == "mechanism"
    assert "pure_dp" in problem.problem


def test_a_block_size_under_the_policy():
    problem = refused(InvalidRequest, policy={"min_block_size": 15})
    assert (problem.field, problem.fix) == ("mechanism.block_size", "Use 15 or more.")


def test_a_block_size_too_large_for_the_nominal_size():
    problem = refused(InvalidRequest, request={"block_size": 31})
    assert (problem.field, problem.fix) == ("mechanism.block_size", "Use 30 or less.")


def test_wall_time_over_the_policy():
    problem = refused(InvalidRequest, request=asking_for(resources={"wall_seconds": 61}))
    assert problem.field == "pipeline.manifest.resources.wall_seconds"
    assert problem.fix == "Use 60 or less."


def test_a_block_size_too_small_for_the_nominal_size():
    problem = refused(InvalidRequest, request={"block_size": 3}, nominal_size=1_000_000_000)
    assert (problem.field, problem.fix) == ("mechanism.block_size", "Use 1000 or more, or fewer repeats.")


def test_the_default_policy_allows_nobody_and_nothing():
    policy = Policy()
    assert (policy.data_users, policy.images) == ((), ())
    assert policy.guarantees == (GuaranteeClass.PURE_DP,)
    assert policy.max_micro_epsilon_per_job == 1_000_000


def test_the_sentences_say_what_the_timing_shows():
    assert "that delay may depend on the data" in Timing().sentence
    assert "rounded up to 5 s" in Timing(mode="coarse", step_seconds=5).sentence
    assert "hostile pipeline" in Timing(mode="coarse", step_seconds=5).sentence


@pytest.mark.parametrize(
    ("name", "default", "above"),
    [
        ("wall_seconds", 60, 60.5),
        ("memory_mib", 4096, 4097),
        ("processes", 256, 257),
        ("scratch_mib", 1024, 1025),
    ],
)
def test_resources_over_the_policy(name, default, above):
    check_policy(make_job_request(**asking_for(resources={name: default})), make_dataset())
    problem = refused(InvalidRequest, request=asking_for(resources={name: above}))
    assert problem.field == f"pipeline.manifest.resources.{name}"
    assert problem.problem == f"{above:g} is over the policy's {default:g}."
    assert problem.fix == f"Use {default:g} or less."


@pytest.mark.parametrize(("scratch", "allowed"), [(1024, 1024), (17, 17), (8, 16)])
def test_output_is_within_the_limit_of_scratch_and_the_default_always_allowed(scratch, allowed):
    dataset = make_dataset(declaration=make_declaration(policy=policy_fields(max_scratch_mib=scratch)))
    limits = {"scratch_mib": 1, "output_mib": allowed}
    check_policy(make_job_request(**asking_for(resources=limits)), dataset)
    limits["output_mib"] = allowed + 1
    policy = {"max_scratch_mib": scratch}
    problem = refused(InvalidRequest, policy=policy, request=asking_for(resources=limits))
    assert problem.field == "pipeline.manifest.resources.output_mib"
    assert problem.fix == f"Use {allowed} or less."


LIMITS_OF_A_RUN = (
    "wall_seconds",
    "memory_mib",
    "processes",
    "scratch_mib",
    "output_mib",
)


def test_a_limit_of_zero_is_refused_before_any_policy(subtests):
    for name in LIMITS_OF_A_RUN:
        for amount in (0, -1):
            with subtests.test(name=name, amount=amount):
                with pytest.raises(InvalidRequest) as refusal:
                    parse(Manifest, manifest_fields(resources={name: amount}))
                problem = refusal.value.problems[0]
                assert problem.field == f"resources.{name}"
                assert problem.fix.startswith("Use ")
                assert problem.fix.endswith(" or more.")
