"""What the gate found, as JSON and in words; and when it says that a host is not closed."""

import json
from dataclasses import replace

import pytest
import typer

from domain.channels import ALL_CHANNELS
from dpgate.cli.doctor_gate import print_gate, refuse_elsewhere
from dpgate.diagnosis import Diagnosis
from worker.sandbox.gate.report import Experiment, Finding, How, Report, Residual, failed
from worker.sandbox.needs import IMAGES_KEPT, feature
from worker.sandbox.profiles import Profile

FOUND = Finding(
    "many_pipes", How.BESIDE, "opened pipe 0 ino", "moved in 6 of 8 rounds, 6 of them with a sender"
)
CALM = Experiment("talks", How.SAME_SLOT, 8, ("clocks",), (), ())
MOVED = Experiment("many_pipes", How.BESIDE, 14, (), ("path /usr atime",), (FOUND,))
RESIDUALS = (
    Residual("shared_waits", How.BESIDE, "wakes", "is 1", 24, 24, 1.0),
    Residual("caches", None, "", "", 0, 0, None, "needs a measurement of its own"),
)
CLOSED = Report("warm", 3500, 60, (), (), (CALM,), RESIDUALS)
OPEN = replace(CLOSED, mode="cold", experiments=(CALM, MOVED))


def test_what_moved_and_is_on_no_list_leaves_it_open():
    assert CLOSED.is_closed
    assert not OPEN.is_closed
    assert not replace(CLOSED, unclassified=("bpf",)).is_closed
    assert not replace(CLOSED, quiet=(replace(FOUND, how=None),)).is_closed
    assert not failed("warm", "a run that only looks did not end well").is_closed


def test_a_value_that_moved_once_is_told_and_no_finding():
    assert replace(CLOSED, experiments=(replace(MOVED, findings=()),)).is_closed


def test_a_host_that_is_open_is_not_isolated():
    assert Diagnosis(Profile.STANDARD, (), (), (CLOSED,)).is_isolated
    open_ = Diagnosis(Profile.STANDARD, (), (), (CLOSED, OPEN))
    assert not open_.is_isolated
    assert [report.mode for report in open_.open] == ["cold"]


def test_the_doctor_names_what_policies_have_to_accept_here():
    kept, not_kept = (feature(IMAGES_KEPT, present=is_kept, detail="") for is_kept in (True, False))
    pages, counters = ["page_faults"], ["pipe_count", "mount_numbers", "shared_pages", "pid_numbers"]
    for found, sandbox, wanted in (
        (kept, "supervised", {"host-python": pages, "imported": []}),
        (not_kept, "supervised", {"host-python": pages, "imported": pages}),
        (kept, "docker", {"every image": [*pages, *counters]}),
    ):
        told = Diagnosis(Profile.STANDARD, (found,), (), sandbox=sandbox).as_json()
        assert told["channels_to_accept"] == wanted


def test_all_of_it_is_in_the_json():
    told = json.loads(json.dumps(Diagnosis(Profile.STANDARD, (), (), (CLOSED, OPEN)).as_json()))["gate"]
    assert [report["is_closed"] for report in told] == [True, False]
    assert told[1]["experiments"][1]["findings"][0] == {
        "sender": "many_pipes",
        "how": "beside, in another slot",
        "key": "opened pipe 0 ino",
        "words": "moved in 6 of 8 rounds, 6 of them with a sender",
    }
    assert told[0]["residuals"][0]["bits"] == 1.0
    assert told[0]["residuals"][1]["why_not"] == "needs a measurement of its own"


def test_channels_that_were_not_measured_in_runs_in_r_are_named(capsys):
    print_gate((replace(CLOSED, mode="warm R in lab", residuals=()),))
    said = capsys.readouterr()
    words = (said.out + said.err).replace("\n", " ")
    assert "warm R in lab" in words
    assert [name for name in ALL_CHANNELS if name not in words] == []


def test_in_words(capsys):
    print_gate((replace(OPEN, unclassified=("bpf",), quiet=(replace(FOUND, how=None),)),))
    said = capsys.readouterr()
    for words in ("many_pipes", "shared_waits", "not measured"):
        assert words in said.out
    for words in ("Moved: opened pipe 0 ino with many_pipes", "Quiet runs differ", "bpf"):
        assert words in said.err


def test_other_sandboxes_are_refused():
    refuse_elsewhere("supervised")
    for sandbox in ("docker", "bubblewrap"):
        with pytest.raises(typer.BadParameter, match="--sandbox supervised"):
            refuse_elsewhere(sandbox)
