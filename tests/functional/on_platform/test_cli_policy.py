"""The policy of a data set from the command line, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from terminal import Platform, Terminal

import dpgate
from dpgate.cli.exit_codes import ExitCode
from dpgate.errors import RequestRefused


@pytest.fixture(scope="module")
def ruled(platform: Platform) -> Platform:
    platform.dataset("ruled")
    return platform


def written(person: Terminal, text: str) -> Path:
    path = person.folder / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_from_the_file_to_a_policy_in_effect(platform: Platform) -> None:
    platform.dataset("unruled")
    holder = platform.holder
    shown = holder.ok("policy", "show", "unruled", "--yaml").out
    changed = yaml.safe_load(shown) | {"approve_jobs_above": "0.5"}
    path = written(holder, yaml.safe_dump(changed))
    tried = holder.ok("policy", "simulate", "unruled", path).out
    assert "0 of 0 jobs" in tried
    said = holder.ok("policy", "set", "unruled", path, "--reason", "small jobs need nobody").out
    assert "policy number 2 is in effect" in said
    assert "changed: approve_jobs_above" in said
    listed = holder.ok("policy", "history", "unruled", "--json").json
    assert [(one["number"], one["reason"]) for one in listed] == [
        (2, "small jobs need nobody"),
        (1, "declared with version 1"),
    ]
    assert "small jobs need nobody" in holder.ok("policy", "show", "unruled").out
    assert "small jobs" not in platform.ada.ok("policy", "show", "unruled").out


def test_somebody_else_was_quicker(ruled: Platform) -> None:
    holder = ruled.holder
    number = holder.ok("policy", "show", "ruled", "--json").json["number"]
    shown = holder.ok("policy", "show", "ruled", "--yaml").out
    path = written(holder, shown + "max_epsilon_per_project: '3'\n")
    holder.ok("policy", "set", "ruled", path, "--reason", "first", "--number", number)
    late = holder("policy", "set", "ruled", path, "--reason", "second", "--number", number)
    assert late.code == ExitCode.CONFLICT, late.err
    assert f"number {number + 1} is in effect" in late.err


def test_a_dataset_yaml_is_taken_for_its_policy(ruled: Platform) -> None:
    """Of a data set without jobs no decision changes, whatever its policy is by now."""
    declaration = ruled.folder / "ruled" / "dataset.yaml"
    found = ruled.holder.ok("policy", "simulate", "ruled", declaration, "--json").json
    assert found["changed"] == 0


def test_a_registration_says_that_it_changes_the_policy(platform: Platform) -> None:
    platform.dataset("twice")
    holder, folder = platform.holder, platform.folder / "twice"
    again = ("dataset", "add", folder / "data", "-d", folder / "dataset.yaml")
    where = ("--deliveries", platform.stack.home.deliveries)
    assert "its policy" not in holder.ok(*again, *where).out
    shown = holder.ok("policy", "show", "twice", "--yaml").out
    path = written(holder, shown + "review_twin: true\n")
    holder.ok("policy", "set", "twice", path, "--reason", "rare categories")
    said = holder.ok(*again, *where).out
    assert "its policy, number 3, is in effect; it changed review_twin" in said


def test_a_wrong_file_is_refused_with_its_place(ruled: Platform, subtests: pytest.Subtests) -> None:
    for text, said in (
        ("a: &a [x]\nb: *a\n", "has an alias"),
        ("max_epsilon: 1\n", "policy, max_epsilon: is not a known field"),
        ("- 1\n", "must hold"),
        ("{", "is not valid YAML"),
    ):
        path = written(ruled.holder, text)
        for arguments in (("simulate",), ("set", "--reason", "so")):
            with subtests.test(msg=f"{arguments[0]} {said}"):
                refused = ruled.holder("policy", arguments[0], "ruled", path, *arguments[1:])
                assert (refused.code, refused.out) == (ExitCode.USAGE, "")
                assert said in refused.err


def test_a_researcher_reads_it_and_changes_nothing(ruled: Platform) -> None:
    ada = ruled.ada
    path = written(ada, ada.ok("policy", "show", "ruled", "--yaml").out)
    for arguments in (("history", "ruled"), ("simulate", "ruled", path)):
        refused = ada("policy", *arguments)
        assert refused.code != 0
        assert "can change a data set's policy" in refused.err


def test_the_same_from_python(ruled: Platform) -> None:
    environment = ruled.holder.environment
    with dpgate.connect(url=environment["DPGATE_URL"], token=environment["DPGATE_TOKEN"]) as client:
        before = client.policies.show("ruled")
        policy = before["policy"] | {"min_block_size": 4}
        assert client.policies.simulate("ruled", policy)["total"] == 0
        found = client.policies.change("ruled", policy, number=before["number"], reason="from Python")
        assert client.policies.history("ruled")[0] == found
        with pytest.raises(RequestRefused) as refusal:
            client.policies.change("ruled", policy, number=before["number"], reason="again")
    assert (refusal.value.status, refusal.value.problems[0].field) == (409, "number")
