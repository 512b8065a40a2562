"""Reviews from the command line: two votes, reasons, comments, and a twin that waits."""

from __future__ import annotations

from pathlib import Path

import pytest
from terminal import MEAN, Platform, Terminal, ready_pipeline, terminal
from waiting import wait_until

import dpgate
from dpgate.cli.exit_codes import ExitCode
from dpgate.credentials import Login
from dpgate.errors import RequestRefused

REASON = "the bounds are wider than anybody is old"


@pytest.fixture(scope="module")
def vera(one_platform: Platform) -> Terminal:
    """A second reviewer, of the data set `twice-read`."""
    added = one_platform.operator.ok("user", "add", "vera", "--role", "rights_holder", "--json").json
    rules = {"approve_jobs": True, "review_releases": True, "reviewers": ["vera"], "votes": 2}
    one_platform.dataset("twice-read", **rules, review_twin=True)
    return terminal(one_platform.folder / "vera", Login(one_platform.stack.url, added["token"]))


def asked(one_platform: Platform, epsilon: str) -> str:
    query = (
        "query",
        "submit",
        "{kind: count}",
        "--dataset",
        "twice-read",
        "--epsilon",
        epsilon,
        "--anyway",
        "--json",
    )
    return str(one_platform.ada.ok(*query).json["id"])


def test_the_twin_waits_for_two_votes(one_platform: Platform, vera: Terminal) -> None:
    early = one_platform.ada("twin", "twice-read")
    assert early.code == ExitCode.CONFLICT
    assert "have not yet approved the twin of version 1" in " ".join(early.err.split())
    assert "waiting" in one_platform.ada.ok("dataset", "twin-review", "twice-read").out
    vera.ok("twin", "twice-read")
    said = vera.ok("dataset", "twin-decide", "twice-read", "approve").out
    assert "1 of 2" in said
    refused = one_platform.holder("dataset", "twin-decide", "twice-read", "refuse")
    assert (refused.code, "reason: is missing" in refused.err) == (ExitCode.USAGE, True)
    late = one_platform.holder("dataset", "twin-decide", "twice-read", "approve", "--version", 2)
    assert late.code == ExitCode.CONFLICT
    assert "approved" in one_platform.holder.ok("dataset", "twin-decide", "twice-read", "approve").out
    one_platform.ada.ok("twin", "twice-read")


def test_a_job_is_read_talked_about_and_refused(one_platform: Platform, vera: Terminal) -> None:
    one_platform.dataset("once-read", approve_jobs=True)
    folder = ready_pipeline(one_platform, "once-read", "to-be-read")
    job = one_platform.ada.ok("submit", folder, "--epsilon", "0.5", "--json").json["id"]
    holder = one_platform.holder
    assert job in holder.ok("reviews").out
    assert job not in vera.ok("reviews", "--json").out
    shown = holder.ok("review", job, "-o", "code")
    assert "may release mean_age between" in " ".join(shown.out.split())
    (written,) = (holder.folder / "code").glob("*.py")
    assert written.read_text(encoding="utf-8") == MEAN
    one_platform.ada.ok("comment", job, "[bold]It[/] is the mean of all.")
    holder.ok("comment", job, "Of whom?")
    said = one_platform.ada.ok("comments", job).out
    assert "[bold]It[/] is the mean of all." in said
    assert [one["author"] for one in holder.ok("comments", job, "--json").json] == ["ada", "holder"]
    assert holder("decide", job, "reject").code == ExitCode.USAGE
    assert "REJECTED" in holder.ok("decide", job, "reject", "--reason", REASON).out
    assert REASON in holder.ok("reviews", "--decided", "--json").json[0]["votes"][0]["reason"]
    assert vera("review", job).code == ExitCode.NOT_FOUND


def test_two_votes_each_hidden_from_the_other(one_platform: Platform, vera: Terminal) -> None:
    """And signed, for the worker zone believes no vote here."""
    reviewers = {"holder": one_platform.holder, "vera": vera}
    keys = [f"{name}={each.ok('custody', 'key', '--json').json['key']}" for name, each in reviewers.items()]
    named = [part for key in keys for part in ("--approver", key)]
    signed = one_platform.holder.ok("custody", "sign", "twice-read", "--yes", "--json", *named).json
    deliveries = Path(signed["file"]).parent
    job = asked(one_platform, "0.25")
    for each in reviewers.values():
        said = each.ok("custody", "approve", job, "--yes", "--deliveries", deliveries, "--json")
        assert Path(said.json["file"]).parent == deliveries
    said = " ".join(vera.ok("decide", job, "approve", "--reason", REASON).out.split())
    assert "SUBMITTED" in said
    assert "your vote is in: 1 of 2" in said
    assert REASON not in one_platform.holder.ok("reviews", "--json").out
    with dpgate.connect(
        url=one_platform.stack.url, token=one_platform.holder.environment["DPGATE_TOKEN"]
    ) as client:
        assert client.reviews.votes(job)[0] == {
            "stage": "APPROVAL", "votes_in": 1, "votes_needed": 2, "votes": [],
        }  # fmt: skip
        assert client.decide(job, "approve").state != "SUBMITTED"
        assert client.reviews.votes(job)[0]["votes"][0]["reason"] == REASON
        with pytest.raises(RequestRefused, match="so it cannot be"):
            client.decide(job, "reject", REASON)
    wait_until(lambda: one_platform.ada.ok("status", job, "--json").json["state"] == "IN_REVIEW")
    vera.ok("comment", job, "A count that anybody may know.", "--release")
    assert "anybody may know" in one_platform.holder.ok("comments", job, "--release").out
    assert one_platform.ada("comments", job, "--release").code == ExitCode.NOT_ALLOWED
    assert one_platform.holder.ok("review", job, "--json").json["values"]
    one_platform.holder.ok("decide", job, "withhold", "--reason", REASON)
    assert "WITHHELD" in vera.ok("decide", job, "release").out
    answer = one_platform.ada("result", job, "--json")
    assert answer.code == ExitCode.NOT_RELEASED
    assert REASON not in answer.out + one_platform.ada.ok("status", job, "--json").out
