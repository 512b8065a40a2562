"""Refusals of the catalogue are provoked, and say what to do in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from factories import (
    make_dataset,
    make_declaration,
    make_job_request,
    make_manifest,
    make_pipeline,
    make_user,
    policy_fields,
    table_fields,
)

from desk import rehearsals
from domain import acting, permissions
from domain.accepting import check_channels
from domain.admission import check_policy, check_project, check_values, check_version
from domain.dataset import DatasetState, Declaration
from domain.errors import RequestError
from domain.image import ImageKind, SyscallTable
from domain.job import check_job_id
from domain.model import parse
from domain.permissions import Permission, Role
from domain.places import place
from domain.refusals import fields
from domain.refusals.rooms import catalogue
from domain.scopes import Scope
from domain.states import Actor, JobState, transition
from domain.worker_profiles import check_workers
from gateway import access
from store.tokens import Caller

TESTS = Path(__file__).parents[2]
CLASSES = ["pure_dp", "approx_dp", "pac", "empirical"]
STABILITY = {"name": "stability_calibrated", "noise_multiplier": 1}
HOST = {"kind": ImageKind.HOST, "syscalls": SyscallTable.STRICT, "sandboxes": {"supervised"}}


def asked(policy: dict[str, Any] | None = None, through: str | None = None, **request: Any) -> None:
    dataset = make_dataset(declaration=make_declaration(policy=policy_fields(**(policy or {}))))
    check_policy(make_job_request(**request), dataset, through=through)


def manifest(**changes: Any) -> dict[str, Any]:
    return make_pipeline(manifest=make_manifest(**changes)).model_dump()


def declared(**changes: Any) -> Any:
    return make_dataset(declaration=make_declaration(**changes))


STRICT_ONLY = {"synthetic": True, "policy": policy_fields(timing={"mode": "coarse", "step_seconds": 1})}
PARQUET = {
    "tables": [table_fields(path="people.parquet")],
    "privacy_unit": {"table": "people.parquet", "column": "participant_id"},
}
SERVICE = make_user("ada").model_copy(update={"through": "service"})

PROVOKED: dict[str, tuple[Callable[[], Any], str]] = {
    "role": (
        lambda: permissions.check_allowed(make_user("maria"), Permission.USER_ADD),
        "You are logged in as maria (a researcher); only operators can add users. "
        "Use the login of one of them, or ask one.",
    ),
    "own_job": (
        lambda: permissions.check_independent(make_user("ada", Role.RIGHTS_HOLDER), author="ada"),
        "The author of a job cannot decide on it. Ask another rights holder.",
    ),
    "service": (
        lambda: acting.check_acting(SERVICE, Permission.TOKENS_OWN),
        "No service can make, list and revoke tokens of one's own for somebody. "
        "Log in yourself and do it there.",
    ),
    "service_for_role": (
        lambda: acting.check_can_be_acted_for(Role.OPERATOR),
        "No service acts for somebody who is an operator. Log in yourself and do it there.",
    ),
    "service_in_person": (
        lambda: asked({"in_person": True}, through="service"),
        "The policy of heights takes no jobs that a service submits for somebody. "
        "Log in yourself and submit it.",
    ),
    "not_ready": (
        lambda: make_dataset(state=DatasetState.IMPORTING).check_ready(),
        "dataset: heights is IMPORTING. Wait until it is READY.",
    ),
    "takes_nothing": (
        lambda: make_dataset(state=DatasetState.WITHDRAWN).check_ready(),
        "dataset: heights was withdrawn by its rights holder: it takes nothing new. What was released",
    ),
    "other_version": (
        lambda: check_version(make_job_request(dataset_version=2), make_dataset()),
        "dataset version: the pipeline ran on the twin of heights, version 2, and the job would run on "
        "version 1. Fetch the twin again",
    ),
    "mechanism": (
        lambda: asked({"mechanisms": ["trusted_query"]}),
        "mechanism: the policy of heights does not allow sample_aggregate. Allowed: trusted_query.",
    ),
    "guarantee": (
        lambda: asked({"guarantees": ["pac"]}),
        "mechanism: sample_aggregate promises pure_dp, which the policy of heights does not allow. "
        "Allowed: pac.",
    ),
    "epsilon": (
        lambda: asked(epsilon="3"),
        "epsilon: 3 is over the 1 that the policy of heights allows for one job. Ask for 1 or less.",
    ),
    "values": (
        lambda: check_values(5, make_declaration(policy=policy_fields(max_values=4))),
        "dpgate.yaml, outputs: the pipeline gives 5 values, over the 4 that max_values",
    ),
    "values_of_mechanisms": (
        lambda: check_values(401, make_declaration()),
        "dpgate.yaml, outputs: the pipeline gives 401 values, and no mechanism",
    ),
    "image": (
        lambda: asked(pipeline=manifest(image="r")),
        "dpgate.yaml, image: the rights holder of heights does not allow the image r. Allowed: python.",
    ),
    "channels": (
        lambda: check_channels(
            make_job_request(), declared(policy=policy_fields(accepted_channels=[])), **HOST
        ),
        "dpgate.yaml, image: the image is the host's own files, which are not kept in memory, so runs could",
    ),
    "parquet": (
        lambda: check_policy(make_job_request(), declared(**PARQUET)),
        "dataset: people.parquet of heights is a Parquet table, which pipelines do not get. Ask a trusted",
    ),
    "resources": (
        lambda: asked(pipeline=manifest(resources={"wall_seconds": 61})),
        "dpgate.yaml, resources, wall_seconds: 61 is over the policy's 60. Use 60 or less.",
    ),
    "block_too_small": (
        lambda: asked({"min_block_size": 15}, block_size=10),
        "block size: 10 is under the 15 that the policy asks for. Use 15 or more.",
    ),
    "block_too_large": (
        lambda: asked(block_size=31),
        "block size: a data set of nominal size 60 does not fill 2 blocks of 31. Use 30 or less.",
    ),
    "too_many_runs": (
        lambda: check_policy(
            make_job_request(
                mechanism={"name": "sample_aggregate", "epsilon": "0.5", "block_size": 10, "repeats": 100}
            ),
            declared(nominal_size=1_000_000),
        ),
        "block size: 100000 blocks, 100 times, are more than 1000000 runs. Use 100 or more, or fewer",
    ),
    "delta": (
        lambda: asked(
            {"guarantees": CLASSES},
            mechanism={"name": "sample_aggregate", "epsilon": "0.5", "noise": "gaussian", "delta": "0.01"},
        ),
        "delta: 0.01 is over 0.001666666666666666, a tenth of one in the nominal size. Use ",
    ),
    "not_reviewed": (
        lambda: asked({"guarantees": CLASSES}, mechanism=STABILITY),
        "pipeline: stability_calibrated is for pipelines whose code the rights holder has read; sha256:",
    ),
    "cannot_be_built": (
        lambda: check_policy(
            make_job_request(mechanism=STABILITY),
            declared(
                nominal_size=9,
                policy=policy_fields(guarantees=CLASSES, reviewed_pipelines=[make_pipeline().digest]),
            ),
        ),
        "mechanism: ",
    ),
    "project_limit": (
        lambda: check_project(
            declared(policy=policy_fields(max_epsilon_per_project="2")),
            project="walk",
            micro_epsilon=3_000_000,
        ),
        "project: the jobs of walk would take 3 together, over the 2 that the policy of heights allows",
    ),
    "only_synthetic": (
        lambda: check_workers(make_job_request(), make_dataset(), {"dev"}),
        "dataset: heights is not declared synthetic, and the workers isolate for development only. Ask",
    ),
    "only_padded": (
        lambda: check_workers(make_job_request(), declared(**STRICT_ONLY), {"strict"}),
        "dataset: heights does not pad its timing, and the workers isolate strictly. Ask",
    ),
    "job_id": (
        lambda: check_job_id("nope"),
        "job id: must be 8 to 64 letters, digits, - or _. `dpgate status` lists the ids of your jobs",
    ),
    "state": (
        lambda: transition(JobState.RELEASED, JobState.CANCELLED, Actor.DATA_USER),
        "This job is released, so it cannot be cancelled. Nothing about it changes any more.",
    ),
    "no_token": (
        lambda: access.current_caller(None, None, None),  # type: ignore[arg-type]
        "No token came with the request. Log in with `dpgate login --url https://dpgate.example.org`.",
    ),
    "token": (
        lambda: access.check_scope(Caller(make_user(), frozenset({Scope.READ})), Permission.JOB_SUBMIT),
        "This token is not made to submit a job. Use one with the scope submit.",
    ),
    "no_two_blocks": (
        lambda: rehearsals._check_size(SimpleNamespace(block_size=31), make_dataset()),
        "block size: nominal size 60 has no two blocks of 31. Use 30 or less.",
    ),
    "field_missing": (lambda: parse(Declaration, {}), "name: is missing. Add it."),
    "field_unknown": (
        lambda: make_declaration(colour="red"),
        "colour: is not a known field. Remove it, or check its spelling.",
    ),
    "field_nearly": (
        lambda: make_manifest(
            outputs=[{"file": "a.tsv", "values": [{"name": "m", "lower": 0, "upper": 1, "max": 4}]}]
        ),
        "output 1, value 1, max: is not a known field. Write upper in its place.",
    ),
    "field_form": (
        lambda: make_manifest(outputs=[{"file": "a.tsv", "values": [{"name": "mean height"}]}]),
        "output 1, value 1, name: is no name of a value. Begin with a letter",
    ),
    "field_kind": (
        lambda: parse(Declaration, []),
        "request: is not an object of names and values. Write an object of names and values.",
    ),
    "field_value": (lambda: make_declaration(nominal_size=0), "nominal size: "),
}

# what needs a database or a gateway: where a case gets it, and the words by which that case knows it; none
# where it knows it by its code
PROVOKED_ELSEWHERE: dict[str, tuple[str, str]] = {
    "no_dataset": ("integration/gateway/test_bad_jobs.py", "no data set"),
    "near_dataset": ("functional/on_platform/test_typical_mistakes.py", "Do you mean"),
    "other_request": ("integration/store/test_stored_jobs.py", "stands for another request"),
    "no_release": ("integration/store/test_stored_jobs.py", "no release to read"),
    "release_rewritten": (
        "integration/store/test_release_readers.py",
        "is not what the worker zone has signed",
    ),
    **dict.fromkeys(("doubtful", "anyway"), ("integration/gateway/test_doubtful_jobs.py", "")),
    "once": ("integration/store/test_stored_jobs.py", "releases once from"),
    "no_budget": ("integration/store/test_ledger.py", "has no budget of"),
    "over_budget": ("integration/gateway/test_budget.py", "is more than the"),
    "no_share": ("integration/store/test_ledger.py", "is allotted to a project"),
    "project_missing": ("integration/gateway/test_project_routes.py", "is missing: you may use"),
    "no_project": ("integration/gateway/test_project_routes.py", "there is no project"),
    "no_job": ("integration/store/test_stored_jobs.py", "no such job that you may see"),
    "no_image": ("integration/store/test_stored_users.py", "is approved on this platform"),
    "moved_on": ("integration/store/test_stored_jobs.py", "the job has just moved on"),
    "fresh_login": ("integration/gateway/test_step_up.py", ""),
    "project_over": ("integration/gateway/test_project_routes.py", ""),
    "no_grant": ("integration/gateway/test_project_routes.py", ""),
    **dict.fromkeys(
        (
            "no_rehearsal",
            "other_rehearsal",
            "rehearsals_wait",
            "rehearsal_state",
            "other_runs",
            "twin_too_large",
        ),
        ("integration/gateway/test_rehearsal_routes.py", ""),
    ),
}


def test_they_are_provoked_in_their_words(subtests: pytest.Subtests) -> None:
    known = catalogue()
    for code, (make, said) in PROVOKED.items():
        with subtests.test(code):
            with pytest.raises(RequestError) as caught:
                make()
            assert isinstance(caught.value, known[code].error)
            problem = caught.value.problems[0]
            assert problem.code == code
            assert problem.sentence.startswith(said), problem.sentence
    for code, (file, words) in PROVOKED_ELSEWHERE.items():
        with subtests.test(code):
            blank = re.sub(r"\{\w+\}", "", known[code].problem + known[code].fix)
            assert words in blank
            asked_for = words or f'"{code}"'
            assert asked_for in (TESTS / file).read_text(encoding="utf-8")
    assert set(known) == PROVOKED.keys() | PROVOKED_ELSEWHERE.keys()


def test_none_shows_what_is_ours_alone(subtests: pytest.Subtests) -> None:
    rights = [permission.value for permission in Permission]
    for code, refusal in catalogue().items():
        with subtests.test(code):
            shown = f"{place(refusal.field)}: {refusal.problem} {refusal.fix}"
            assert not [right for right in rights if right in shown]
            assert not re.search(r"pipeline\.manifest|mechanism\.|\.\d+\.|\^\[|Request\b|Error\b", shown)
            assert refusal.fix or refusal.problem == "{why}"


def test_each_form_of_a_field_has_its_words() -> None:
    sources = [
        path.read_text(encoding="utf-8")
        for room in ("domain", "desk", "gateway")
        for path in (TESTS.parent / room).rglob("*.py")
    ]
    found = {pattern for text in sources for pattern in re.findall(r'pattern=r?"([^"]+)"', text)}
    assert len(found) > 20
    for pattern in found:
        no, use = fields.form_of(pattern)
        assert no, use


def test_places_are_called_as_people_call_them() -> None:
    for field, name in (
        ("mechanism.epsilon", "epsilon"),
        ("pipeline.manifest", "dpgate.yaml"),
        ("pipeline.manifest.outputs.0.values.1", "dpgate.yaml, output 1, value 2"),
        ("declaration.tables.0.columns.2.categories.0", "dataset.yaml, table 1, column 3, category 1"),
        ("pipeline.sources.3.path", "source 4, path"),
        ("patienten.csv", "patienten.csv"),
        ("sub-01/anat/sub-01_T1w.nii.gz", "sub-01/anat/sub-01_T1w.nii.gz"),
        ("body", "request"),
        ("authorization", ""),
    ):
        assert place(field) == name
