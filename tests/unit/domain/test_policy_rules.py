"""What a policy may say, and who decides under it."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from factories import (
    make_dataset,
    make_declaration,
    make_job_request,
    make_policy,
    mechanism_fields,
    policy_fields,
)

from domain.admission import (
    check_policy,
    check_project,
    epsilon_of,
    needs_approval,
    needs_review,
    why_approval,
    why_review,
)
from domain.errors import BudgetExceeded, InvalidRequest, NotAllowed
from domain.job import AnyRequest
from domain.mechanism import REQUESTS
from domain.model import parse
from domain.policy import MechanismName, Policy, changes, in_full
from domain.query import QueryRequest
from domain.query.request import MECHANISM
from domain.training.request import MECHANISM as TRAINING

PAC = {"name": "pac", "nats": "0.03125"}
QUERY = {"dataset": "heights", "query": {"kind": "count"}, "epsilon": "0.5"}


def problem_of(**fields: Any) -> str:
    with pytest.raises(InvalidRequest) as refusal:
        make_policy(**fields)
    return str(refusal.value)


def test_the_names_of_mechanisms_are_those_that_there_are():
    assert set(get_args(MechanismName)) == {*REQUESTS, MECHANISM, TRAINING}


def test_what_was_declared_before_is_dumped_as_before():
    """A field that nobody set is not in it; but for isolation, which says always what was chosen."""
    assert set(make_policy(accepted_channels=[]).model_dump()) == {
        "data_users", "images", "guarantees", "max_epsilon_per_job", "min_block_size", "max_wall_seconds",
        "max_memory_mib", "max_processes", "max_scratch_mib", "reviewed_pipelines", "approve_jobs",
        "review_releases", "timing", "isolation",
    }  # fmt: skip


WHAT_IS_SET_IS_DUMPED_AND_READ_BACK = (
    {"mechanisms": ["pac"]},
    {"max_epsilon_per_project": "3"},
    {"max_values": 100},
    {"approve_jobs_above": "0.5"},
    {"review_releases_above": "0.5"},
    {"reviewers": ["rival"]},
    {"reviewers": ["rival"], "votes": 2},
    {"review_twin": True},
    {"isolation": "shared"},
    {"accepted_channels": ["pipe_count", "mount_numbers"]},
)


def test_what_is_set_is_dumped_and_read_back(subtests: pytest.Subtests):
    for fields in WHAT_IS_SET_IS_DUMPED_AND_READ_BACK:
        with subtests.test(fields=fields):
            policy = make_policy(**fields)
            assert set(fields) <= set(policy.model_dump())
            assert parse(Policy, policy.model_dump(mode="json")) == policy
            assert set(changes(make_policy(), policy)) == set(fields)


WHAT_CONTRADICTS_ITSELF_IS_REFUSED_AT_ITS_FIELD = (
    ({"approve_jobs": True, "approve_jobs_above": "1"}, "approve_jobs_above: has no meaning beside"),
    ({"review_releases": True, "review_releases_above": "1"}, "review_releases_above: has no meaning"),
    ({"reviewers": ["rival", "rival"]}, "reviewers: names rival twice"),
    ({"mechanisms": ["pac", "pac"]}, "mechanisms: names pac twice"),
    ({"mechanisms": []}, "mechanisms:"),
    ({"mechanisms": ["magic"]}, "mechanisms.0:"),
    ({"votes": 2}, "votes: 2 needs somebody beside the owner"),
    ({"votes": 3, "reviewers": ["rival"]}, "votes:"),
    ({"max_epsilon_per_project": "0"}, "max_epsilon_per_project:"),
    ({"max_values": 0}, "max_values:"),
    ({"max_values": 401}, "max_values:"),
    ({"approve_jobs_above": "much"}, "approve_jobs_above:"),
)


def test_what_contradicts_itself_is_refused_at_its_field(subtests: pytest.Subtests):
    for fields, said in WHAT_CONTRADICTS_ITSELF_IS_REFUSED_AT_ITS_FIELD:
        with subtests.test(fields=fields, said=said):
            assert problem_of(**fields).startswith(said)


def test_a_limit_for_projects_needs_an_account_of_epsilon():
    with pytest.raises(InvalidRequest, match="max_epsilon_per_project needs losses that are counted"):
        make_declaration(
            accounting="zcdp", budget_delta="0.00001", policy=policy_fields(max_epsilon_per_project="1")
        )


def request_for(**fields: Any) -> AnyRequest:
    return make_job_request(**fields)


RULES_WITH_A_THRESHOLD = (("approve_jobs", needs_approval), ("review_releases", needs_review))


REQUESTS_ABOUT_A_THRESHOLD = {
    "at it": (request_for(epsilon="0.5"), False, False),
    "just above": (request_for(epsilon="0.500001"), True, False),
    "far above": (request_for(epsilon="2"), True, True),
    "no epsilon": (request_for(mechanism=PAC), True, True),
    "query at it": (parse(QueryRequest, QUERY), False, False),
    "query above": (parse(QueryRequest, QUERY | {"epsilon": "0.6"}), True, False),
}


def test_a_threshold_decides_who_waits(subtests: pytest.Subtests):
    for rule, decides in RULES_WITH_A_THRESHOLD:
        for name, (request_, at_half, at_one) in REQUESTS_ABOUT_A_THRESHOLD.items():
            with subtests.test(name, rule=rule, decides=decides):
                assert decides(request_, make_policy(**{rule: True}))
                assert not decides(request_, make_policy())
                assert decides(request_, make_policy(**{f"{rule}_above": "0.5"})) is at_half
                assert decides(request_, make_policy(**{f"{rule}_above": "1"})) is at_one


def test_the_rule_that_holds_a_job_back_is_named():
    policy = make_policy(approve_jobs_above="0.4", review_releases=True)
    assert why_approval(make_job_request(), policy) == "Its epsilon of 0.5 is above 0.4."
    assert why_review(make_job_request(), policy) == "All releases are reviewed."
    assert "pac has no epsilon to compare with 0.4" in str(
        why_approval(make_job_request(mechanism=PAC), policy)
    )
    assert epsilon_of(make_job_request(mechanism=PAC)) is None


def test_only_the_mechanisms_that_are_named_may_be_asked():
    only_queries = make_dataset(
        declaration=make_declaration(policy=policy_fields(mechanisms=["trusted_query"]))
    )
    with pytest.raises(NotAllowed, match="does not allow sample_aggregate"):
        check_policy(make_job_request(), only_queries)
    check_policy(parse(QueryRequest, QUERY), only_queries)
    named = policy_fields(mechanisms=[mechanism_fields()["name"]])
    check_policy(make_job_request(), make_dataset(declaration=make_declaration(policy=named)))


def test_a_project_may_take_as_much_as_its_limit():
    limited = make_dataset(declaration=make_declaration(policy=policy_fields(max_epsilon_per_project="1.5")))
    check_project(limited, project="sleep", micro_epsilon=1_500_000)
    with pytest.raises(BudgetExceeded, match=r"would take 1\.500001 together, over the 1\.5"):
        check_project(limited, project="sleep", micro_epsilon=1_500_001)
    check_project(make_dataset(), project="sleep", micro_epsilon=10**12)


def test_every_field_has_a_value_in_full():
    assert in_full(make_policy())["mechanisms"] is None
    assert in_full(make_policy(votes=2, reviewers=["rival"]))["votes"] == 2
    assert changes(make_policy(), make_policy(data_users=["bob"])) == {"data_users": (["ada"], ["bob"])}
