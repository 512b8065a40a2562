"""Other mechanisms at a terminal: the options, what they cost, what is printed, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from terminal import Platform, ready_pipeline

from dpgate.cli.exit_codes import ExitCode

CLASSES = ["pure_dp", "approx_dp", "pac", "empirical"]


@pytest.fixture(scope="module")
def rich(one_platform: Platform) -> Platform:
    """With a data set that has an account of every currency."""
    budgets = {"budget_epsilon": 100, "budget_delta": 0.01, "budget_nats": 0.5, "budget_releases": 1}
    one_platform.dataset("rich", budgets=budgets, guarantees=CLASSES, max_epsilon_per_job=50)
    return one_platform


@pytest.fixture(scope="module")
def folder(rich: Platform) -> Path:
    return ready_pipeline(rich, "rich", "mechanisms")


def test_every_option_of_sample_and_aggregate_arrives(rich: Platform, folder: Path) -> None:
    options = ["--epsilon", "8", "--repeats", 2, "--aggregator", "auto", "--spread-ratio", "8"]
    options += ["--weights", "mean_age=3", "--interval", "sampling", "--count-failures", "--block-size", 4]
    release = rich.ada.ok("submit", folder, *options, "--wait", "--json").json
    assert release["cost"] == {"epsilon": "8"}
    assert [value["name"] for value in release["diagnostics"]] == ["failed_runs"]
    job = rich.ada.ok("status", release["job_id"], "--json").json
    assert job["choices"] == {
        "epsilon": "8",
        "block_size": 4,
        "repeats": 2,
        "aggregator": "auto",
        "spread_ratio": 8,
        "noise": "auto",
        "weights": {"mean_age": 3},
        "count_failures": True,
        "interval": "sampling",
    }
    assert job["runs"] == 6
    shown = rich.ada.ok("result", release["job_id"]).out
    assert "failed_runs" in shown
    assert "sampling interval" in shown
    path = rich.ada.folder / "mechanisms.json"
    path.write_text(json.dumps(release), encoding="utf-8")
    assert "pure_dp, epsilon 8" in rich.ada.ok("verify", path).out
    assert "Derived from what was asked, and the same" in rich.ada.ok("verify", path, "--recompute").out


def test_gaussian_noise_says_its_delta(rich: Platform, folder: Path) -> None:
    options = ["--epsilon", "2", "--noise", "gaussian", "--delta", "1e-3"]
    printed = rich.ada.ok("submit", folder, *options, "--wait").out
    assert "Guarantee class approx_dp, epsilon 2, delta 0.001." in printed


def test_pac_shows_no_noise_interval(rich: Platform, folder: Path) -> None:
    printed = rich.ada.ok("submit", folder, "--mechanism", "pac", "--nats", "0.125", "--wait").out
    assert "Guarantee class pac, nats 0.125." in printed
    assert "covers the noise" not in printed
    budget = rich.ada.ok("budget", "rich", "--json").json
    assert {a["currency"]: a["cap"] for a in budget["accounts"]} == {
        "epsilon": "100",
        "delta": "0.01",
        "nats": "0.5",
        "releases": "1",
    }
    assert next(a["spent"] for a in budget["accounts"] if a["currency"] == "nats") == "0.125"
    assert "Over all PAC releases" in " ".join(rich.ada.ok("budget", "rich").out.split())


def test_an_allocation_of_nats_binds(rich: Platform, folder: Path) -> None:
    allotted = ["allot", "rich", "--project", "halves", "--member", "ada", "--nats", "0.01", "--json"]
    assert rich.holder.ok(*allotted).json["currency"] == "nats"
    paid = ["submit", folder, "--mechanism", "pac", "--project", "halves", "--nats"]
    refused = rich.ada(*paid, "0.02")
    assert refused.code == ExitCode.OVER_BUDGET
    assert "of the project halves" in " ".join(refused.err.split())
    other = rich.ada("submit", folder, "--epsilon", "1", "--project", "halves")
    assert "no budget of epsilon is allotted to a project halves" in " ".join(other.err.split())


def test_a_weak_epsilon_is_called_weak(rich: Platform, folder: Path) -> None:
    words = "An epsilon above 10 is weak"
    assert words in rich.ada("submit", folder, "--epsilon", "10.5", "--no-wait").err
    assert words not in rich.ada("submit", folder, "--epsilon", "10", "--no-wait").err


WRONG = (
    ([], ExitCode.USAGE, "say what to spend: --epsilon"),
    (["--mechanism", "pac"], ExitCode.USAGE, "say how much: --nats 0.1, for instance"),
    (
        ["--mechanism", "stability_calibrated"],
        ExitCode.USAGE,
        "say how much: --noise-multiplier 1, for instance",
    ),
    (["--mechanism", "jackknife"], ExitCode.USAGE, "There are sample_aggregate, stability_calibrated, pac."),
    (["--mechanism", "pac", "--epsilon", "1"], ExitCode.USAGE, "epsilon: is not a known field"),
    (["--mechanism", "pac", "--nats", "0.6"], ExitCode.USAGE, "from 0.000001 to 0.5 nat"),
    (["--epsilon", "1", "--noise", "gaussian"], ExitCode.USAGE, "noise gaussian needs a delta"),
    (["--epsilon", "1", "--noise", "gaussian", "--delta", "0.009"], ExitCode.USAGE, "delta: 0.009 is over"),
    (["--epsilon", "1", "--weights", "mean_age"], ExitCode.USAGE, "--weights takes OUTPUT=WHOLE NUMBER"),
    (["--epsilon", "1", "--weights", "sd=2"], ExitCode.USAGE, "weights name sd, which is no output"),
    (
        ["--mechanism", "stability_calibrated", "--noise-multiplier", "1"],
        ExitCode.NOT_ALLOWED,
        "is not among the reviewed_pipelines of rich",
    ),
)


def test_a_choice_that_cannot_be_is_refused_with_words(
    rich: Platform, folder: Path, subtests: pytest.Subtests
) -> None:
    for options, code, words in WRONG:
        with subtests.test(msg=" ".join(options)):
            answer = rich.ada("submit", folder, *options)
            assert answer.code == code, answer
            assert words in " ".join(answer.err.split())


def test_a_class_without_the_policys_word_or_an_account_is_refused(rich: Platform) -> None:
    folder = ready_pipeline(rich, "ages", "plain")
    answer = rich.ada("submit", folder, "--mechanism", "pac", "--nats", "0.1")
    assert answer.code == ExitCode.NOT_ALLOWED
    rich.dataset("unfunded", guarantees=CLASSES)
    folder = ready_pipeline(rich, "unfunded", "without-nats")
    answer = rich.ada("submit", folder, "--mechanism", "pac", "--nats", "0.1")
    assert answer.code == ExitCode.OVER_BUDGET
    assert "this data set has no budget of nats" in " ".join(answer.err.split())


def test_a_wrong_allocation_is_refused(rich: Platform, subtests: pytest.Subtests) -> None:
    for options, words in (
        ([], "name one amount"),
        (["--epsilon", "1", "--nats", "0.1"], "name one amount"),
        (["--releases", "1.5"], "releases: give a whole number"),
        (["--rho", "1"], "this data set has no budget of rho"),
    ):
        with subtests.test(msg=" ".join(options)):
            answer = rich.holder("allot", "rich", "--user", "ada", *options)
            assert answer.code in (ExitCode.USAGE, ExitCode.OVER_BUDGET)
            assert words in " ".join(answer.err.split())
