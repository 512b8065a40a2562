"""`dpgate rehearse` against a whole platform: the platform runs the twin, and the lock is the same."""

from __future__ import annotations

import json

from terminal import Platform, ready_pipeline

from dpgate.cli.exit_codes import ExitCode
from dpgate.pipeline_folder import LOCK


def test_a_rehearsal_writes_the_lock_that_dpgate_run_would_write(one_platform: Platform) -> None:
    ada = one_platform.ada
    ada.ok("login")
    folder = ready_pipeline(one_platform, "ages", "rehearsed")
    lock = ada.folder / folder / LOCK
    before = json.loads(lock.read_text(encoding="utf-8"))
    # how long a run took is known where it ran
    assert before["twin_runs"][0].pop("seconds") > 0
    lock.unlink()
    printed = ada.ok("rehearse", folder, "--dataset", "ages", "--block-size", before["block_size"])
    assert "mean_age" in printed.out
    assert "The output's shape is locked" in printed.out
    after = json.loads(lock.read_text(encoding="utf-8"))
    assert after["twin_runs"][0].pop("seconds") is None
    assert after.pop("seal") != before.pop("seal")  # each is over its own seconds
    assert after.pop("longest_s") > 0
    assert before.pop("longest_s") > 0
    assert after == before
    assert "pure_dp" in ada.ok("preview", folder, "--want", "mean_age=20").out
    listed = ada.ok("rehearse", "--json").json
    assert listed[0]["state"] == "DONE"
    assert listed[0]["dataset"] == "ages"
    assert listed[0]["id"] in ada.ok("rehearse").out


def test_the_runs_of_another_mechanism_are_locked_as_well(one_platform: Platform) -> None:
    """So that its error can be looked at without a twin on this machine."""
    ada = one_platform.ada
    folder = ready_pipeline(one_platform, "ages", "halves")
    (ada.folder / folder / LOCK).unlink()
    ada.ok("rehearse", folder, "--dataset", "ages", "--block-size", "3", "--mechanism", "pac")
    lock = json.loads((ada.folder / folder / LOCK).read_text(encoding="utf-8"))
    assert [(runs["plan"], len(runs["outputs"])) for runs in lock["twin_runs"]][1] == ("half_samples", 64)
    shown = ada.ok("preview", folder, "--mechanism", "pac", "--twin", "nothing-here").out
    assert "nats" in shown.lower()


def test_a_pipeline_that_fails_says_so_in_its_own_words(one_platform: Platform) -> None:
    ada = one_platform.ada
    folder = ready_pipeline(one_platform, "ages", "fails")
    (script,) = [path for path in (ada.folder / folder).iterdir() if path.suffix == ".py"]
    script.write_text("raise SystemExit('no such column: weight')\n", encoding="utf-8")
    failed = ada("rehearse", folder, "--dataset", "ages", "--block-size", "3")
    assert failed.code == ExitCode.PIPELINE_FAILED
    assert "no such column: weight" in failed.err


def test_mistakes_are_named(one_platform: Platform) -> None:
    ada = one_platform.ada
    folder = ready_pipeline(one_platform, "ages", "mistakes")
    assert "--dataset NAME" in ada("rehearse", folder).err
    wrong = ada("rehearse", folder, "--dataset", "ages", "--mechanism", "laplace")
    assert "--mechanism is pac or stability_calibrated" in wrong.err
    assert ada("rehearse", folder, "--dataset", "nothing").code == ExitCode.NOT_FOUND
    refused = ada("rehearse", folder, "--dataset", "ages", "--block-size", "5000")
    assert refused.code == ExitCode.USAGE
    assert "block size: " in refused.err
