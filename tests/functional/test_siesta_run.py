"""`dpgate siesta run` as a developer of a SIESTA pipeline types it, on 60 people and on 20."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal
from waiting import wait_until

from dpgate.cli.exit_codes import ExitCode

ROOT = Path(__file__).parents[2]
DATA = ROOT / "examples" / "heights" / "data"
PIPELINE = ROOT / "examples" / "bids-means-python"
RESULTS = "derivatives/group/results.tsv"
APP = ("--command", "python3 /pipeline/app.py")
WIDE = ("--lower", 0, "--upper", 300)
COUNT = """\
import os, sys, time
source, target, level = sys.argv[1:4]
people = [name for name in os.listdir(source) if name.startswith("sub-")]
if level == "participant":
    open(f"{target}/{people[0]}_n.txt", "w").write("1\\n")
else:
    found = sum(os.path.exists(f"{target}/{person}_n.txt") for person in people)
    open(f"{target}/count.tsv", "w").write(f"{found}\\n")
"""


@pytest.fixture
def developer(shell: Terminal) -> Terminal:
    """With 20 people in `data` and an app that counts in `app`."""
    data = shutil.copytree(DATA, shell.folder / "data")
    lines = (data / "participants.tsv").read_bytes().splitlines(keepends=True)
    (data / "participants.tsv").write_bytes(b"".join(lines[:21]))
    for number in range(21, 61):
        shutil.rmtree(data / f"sub-{number}")
    write_app(shell.folder / "app", COUNT)
    return shell


def write_app(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "app.py").write_text(text)
    (folder / "whitelist.txt").write_text("count.tsv\n")


def journal(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "secret" / "state.jsonl").read_text().splitlines()]


def tree(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_the_whole_workflow_on_sixty_people(shell: Terminal) -> None:
    before = tree(DATA)
    command = ("siesta", "run", DATA, PIPELINE, "out", "--slots", 2)
    answer = shell.ok(*command)
    out = shell.folder / "out"
    assert "participant level: 60 runs; group level: 61 runs" in answer.out
    assert "EMPIRICAL" in answer.out
    assert "labels are those of the data" in " ".join(answer.err.split())
    released = tree(out / "released")
    assert set(released) == {RESULTS, "dpgate-release.json"}
    assert "EMPIRICAL" in json.loads(released["dpgate-release.json"])["label"]
    truth = (out / "secret" / "group" / "everybody" / RESULTS).read_text().split()
    noised = released[RESULTS].decode().split()
    assert len(noised) == 3
    assert any(float(one) != float(other) for one, other in zip(noised, truth, strict=True))
    scales = [value["noise_scale"] for value in json.loads(released["dpgate-release.json"])["values"]]
    assert scales == [0.5, 16, 8]  # as the tools calibrate them, step by step
    assert (out / "secret").stat().st_mode & 0o777 == 0o700
    merged = (out / "secret" / "group-merged.tsv").read_text().splitlines()
    assert (merged[0].split("\t"), len(merged)) == (["mean_age", "mean_height", "mean_weight"], 61)
    assert tree(DATA) == before

    again = shell.ok(*command, "--json").json
    assert (again["participant_runs"], again["group_runs"], again["is_earlier_release"]) == (0, 0, True)
    shutil.rmtree(out / "released")
    said = shell.ok(*command)
    assert "A new draw needs a new OUT" in " ".join(said.err.split())
    assert tree(out / "released") == released


def test_two_folders_get_two_draws(developer: Terminal) -> None:
    values = [
        developer.ok("siesta", "run", "data", PIPELINE, out, "--json").json["values"] for out in ("a", "b")
    ]
    assert values[0] != values[1]
    assert [one["noise_scale"] for one in values[0]] == [one["noise_scale"] for one in values[1]]


def test_after_ctrl_c_the_next_call_goes_on(developer: Terminal) -> None:
    write_app(developer.folder / "app", COUNT + "time.sleep(0.1)\n")
    command = ("siesta", "run", "data", "app", "out", *APP, *WIDE)
    state = developer.folder / "out" / "secret" / "state.jsonl"
    with developer.start(*command) as process:
        wait_until(
            lambda: state.exists() and len(state.read_text().splitlines()) > 8,
            unless=lambda: process.poll() is not None and f"it ended: {process.communicate()}",
            said="the eighth person",
        )
        process.send_signal(signal.SIGINT)
        assert process.wait() == ExitCode.INTERRUPTED
    assert not (developer.folder / "out" / "released").exists()
    with state.open("a") as file:
        file.write('{"group": "everyb')  # the machine stopped in the middle of a line
    done = developer.ok(*command, "--json").json
    assert 0 < done["participant_runs"] <= 20 - 7
    lines = journal(developer.folder / "out")
    people = [line["participant"] for line in lines[1:] if "participant" in line]
    groups = [line["group"] for line in lines[1:] if "group" in line]
    assert len(people) == len(set(people)) >= 20 - 1  # Ctrl-C may come between an outcome and its line
    assert len(groups) == len(set(groups)) == 21


def test_another_pipeline_data_set_or_mechanism_is_refused(developer: Terminal) -> None:
    command = ("siesta", "run", "data", "app", "out", *APP, *WIDE)
    developer.ok(*command)
    other = developer(*command, "--noise-multiplier", 2)
    assert (other.code, "another mechanism" in other.err) == (ExitCode.USAGE, True)
    (developer.folder / "data" / "README").write_text("changed\n")
    assert "another data set" in developer(*command).err
    write_app(developer.folder / "app", COUNT + "\n")
    assert "another pipeline" in developer(*command).err
    (developer.folder / "mine").mkdir()
    (developer.folder / "mine" / "x").write_text("x")
    assert "holds something else" in developer(*command[:4], "mine", *APP, *WIDE).err
    for inside in ("data/out", "app/out"):
        refused = developer(*command[:4], inside, *APP, *WIDE)
        assert "lie in each other" in " ".join(refused.err.split())


def test_a_failed_step_is_one_sentence_that_names_it_and_what_to_do(developer: Terminal) -> None:
    """Mended, it goes on in the same folder as long as no group run is done."""
    cases = {
        'level == "participant" and people == ["sub-03"] and sys.exit("No module named \'bids.layout\'")': (
            "out0",
            "participant level, sub-03",
            "exit code 1",
            "The image host-python has no bids.layout.",
        ),
        'level == "group" and (open(target + "/count.tsv", "w").write("sub-05\\t1\\n"), sys.stdout.flush(), '
        "os._exit(0))": ("out0", "count.tsv names sub-05", "a row for each of them cannot leave"),
        'level == "group" and (open(target + "/count.tsv", "w").write("mean\\n12,5\\n"), sys.stdout.flush(), '
        "os._exit(0))": ("out0", "It begins: mean 12,5", "Write decimals with a point: 12.5, not 12,5."),
        'level == "group" and (open(target + "/count.tsv", "w").write("n\\tmean\\n20\\t3.1 ± 0.4\\n"), '
        "sys.stdout.flush(), os._exit(0))": (
            "out0",
            "count.tsv has the text '3.1 ± 0.4'",
            "a cell of its own",
        ),
        'level == "group" and "sub-07" not in people and sys.exit(0)': (
            "out0",
            "group level, without-sub-07",
            "a declared output is missing",
            "It has to write count.tsv below its second argument",
        ),
        'level == "group" and "sub-05" not in people and (open(target + "/count.tsv", "w").write("n/a\\n"), '
        "sys.stdout.flush(), os._exit(0))": ("out1", "group level, without-sub-05", "no finite number"),
    }
    for line, (out, *words) in cases.items():
        write_app(developer.folder / "app", COUNT.replace("if level ==", f"{line}\nif level ==", 1))
        answer = developer("siesta", "run", "data", "app", out, *APP, *WIDE, "--slots", 1)
        assert answer.code != 0
        said = " ".join(answer.err.split())
        assert all(word in said for word in words), answer
        assert not (developer.folder / out / "released").exists()
    refused = developer("siesta", "run", "data", "app", "out0", *APP, *WIDE)
    assert "begun with another pipeline" in refused.err


def test_files_at_the_root_of_the_participant_level_are_dropped_with_a_word(developer: Terminal) -> None:
    """BIDS asks each derivative for a description at its root, and apps write logs and reports beside it."""
    root = """\
    for path in ("dataset_description.json", ".bidsignore", "report.html", "logs/run.log"):
        os.makedirs(os.path.dirname(f"{target}/{path}"), exist_ok=True)
        open(f"{target}/{path}", "w").write(people[0])
"""
    write_app(developer.folder / "app", COUNT.replace("else:", f"{root}else:", 1))
    places = ("--command", "python3 /pipeline/app.py {in} {out} {level}")
    answer = developer.ok("siesta", "run", "data", "app", "out", *places, *WIDE)
    words = " ".join(answer.err.split())
    assert "Dropped, since two people's would meet there" in words
    for path in (".bidsignore", "dataset_description.json", "logs/run.log", "report.html"):
        assert f"{path} (20 runs)" in words
    assert not list((developer.folder / "out" / "released").rglob("*.html"))
    truth = (developer.folder / "out" / "secret" / "group" / "everybody" / "count.tsv").read_text()
    assert truth == "20\n"


def test_blocks_are_pure_dp_of_one_run_and_need_a_shape_from_elsewhere(developer: Terminal) -> None:
    blocks = ("--mechanism", "sample_aggregate", "--epsilon", 3, "--block-size", 4)
    command = ("siesta", "run", "data", "app", "out", *APP, *WIDE, *blocks)
    assert "must not learn from the data" in " ".join(developer(*command).err.split())
    invented = developer.folder / "invented"
    invented.mkdir()
    (invented / "count.tsv").write_text("7\n")
    shape = ("--skeleton", "invented", "--nominal-size", 20)
    # a block is whoever the key puts there; the app fails where fewer than four people are together
    few = 'level == "group" and len(people) < 4 and sys.exit(1)\n'
    write_app(developer.folder / "app", COUNT.replace("if level ==", f"{few}if level ==", 1))
    done = developer.ok(*command, *shape, "--json").json
    assert (done["guarantee"], done["group_runs"], done["participant_runs"]) == ("pure_dp", 5, 20)
    assert "No ledger is kept here" in done["label"]
    assert not done["labels_are_of_the_data"]
    failed = [line for line in journal(developer.folder / "out")[1:] if line.get("done") is False]
    assert len(failed) == done["failed_blocks"]
    assert "belongs to" in developer(*command, *shape, "--noise-multiplier", 1).err
    assert "needs --epsilon" in developer(*command[:11], *blocks[:2]).err


def test_what_a_plain_app_must_say(developer: Terminal) -> None:
    run = ("siesta", "run", "data")
    cases = {
        (PIPELINE, *APP): "says it already; leave out --command",
        ("app",): "has no dpgate.yaml",
        ("nothing",): "not a folder",
        ("app", *APP): "bounds are missing",
        ("app", *APP, "--lower", "x", "--upper", 1): "'x' is not a number",
        ("app", "--command", "'", *WIDE): "--command",
        ("app", *APP, *WIDE, "--bounds", "b.tsv"): "say the same thing",
        ("app", *APP, "--bounds", "bad.tsv"): "must hold lines of",
        ("app", *APP, "--bounds", "none.tsv"): "no line for count.tsv",
        ("app", *APP, "--bounds", "more.tsv"): "names x.tsv",
        ("app", *APP, *WIDE, "--epsilon", 1): "belong to --mechanism sample_aggregate",
        ("app", *APP, *WIDE, "--noise-multiplier", 0): "noise multiplier: is ",
        ("app", *APP, *WIDE, "--image", "nowhere"): "is not on this machine",
        ("app", "--command", "python app.py", *WIDE): "python is no program of the image host-python",
        ("app", "--command", "run {in} {out}", *WIDE): "leaves out {level}",
        ("app", *APP, *WIDE, "--python-env", "env"): "such as in your home and not below /tmp",
    }
    (developer.folder / "env" / "bin").mkdir(parents=True)
    (developer.folder / "env" / "bin" / "python3").symlink_to(sys.executable)
    header = "file\tlower\tupper\n"
    for name, text in {
        "b.tsv": f"{header}count.tsv\t0\t64\n",
        "bad.tsv": "x\n",
        "none.tsv": header,
        "more.tsv": f"{header}x.tsv\t0\t1\n",
    }.items():
        (developer.folder / name).write_text(text)
    for (pipeline, *options), words in cases.items():
        answer = developer(*run, pipeline, "out", *options)
        assert answer.code != 0
        assert words in " ".join(answer.err.split()), (pipeline, options, answer)
        assert not (developer.folder / "out" / "released").exists()
    (developer.folder / "whitelist.txt").write_text("../x.tsv\n")
    refused = developer(*run, "app", "out", *APP, *WIDE, "--whitelist", "whitelist.txt")
    assert "whitelist.txt, line 1" in refused.err


def test_ten_people_are_enough_and_nine_are_too_few(developer: Terminal) -> None:
    """Each person's own way: two sessions, one, or a row without any; and tables beside the roster."""
    data = developer.folder / "data"
    lines = (data / "participants.tsv").read_bytes().splitlines(keepends=True)
    (data / "participants.tsv").write_bytes(b"".join(lines[:11]))
    for number in range(11, 21):
        shutil.rmtree(data / f"sub-{number}")
    for number in range(1, 5):
        run = data / f"sub-{number:02}" / f"ses-{number % 2 + 1}" / "func"
        run.mkdir(parents=True)
        (run / f"sub-{number:02}_ses-{number % 2 + 1}_task-rest_events.tsv").write_text("onset\n1\n")
    (data / "task-rest_events.tsv").write_text("onset\tduration\n0\t1\n")
    (data / "phenotype").mkdir()
    (data / "phenotype" / "iq.tsv").write_text("participant_id\tiq\nsub-02\t101\nsub-03\tn/a\n")
    done = developer.ok("siesta", "run", "data", "app", "out", *APP, *WIDE, "--json").json
    assert (done["participant_runs"], done["group_runs"]) == (10, 11)
    assert done["values"][0]["noise_scale"] == 32  # no less than a tenth of the range
    (data / "participants.tsv").write_bytes(b"".join(lines[:10]))
    shutil.rmtree(data / "sub-10")
    assert "takes 10 to" in developer("siesta", "run", "data", "app", "other", *APP, *WIDE).err
