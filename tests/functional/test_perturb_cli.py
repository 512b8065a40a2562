"""`dpgate perturb` as a person types it, from the help to the refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from terminal import Terminal

from dpgate.cli.exit_codes import ExitCode

BOUNDS = ("--lower=-13", "--upper", "13.5")
SWEEP = """\
file: ecg.npy
lower: -13
upper: 13.5
epsilon: [1, 2]
delta: [1e-9, 0.1]
mechanism: [laplace, bounded]
"""


@pytest.fixture
def holder(shell: Terminal) -> Terminal:
    np.save(shell.folder / "ecg.npy", np.random.default_rng(0).normal(size=(20, 280)))
    return shell


def test_help_says_what_it_protects(holder: Terminal) -> None:
    text = " ".join(holder.ok("perturb", "--help").out.split())
    assert "local differential privacy" in text
    assert "The promise (epsilon) is for ONE value" in text
    assert "never from the array" in text


def test_one_file(holder: Terminal) -> None:
    answer = holder.ok(
        "perturb", "ecg.npy", *BOUNDS, "--epsilon", 1, "-o", "b.npy", "--values-per-person", 280
    )
    assert "pure_dp per value" in answer.out
    assert "epsilon, one person of 280 values │ 280" in answer.out
    assert "A person as a whole is not protected" in answer.err
    assert "these numbers have seen the data" in answer.out
    result = np.load(holder.folder / "b.npy")
    certificate = json.loads((holder.folder / "b.json").read_text())
    assert result.shape == (20, 280)
    assert certificate["guarantee"] == "pure_dp"
    assert certificate["per_value"] == {"epsilon": "1", "delta": "0"}
    assert "rmse" not in json.dumps(certificate)


def test_options_may_come_first_and_the_long_form_is_the_same(holder: Terminal) -> None:
    for command in (["perturb"], ["perturb", "file"]):
        holder.ok(*command, "--epsilon", 1, *BOUNDS, "--out", "b.npy", "ecg.npy")


def test_json_is_one_document(holder: Terminal) -> None:
    arguments = ["--mechanism", "bounded", "--delta", "0.001", "--epsilon", "0.01", "-o", "b.npy", "--json"]
    answer = holder.ok("perturb", "ecg.npy", *BOUNDS, *arguments)
    assert answer.json["certificate"]["guarantee"] == "approx_dp"
    assert answer.json["certificate"]["per_person"]["values"] == 5600
    assert answer.json["certificate"]["per_person"]["delta"] == "1"
    assert "above 1/5600" in answer.json["warnings"][0]
    assert set(answer.json["for_the_holder_only"]) == {"rmse", "clipped_share", "correlation"}


def test_the_fast_variant_names_its_price(holder: Terminal) -> None:
    answer = holder.ok(
        "perturb", "ecg.npy", *BOUNDS, "--epsilon", 1, "--variant", "fast", "-o", "b.npy", "--json"
    )
    assert answer.json["certificate"]["guarantee"] == "approx_dp"
    assert answer.json["certificate"]["per_value"]["epsilon"] == "1.02"
    assert 0 < float(answer.json["certificate"]["per_value"]["delta"]) < 1e-8


def test_a_reference_is_marked_everywhere(holder: Terminal) -> None:
    arguments = ["ecg.npy", *BOUNDS, "--epsilon", 1, "--mechanism", "reference-laplace", "-o", "b.npy"]
    answer = holder.ok("perturb", *arguments)
    assert "UNSAFE" in answer.err
    assert "none" in answer.out
    assert "pure_dp" not in answer.out
    certificate = json.loads((holder.folder / "b.json").read_text())
    assert "UNSAFE" in certificate["warning"]
    assert certificate["guarantee"] is None
    assert "UNSAFE" in holder.ok("perturb", "file", "--help").out


def test_class_ratios_are_shown_for_what_they_are(holder: Terminal) -> None:
    (holder.folder / "c.csv").write_text("record,F,N\n1,1,9\n2,3,9\n")
    arguments = [
        "ecg.npy",
        *BOUNDS,
        "--epsilon",
        1,
        "-o",
        "b.npy",
        "--class-counts",
        "c.csv",
        "--classes",
        "F, N",
    ]
    answer = holder.ok("perturb", *arguments)
    assert "0.75" in answer.out
    assert "unrelated to the range" in " ".join(answer.out.split())
    assert holder("perturb", *arguments[:-1], "X").code == ExitCode.USAGE


def test_csv_and_npz(holder: Terminal) -> None:
    (holder.folder / "a.csv").write_text("mv\n1\n2\n\n")
    np.savez(holder.folder / "a.npz", x=np.zeros(3), y=np.zeros(4))
    holder.ok("perturb", "a.csv", *BOUNDS, "--epsilon", 1, "-o", "b.npy")
    assert np.load(holder.folder / "b.npy").shape == (2,)
    holder.ok("perturb", "a.npz", "--array", "y", *BOUNDS, "--epsilon", 1, "-o", "b.npy")
    assert np.load(holder.folder / "b.npy").shape == (4,)


def test_missing_values_need_a_word(holder: Terminal) -> None:
    np.save(holder.folder / "gaps.npy", np.array([1.0, np.nan]))
    arguments = ["gaps.npy", *BOUNDS, "--epsilon", 1, "-o", "b.npy"]
    refused = holder("perturb", *arguments)
    assert refused.code == ExitCode.USAGE
    assert "missing" in refused.err
    assert not (holder.folder / "b.npy").exists()
    holder.ok("perturb", *arguments, "--missing", "clip")
    assert np.isfinite(np.load(holder.folder / "b.npy")).all()
    holder.ok("perturb", *arguments, "--missing", "keep-mask")
    assert np.isnan(np.load(holder.folder / "b.npy")).tolist() == [False, True]


WRONG = (
    (["ecg.npy", "--lower", "5", "--upper", "4", "--epsilon", "1"], "lower must be below upper"),
    (["ecg.npy", "--lower", "x", "--upper", "4", "--epsilon", "1"], "lower must be a number"),
    (["ecg.npy", "--lower", "1e17", "--upper", "100000000000000001", "--epsilon", "1"], "too fine"),
    (["ecg.npy", *BOUNDS, "--epsilon", "0"], "above zero"),
    (["ecg.npy", *BOUNDS, "--epsilon", "nan"], "epsilon must be a finite number"),
    (["ecg.npy", *BOUNDS, "--epsilon", "1e-5"], "below 0.001"),
    (["ecg.npy", *BOUNDS, "--epsilon", "1", "--delta", "1e-9"], "takes no delta"),
    (["ecg.npy", *BOUNDS, "--epsilon", "1", "--mechanism", "gaussian"], "needs a delta"),
    (["ecg.npy", *BOUNDS, "--epsilon", "1", "--mechanism", "gaussian", "--delta", "1.0"], "at most 0.01"),
    (["ecg.npy", *BOUNDS, "--epsilon", "1", "--mechanism", "magic"], "magic"),
    (["nothing.npy", *BOUNDS, "--epsilon", "1"], "nothing.npy"),
    (["words.npy", *BOUNDS, "--epsilon", "1"], "must hold integers"),
    (["empty.npy", *BOUNDS, "--epsilon", "1"], "empty"),
    (["ecg.npy", *BOUNDS], "epsilon"),
    ([*BOUNDS, "--epsilon", "1"], "file"),
)


def test_what_cannot_be_is_refused_in_a_sentence(holder: Terminal, subtests: pytest.Subtests) -> None:
    np.save(holder.folder / "words.npy", np.array(["a"]))
    np.save(holder.folder / "empty.npy", np.array([]))
    for arguments, reason in WRONG:
        with subtests.test(msg=" ".join(arguments)):
            answer = holder("perturb", *arguments, "-o", "b.npy")
            assert answer.code == ExitCode.USAGE, answer
            assert reason.lower() in " ".join(answer.err.split()).lower()
            assert "Traceback" not in answer.err
            assert not list(holder.folder.glob("b.*"))


def test_the_array_itself_is_not_overwritten(holder: Terminal) -> None:
    before = (holder.folder / "ecg.npy").read_bytes()
    answer = holder("perturb", "ecg.npy", *BOUNDS, "--epsilon", 1, "-o", "./ecg.npy")
    assert (answer.code, (holder.folder / "ecg.npy").read_bytes()) == (ExitCode.USAGE, before)


def test_a_sweep_and_its_second_start(holder: Terminal) -> None:
    (holder.folder / "sweep.yaml").write_text(SWEEP)
    answer = holder.ok("perturb", "sweep", "sweep.yaml", "--out", "out")
    assert "approx_dp" in answer.out
    assert "refused: delta must be above 0 and at most 0.01" in answer.err
    files = {path.name: path.read_bytes() for path in Path(holder.folder / "out").glob("*.npy")}
    assert len(files) == 4
    again = holder.ok("perturb", "sweep", "sweep.yaml", "--out", "out", "--json").json
    assert [bool(cell["refused"]) for cell in again["cells"]] == [False] * 3 + [True, False, True]
    assert {path.name: path.read_bytes() for path in Path(holder.folder / "out").glob("*.npy")} == files


WRONG_SWEEPS = (
    ("file: ecg.npy", "lower"),
    (SWEEP.replace("mechanism", "mechanisms"), "mechanisms"),
    (SWEEP.replace("ecg.npy", "gone.npy"), "gone.npy"),
    (SWEEP.replace("[1, 2]", "[0]"), "above zero"),
    ("- a list", "name: value"),
    ("file: [", "YAML"),
)


def test_other_sweeps_are_refused_in_a_sentence(holder: Terminal, subtests: pytest.Subtests) -> None:
    for text, reason in WRONG_SWEEPS:
        with subtests.test(msg=reason):
            (holder.folder / "sweep.yaml").write_text(text)
            answer = holder("perturb", "sweep", "sweep.yaml", "--out", "out")
            assert answer.code == ExitCode.USAGE, answer
            assert reason in answer.err


def test_a_sweep_with_other_parameters_is_refused(holder: Terminal) -> None:
    (holder.folder / "sweep.yaml").write_text(SWEEP)
    holder.ok("perturb", "sweep", "sweep.yaml", "--out", "out")
    (holder.folder / "sweep.yaml").write_text(SWEEP.replace("[1, 2]", "[1, 3]"))
    answer = holder("perturb", "sweep", "sweep.yaml", "--out", "out")
    assert answer.code == ExitCode.USAGE
    assert "other parameters" in answer.err
