"""A run on the twin stands for one data set, one version of it, and as many values as can be released."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from terminal import Answer, Platform, data_folder, pipeline_folder, ready_pipeline

from dpgate.asking import build_request
from dpgate.cli.exit_codes import ExitCode
from dpgate.pipeline_folder import LOCK

MANY = [
    {"name": f"mean_{number:02d}", "lower": 0, "upper": 100} for number in range(21)
]  # one more than mechanisms without noise for all values together release
CODE = """\
import sys
with open(sys.argv[2] + "/result.csv", "w") as file:
    file.write(",".join(f"mean_{number:02d}" for number in range(21)) + "\\n" + ",".join(["1"] * 21) + "\\n")
"""


def words(answer: Answer) -> str:
    return " ".join(answer.err.split())


def add(platform: Platform, folder: Path, name: str) -> None:
    """One more version of this data set."""
    data, declaration = data_folder(folder, name=name)
    platform.holder.ok(
        "dataset", "add", data, "-d", declaration, "--deliveries", platform.stack.home.deliveries
    )


def test_a_pipeline_that_ran_on_one_twin_is_not_submitted_to_another_data_set(one_platform: Platform) -> None:
    ada = one_platform.ada
    one_platform.dataset("others")
    folder = ready_pipeline(one_platform, "ages", "mistaken")
    spent = ada.ok("budget", "others", "--json").json
    refused = ada("submit", folder, "--epsilon", "1", "--dataset", "others")
    assert refused.code == ExitCode.USAGE
    assert "ran on the twin of the data set ages, and the job is for the data set others" in words(refused)
    assert "dpgate twin others -o twin-others" in words(refused)
    assert ada.ok("budget", "others", "--json").json == spent
    # as it says
    ada.ok("twin", "others", "-o", "twin-others")
    more = ada("preview", folder, "--twin", "twin-others", "--mechanism", "pac")
    assert more.code == ExitCode.USAGE
    assert "is a twin of others, version 1; the pipeline ran on one of ages, version 1" in words(more)
    ada.ok("run", folder, "--twin", "twin-others", "--block-size", 3)
    ada.ok("submit", folder, "--epsilon", "1", "--dataset", "others", "--wait")


def test_a_pipeline_that_ran_on_the_twin_of_another_version_is_refused_before_it_costs(
    one_platform: Platform, tmp_path: Path
) -> None:
    ada = one_platform.ada
    add(one_platform, tmp_path / "first", "renewed")
    folder = ready_pipeline(one_platform, "renewed", "older")
    request = build_request(folder, epsilon="1", anyway=True)
    assert request["dataset_version"] == 1
    add(one_platform, tmp_path / "second", "renewed")
    spent = ada.ok("budget", "renewed", "--json").json
    refused = ada("submit", folder, "--epsilon", "1")
    assert refused.code == ExitCode.CONFLICT
    assert "the twin of renewed, version 1, and the job would run on version 2" in words(refused)
    assert "dpgate twin renewed, then dpgate run" in words(refused)
    assert ada.ok("budget", "renewed", "--json").json == spent
    ada.ok("rehearse", folder, "--dataset", "renewed", "--block-size", 3)
    assert json.loads((folder / LOCK).read_text(encoding="utf-8"))["dataset_version"] == 2
    ada.ok("submit", folder, "--epsilon", "1", "--wait")


@pytest.mark.parametrize("group", [False, True], ids=["each by its name", "a group by one name"])
def test_more_values_than_can_be_released_are_refused_where_it_runs_on_the_twin(
    one_platform: Platform, group: bool
) -> None:
    ada = one_platform.ada
    name = f"halves-{'group' if group else 'each'}"
    one_platform.dataset(name, budgets={"budget_nats": "0.125"}, guarantees=["pac"])
    bounds = [{"select": "*", "name": "mean", "lower": 0, "upper": 100}]
    output = {"file": "result.csv", **({"bounds": bounds} if group else {"values": MANY})}
    folder = pipeline_folder(ada.folder / f"many-{group}", CODE, outputs=[output])
    twin = ada.folder / f"twin-{name}"
    ada.ok("twin", name, "-o", twin)
    for command, code in (
        (("run", folder, "--twin", twin, "--block-size", "3"), ExitCode.USAGE),
        # a group's size is known when it has run
        (
            ("rehearse", folder, "--dataset", name, "--block-size", "3"),
            ExitCode.PIPELINE_FAILED if group else ExitCode.USAGE,
        ),
    ):
        refused = ada(*command)
        assert refused.code == code, refused
        assert "gives 21 values" in words(refused)
        assert f"policy of {name} allows releases more than 20" in words(refused)
        assert not (folder / LOCK).exists()


def test_a_policy_with_joint_noise_admits_them(one_platform: Platform) -> None:
    ada = one_platform.ada
    folder = pipeline_folder(
        ada.folder / "joint-many", CODE, outputs=[{"file": "result.csv", "values": MANY}]
    )
    ada.ok("twin", "ages", "-o", "twin-joint")
    ran = ada.ok("run", folder, "--twin", "twin-joint", "--block-size", 3)
    assert "More than 20 values are released with joint or Gaussian noise alone" in words(ran)
    assert yaml.safe_load((folder / LOCK).read_text(encoding="utf-8"))["dataset"] == "ages"
