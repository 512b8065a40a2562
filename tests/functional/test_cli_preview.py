"""`dpgate preview` at a terminal, without a platform: a twin, a pipeline, and real runs of it on the twin."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal, pipeline_folder, terminal

from dpgate.cli.exit_codes import ExitCode

PEOPLE = 60
MEANS = """\
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/people.csv", encoding="utf-8")))
ages = [float(row["age"]) for row in rows]
mean = sum(ages) / len(ages)
with open(sys.argv[2] + "/result.csv", "w") as file:
    file.write("mean_age,oldest\\n%s,%s\\n" % (mean, max(ages)))
"""
VALUES = [{"name": "mean_age", "lower": 0, "upper": 100}, {"name": "oldest", "lower": 0, "upper": 100}]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a twin and a pipeline that has run on it in blocks of 5."""
    folder = tmp_path_factory.mktemp("preview")
    _write_twin(folder / "twin")
    pipeline_folder(folder / "ages", MEANS, outputs=[{"file": "result.csv", "values": VALUES}])
    terminal(folder).ok("run", "ages", "--twin", "twin", "--block-size", 5)
    return folder


@pytest.fixture
def ada(ready: Path, tmp_path: Path) -> Terminal:
    """A terminal in a copy of it, so that what a test locks stays its own."""
    folder = tmp_path / "work"
    shutil.copytree(ready, folder)
    return terminal(folder, COLUMNS="120")


def _write_twin(folder: Path, *, name: str = "ages") -> None:
    columns = [
        {"name": "person", "kind": "person"},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 100},
    ]
    declared = {
        "name": name,
        "title": "Invented ages",
        "privacy_unit": {"table": "people.csv", "column": "person"},
        "nominal_size": PEOPLE,
        "tables": [{"path": "people.csv", "columns": columns}],
        "new_people": True,
        "budget_epsilon": "5",
        "policy": {"data_users": ["ada"], "images": ["host-python"], "max_epsilon_per_job": "4"},
    }
    (folder / ".dpgate").mkdir(parents=True)
    (folder / ".dpgate" / "dataset.json").write_text(json.dumps(declared), encoding="utf-8")
    rows = [f"p{number:02d},{20 + 37 * number % 60}" for number in range(PEOPLE)]
    (folder / "people.csv").write_text("\n".join(["person,age", *rows]) + "\n", encoding="utf-8")


def test_the_page_says_what_to_take_and_why(ada: Terminal) -> None:
    shown = " ".join(ada.ok("preview", "ages", "--want", "mean_age=60", "--want", "oldest=60").out.split())
    for words in (
        "Error to expect, with blocks of one person",
        "Guarantee class pure_dp.",
        "Choices at the recommended epsilon",
        "Take epsilon",
        "95 times in 100.",
        "--aggregator auto --spread-ratio",
        "A sampling interval for oldest",
        "People are dealt into 60 slots",
        "fewer people a mean over blocks of 1 moves to the middle of its bounds by mean_age",
        "For mean_age=60 you need epsilon",
        "(pure_dp) for the noise alone",
    ):
        assert words in shown, words
    assert "guess" not in shown
    assert "With so few people --repeats 3" not in shown, "blocks of one say the same in each partition"
    assert "With so few people --repeats 3" in " ".join(
        ada.ok("preview", "ages", "--block-size", 5).out.split()
    )
    medians = " ".join(ada.ok("preview", "ages", "--aggregator", "median").out.split())
    assert ada.ok("preview", "ages", "--aggregator", "median", "--json").json["ranks"] in medians
    assert "95 times in 100, mean_age " in medians
    assert "(Dwork and Roth 2014, Corollary 3.12)" in medians


def test_choices_are_legible_on_a_terminal_of_eighty(ada: Terminal) -> None:
    ada.environment["COLUMNS"] = "80"
    told = ada.ok("preview", "ages", "--block-sizes", "5").out.partition("Choices at the")[2]
    rows = [line.split() for line in told.splitlines() if line.startswith("│") and "mean_age" in line]
    assert [row[3] for row in rows][:2] == ["mean", "median"], told
    assert "clippe" not in told


def test_the_document_holds_every_choice(ada: Terminal) -> None:
    found = ada.ok("preview", "ages", "--want", "mean_age=20", "--block-sizes", "5", "--json").json
    assert (found["mechanism"], found["guarantee"], found["replays"]) == ("sample_aggregate", "pure_dp", 1000)
    ladder = ["0.1", "0.25", "0.5", "1", "2", "4"]
    assert [row["epsilon"] for row in found["rows"]] == ladder * 4
    assert {row["aggregator"] for row in found["rows"]} == {"clipped_mean", "median"}
    assert {row["output"] for row in found["rows"]} == {"mean_age", "oldest"}
    assert found["recommendation"]["epsilon"] in ladder
    # the oldest of five is younger than the oldest of sixty: bias, which every row of its mean shows
    means = [row for row in found["rows"] if (row["output"], row["aggregator"]) == ("oldest", "clipped_mean")]
    assert means[-1]["bias"] < -5
    assert float(found["epsilon_needed"]) == float(found["wanted"][0]["epsilon_noise_alone"]) > 0
    assert [row["output"] for row in found["intervals"]] == ["mean_age", "oldest"]
    assert found["spread_ratios"]["oldest"] >= 8, "the oldest of five are of similar age"


def test_sizes_worth_trying_run_on_the_twin(ada: Terminal) -> None:
    found = ada.ok("preview", "ages", "--json").json
    runs = {row["block_size"]: row["runs"] for row in found["rows"]}
    assert runs == {1: 60, 2: 30, 3: 20, 5: 12, 10: 6, 20: 3}
    assert {row["extrapolated_from"] for row in found["rows"]} == {None}
    assert all(row["seconds"] > 0 for row in found["rows"])
    # the mean of one is the mean; the oldest of one is anybody
    biases = {
        name: next(
            row["bias"]
            for row in found["rows"]
            if (row["output"], row["block_size"], row["aggregator"]) == (name, 1, "clipped_mean")
            and row["epsilon"] == "4"
        )
        for name in ("mean_age", "oldest")
    }
    assert abs(biases["mean_age"]) < 2
    assert biases["oldest"] < -20
    assert found["recommendation"]["block_size"] in runs
    sizes = ("--block-sizes", "1,20", "--repeats", "3")
    alone = ada.ok("preview", "ages", "--aggregator", "clipped_mean", *sizes).out
    assert "runs" in alone
    assert "180" in alone
    # the twin is divided as often, but into blocks of one
    lock = json.loads(next((ada.folder / "ages").rglob("*lock*")).read_text(encoding="utf-8"))
    ran = {each["block_size"]: len(each["outputs"]) for each in lock["twin_runs"]}
    assert (ran[1], ran[5], ran[20]) == (60, 12, 9)


def _declare(folder: Path, **changes: Any) -> None:
    """Another policy or nominal size for the twin."""
    place = folder / "twin" / ".dpgate" / "dataset.json"
    declared = json.loads(place.read_text())
    declared["policy"] |= changes.pop("policy", {})
    place.write_text(json.dumps(declared | changes))


def test_sizes_that_the_policy_forbids_are_not_tried(ada: Terminal) -> None:
    _declare(ada.folder, policy={"min_block_size": 7})
    found = ada.ok("preview", "ages", "--json").json
    assert {row["block_size"] for row in found["rows"]} == {7, 10, 20}  # 5 is what ran before
    for words in (("run", "ages", "--block-size", 5), ("preview", "ages", "--block-sizes", "5")):
        refused = ada(*words)
        assert refused.code == 2
        assert "5 is under the 7 that the policy asks for. Use 7 or more." in " ".join(refused.err.split())


@pytest.mark.parametrize(
    ("declared", "size"),
    [({}, 10), ({"policy": {"min_block_size": 15}}, 15), ({"nominal_size": 8}, 4)],
    ids=["usual", "asked for by the policy", "few people"],
)
def test_a_run_takes_blocks_that_a_job_may_have(ada: Terminal, declared: dict[str, Any], size: int) -> None:
    _declare(ada.folder, **declared)
    assert ada.ok("run", "ages", "--json").json["block_size"] == size


def test_other_block_sizes_run_on_the_twin_once(ada: Terminal) -> None:
    found = ada.ok("preview", "ages", "--block-sizes", "5,10", "--json").json
    assert {row["block_size"] for row in found["rows"]} == {5, 10}
    assert {row["extrapolated_from"] for row in found["rows"]} == {None}
    locked = json.loads((ada.folder / "ages" / "dpgate.lock.json").read_text())
    assert [runs["block_size"] for runs in locked["twin_runs"]] == [5, 10]
    assert len(locked["twin_runs"][1]["outputs"]) == 6
    shutil.rmtree(ada.folder / "twin")
    again = ada.ok("preview", "ages", "--block-sizes", "10", "--json").json
    assert {row["extrapolated_from"] for row in again["rows"]} == {None}


def test_without_the_twin_a_size_is_guessed_and_marked(ada: Terminal) -> None:
    shutil.rmtree(ada.folder / "twin")
    shown = ada.ok("preview", "ages", "--block-size", "10")
    assert "blocks of 10 are guessed" in " ".join(shown.err.split())
    assert "10*" in shown.out
    assert "a guess from blocks of 5" in " ".join(shown.out.split())


def test_choices_of_the_job_reach_the_preview(ada: Terminal) -> None:
    def noise(*options: str) -> list[float]:
        rows = ada.ok("preview", "ages", "--aggregator", "clipped_mean", "--json", *options).json["rows"]
        return [row["noise_half_width_95"] for row in rows if row["epsilon"] == "1"]

    alone = ("--noise", "laplace")
    equal, heavy = noise(*alone), noise(*alone, "--weights", "mean_age=3")
    assert heavy[0] == pytest.approx(equal[0] * 2 / 3, rel=1e-3)
    assert heavy[1] == pytest.approx(equal[1] * 2, rel=1e-3)
    assert noise(*alone, "--count-failures")[0] == pytest.approx(equal[0] / 0.95, rel=1e-3)
    of_one = noise(*alone, "--repeats", "3", "--block-sizes", "1")
    assert of_one == pytest.approx(equal[:2], rel=1e-3)
    joint = noise()
    assert joint == pytest.approx([0.687 * width for width in equal], rel=0.01)
    assert noise("--noise", "joint") == joint
    saved = ada.ok("preview", "ages", "--delta", "0.000001", "--json").json
    assert saved["guarantee"] == "pure_dp"  # joint noise is narrower, and needs no delta
    gaussian = ada.ok("preview", "ages", "--noise", "gaussian", "--delta", "0.000001", "--json").json
    assert gaussian["guarantee"] == "approx_dp"
    assert {row["aggregator"] for row in gaussian["rows"]} == {"clipped_mean"}


@pytest.mark.parametrize(("mechanism", "runs"), [("pac", 64), ("stability_calibrated", PEOPLE + 1)])
def test_other_mechanisms_run_their_own_plan_on_the_twin(ada: Terminal, mechanism: str, runs: int) -> None:
    found = ada.ok("preview", "ages", "--mechanism", mechanism, "--json").json
    assert found["mechanism"] == mechanism
    assert {row["output"] for row in found["rows"]} == {"mean_age", "oldest"}
    locked = json.loads((ada.folder / "ages" / "dpgate.lock.json").read_text())
    assert len(locked["twin_runs"][-1]["outputs"]) == runs
    shown = " ".join(ada.ok("preview", "ages", "--mechanism", mechanism).out.split())
    assert f"Guarantee class {found['guarantee']}." in shown


WRONG = (
    (["--want", "nothing=1"], "mean_age, oldest"),
    (["--want", "mean_age=soon"], "OUTPUT=ERROR"),
    (["--want", "mean_age=0"], "positive error"),
    (["--want", "mean_age=1e-300"], "no epsilon reaches this"),
    (["--block-sizes", "5;10"], "whole numbers"),
    (["--block-sizes", "0"], "at least one person"),
    (["--block-sizes", "40"], "does not fill 2 blocks"),
    (["--mechanism", "magic"], "sample_aggregate, pac or stability_calibrated"),
    (["--aggregator", "mode"], "clipped_mean or median"),
    (
        ["--noise", "gaussian", "--delta", "0.000001", "--aggregator", "median"],
        "--aggregator is clipped_mean here",
    ),
    (["--delta", "0.5"], "delta"),
    (["--repeats", "0"], "repeats"),
    (["--weights", "mean_age"], "--weights takes"),
    (["--weights", "nobody=2"], "nobody"),
)


def test_bad_choices_are_refused_with_the_fix(ada: Terminal, subtests: pytest.Subtests) -> None:
    for options, words in WRONG:
        with subtests.test(msg=" ".join(options)):
            refused = ada("preview", "ages", *options)
            assert refused.code == ExitCode.USAGE, refused
            assert words in " ".join(refused.err.split()), refused.err


def test_a_twin_of_other_people_is_refused(ada: Terminal) -> None:
    _write_twin(ada.folder / "other", name="others")
    refused = ada("preview", "ages", "--block-sizes", "10", "--twin", "other")
    assert refused.code == ExitCode.USAGE
    assert "is a twin of others" in " ".join(refused.err.split())
    # the environment reaches the runs: one that is not there ends them before they begin
    gone = ada("preview", "ages", "--mechanism", "pac", "--python-env", "no-such-env")
    assert gone.code != ExitCode.OK
    assert "no-such-env" in gone.err
    missing = ada("preview", "ages", "--mechanism", "pac", "--twin", "none")
    assert missing.code == ExitCode.USAGE
    assert "dpgate twin" in missing.err
