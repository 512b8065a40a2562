"""From login to a release, typed as a person types it, on both databases."""

from __future__ import annotations

import json
import uuid

import pytest
from terminal import Platform, ready_pipeline
from waiting import wait_until

from domain.job import own_id
from dpgate.cli.exit_codes import ExitCode

DATA = "routed"


@pytest.fixture(scope="module", autouse=True)
def data(platform: Platform) -> None:
    """A budget that only these tests spend."""
    platform.dataset(DATA)


def test_a_researcher_gets_a_release(platform: Platform) -> None:
    ada = platform.ada
    assert ada.ok("login").out.startswith("Logged in as ada (researcher)")
    assert DATA in ada.ok("datasets").out
    folder = ready_pipeline(platform, DATA, "route")
    assert "pure_dp" in ada.ok("preview", folder, "--want", "mean_age=20").out

    printed = ada.process("submit", folder, "--epsilon", "1", "--anyway", "--wait")
    assert printed.code == 0, printed
    assert "mean_age" in printed.out
    assert "Guarantee class pure_dp, epsilon 1." in printed.out

    job = ada.ok("status", "--json").json[0]
    assert job["state"] == "RELEASED"
    assert job["id"] in ada.ok("status").out
    assert "RELEASED" in ada.ok("status", job["id"]).out
    ada.ok("result", job["id"], "-o", "route-results")
    text = (ada.folder / "route-results" / "result.csv").read_text(encoding="utf-8")
    assert text.startswith("mean_age\n")


def test_every_step_speaks_json(platform: Platform) -> None:
    ada = platform.ada
    assert ada.ok("login", "--json").json == {"name": "ada", "role": "data_user", "profile": "default"}
    assert DATA in [dataset["name"] for dataset in ada.ok("datasets", "--json").json]
    assert ada.ok("twin", DATA, "-o", "twin-json", "--json").json["files"] == [
        "TWIN-README.md",
        "people.csv",
    ]
    folder = ready_pipeline(platform, DATA, "json")
    locked = ada.ok("run", folder, "--twin", "twin-json", "--block-size", 3, "--json").json
    assert locked["shape"]["files"][0]["rows"] == [["mean_age"], [None]]
    foreseen = ada.ok("preview", folder, "--want", "mean_age=20", "--json").json
    assert foreseen["guarantee"] == "pure_dp"
    assert float(foreseen["epsilon_needed"]) > 0

    release = ada.ok("submit", folder, "--epsilon", "1.5", "--wait", "--json").json
    value = release["values"][0]
    assert value["lower_95"] < value["value"] < value["upper_95"]
    assert release["guarantee"] == "pure_dp"
    assert ada.ok("result", release["job_id"], "--json").json == release
    budget = ada.ok("budget", DATA, "--json").json
    assert budget["accounting"] == "pure_sum"
    assert float(budget["accounts"][0]["spent"]) >= 1.5


def test_the_same_id_is_one_job(platform: Platform) -> None:
    folder = ready_pipeline(platform, DATA, "same-id")
    job_id = str(uuid.uuid4())
    again = ["submit", folder, "--epsilon", "0.1", "--job-id", job_id, "--json"]
    own = platform.ada.ok(*again).json["id"]
    assert platform.ada.ok(*again).json["id"] == own == own_id("ada", job_id)
    other = platform.ada("submit", folder, "--epsilon", "0.2", "--job-id", job_id)
    assert other.code == ExitCode.CONFLICT
    for either in (job_id, own):
        platform.ada.ok("result", either, "--wait")


def test_the_identical_question_is_answered_at_no_cost(platform: Platform) -> None:
    folder = ready_pipeline(platform, DATA, "identical")
    first = platform.ada.ok("submit", folder, "--epsilon", "0.3", "--wait", "--json").json
    before = platform.ada.ok("budget", DATA, "--json").json
    second = platform.ada.ok("submit", folder, "--epsilon", "0.30", "--wait", "--json").json
    assert second["values"] == first["values"]
    assert platform.ada.ok("budget", DATA, "--json").json == before


def test_a_job_that_waits_for_approval_is_withdrawn_or_decided(platform: Platform) -> None:
    platform.dataset("approved", approve_jobs=True)
    folder = ready_pipeline(platform, "approved", "approval")
    submit = ["submit", folder, "--epsilon", "0.5", "--json"]

    withdrawn = platform.ada.ok(*submit).json
    assert withdrawn["state"] == "SUBMITTED"
    assert "CANCELLED" in platform.ada.ok("cancel", withdrawn["id"]).out
    assert "nothing charged" in platform.ada.ok("status", withdrawn["id"]).out
    assert platform.ada("result", withdrawn["id"], "--wait").code == ExitCode.NOT_RELEASED

    rejected = platform.ada.ok(*submit).json
    assert (
        platform.holder.ok("decide", rejected["id"], "reject", "--reason", "no use", "--json").json["state"]
        == "REJECTED"
    )
    left = platform.ada.ok("budget", "approved", "--json").json["accounts"][0]
    assert (left["spent"], left["reserved"]) == ("0", "0")

    approved = platform.ada.ok(*submit).json
    assert "QUEUED" in platform.holder.ok("decide", approved["id"], "approve").out
    assert platform.ada.ok("result", approved["id"], "--wait", "--json").json["job_id"] == approved["id"]


@pytest.mark.parametrize(
    ("decision", "code"), [("release", ExitCode.OK), ("withhold", ExitCode.NOT_RELEASED)]
)
def test_a_release_in_review_is_read_only_after_the_decision(
    platform: Platform, decision: str, code: ExitCode
) -> None:
    platform.dataset(f"review-{decision}", review_releases=True)
    folder = ready_pipeline(platform, f"review-{decision}", f"for-{decision}")
    job = platform.ada.ok("submit", folder, "--epsilon", "0.5", "--json").json
    wait_until(lambda: platform.ada.ok("status", job["id"], "--json").json["state"] == "IN_REVIEW")
    early = platform.ada("result", job["id"], "--json")
    assert early.code == ExitCode.CONFLICT
    assert "IN_REVIEW" in early.json["error"]
    seen = platform.holder.ok("review", job["id"], "--json").json
    platform.holder.ok("decide", job["id"], decision, "--reason", "as agreed")
    answer = platform.ada("result", job["id"], "--json")
    assert answer.code == code
    assert "values" not in answer.json or answer.json["values"] == seen["values"]


def test_custody_and_operation(platform: Platform) -> None:
    assert "cap" not in platform.holder.ok("allot", DATA, "--user", "ada", "--epsilon", "4").err
    project = ["allot", DATA, "--project", "sizes", "--member", "ada", "--epsilon", "0.5", "--json"]
    assert platform.holder.ok(*project).json["cap"] == "0.5"
    assert "sizes" in platform.ada.ok("budget", DATA).out

    operator = platform.operator
    (listed,) = [user for user in operator.ok("user", "list", "--json").json if user["name"] == "ada"]
    assert {"role": "data_user", "disabled": False}.items() <= listed.items()
    assert "rights holder" in operator.ok("user", "list").out
    image = operator.ok("image", "list", "--json").json[0]
    assert image["digest"] in operator.ok("image", "list").out
    assert operator("image", "approve", image["digest"]).code in (ExitCode.OK, ExitCode.CONFLICT)

    verdict = operator.ok("audit", "verify", "--json").json
    assert verdict["intact"]
    assert operator.ok("audit", "verify", "--expected-head", verdict["head"]).code == 0
    assert operator("audit", "verify", "--expected-head", "0" * 63 + "1").code == ExitCode.BROKEN_CHAIN


def test_a_release_is_verified_and_a_changed_one_is_not(platform: Platform) -> None:
    folder = ready_pipeline(platform, DATA, "verified")
    release = platform.ada.ok("submit", folder, "--epsilon", "0.7", "--wait", "--json").json
    path = platform.ada.folder / "route.json"
    path.write_text(json.dumps(release), encoding="utf-8")
    assert "pure_dp, epsilon 0.7" in platform.ada.ok("verify", path).out
    for change in ({"cost": {"epsilon": "0.1"}}, {"guarantee": "none"}, {"files": {}}, {"values": []}):
        path.write_text(json.dumps(release | change), encoding="utf-8")
        answer = platform.ada("verify", path, "--json")
        assert (answer.code, answer.json["fits"]) == (ExitCode.BROKEN_CHAIN, False)
