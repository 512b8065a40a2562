"""`dpgate lab` at a terminal: the report is written, or a sentence says why not."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import Terminal

from companions.lab.experiments import EXPERIMENTS
from dpgate.cli.exit_codes import ExitCode

PEOPLE = "person,age,town\n" + "\n".join(f"p{n},{20 + n % 31},{n % 5}" for n in range(40)) + "\n"
WITHOUT_MATPLOTLIB = """\
import sys
sys.modules["matplotlib"] = None
from dpgate.cli.app import run
sys.exit(run(["lab", "run", "--demo", "--out", "r.html"]))
"""


@pytest.fixture
def people(shell: Terminal) -> Path:
    path = shell.folder / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def test_the_list_names_every_experiment(shell: Terminal) -> None:
    shown = shell.ok("lab", "list").out
    assert all(experiment.name in shown for experiment in EXPERIMENTS)
    assert [one["name"] for one in shell.ok("lab", "list", "--json").json] == [
        one.name for one in EXPERIMENTS
    ]


def test_a_report_on_the_demo(shell: Terminal) -> None:
    report = shell.folder / "r.html"
    report.write_text("old, and open to others")
    report.chmod(0o644)
    answer = shell.ok(
        "lab", "run", "--demo", "--quick", "--only", "reconstruction,linkage", "--out", "r.html"
    )
    said = " ".join((answer.out + answer.err).split())
    assert "48 of 48 heights recovered exactly" in said
    assert "all 58 people recovered exactly in 50 of 50 releases" in said
    assert "Do not publish" in said
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert "OpenNeuro ds004148 (CC0), column Height: 58 people" in report.read_text(encoding="utf-8")


def test_a_report_on_a_table_in_json(shell: Terminal, people: Path) -> None:
    bounds = ("--lower", "0", "--upper", "100")
    answer = shell.ok(
        *("lab", "run", "--table", people, "--column", "age", "--person", "person", *bounds),
        *("--quick", "--only", "reconstruction", "--seed", "3", "--out", "r.html", "--json"),
    )
    assert answer.json["report"] == "r.html"
    assert "Not a release" in answer.json["warning"]
    assert {verdict["standing"] for verdict in answer.json["verdicts"]} == {"broken", "holds", "no promise"}
    page = (shell.folder / "r.html").read_text(encoding="utf-8")
    assert "40 people; bounds 0 to 100 (stated)" in page
    assert "simulation seed 3" in page


TABLE = ("--table", "people.csv", "--column", "age")


WRONG = (
    ((), "take --demo"),
    (("--demo", *TABLE), "one of the two"),
    (("--table", "people.csv"), "--column"),
    (("--table", "missing.csv", "--column", "age"), "there is no missing.csv"),
    (("--table", "people.csv", "--column", "height"), "no column height; it has: person, age, town"),
    ((*TABLE, "--person", "name"), "no column name"),
    (("--table", "people.csv", "--column", "person"), "holds no number"),
    ((*TABLE, "--person", "town"), "has a number for 5 people; the laboratory needs 20"),
    ((*TABLE, "--lower", "1"), "both bounds"),
    ((*TABLE, "--lower", "2", "--upper", "1"), "--lower must be below --upper"),
    ((*TABLE, "--lower", "0", "--upper", "inf"), "--lower must be below --upper, and both finite"),
    ((*TABLE, "--lower", "nan", "--upper", "1"), "and both finite"),
    (("--demo", "--only", "magic"), "no experiment 'magic'"),
    (("--demo", "--seed", "-1"), "--seed must be 0 or more"),
)


@pytest.mark.usefixtures("people")
def test_a_wrong_option_is_refused_with_a_sentence(shell: Terminal, subtests: pytest.Subtests) -> None:
    for options, words in WRONG:
        with subtests.test(msg=" ".join(options)):
            answer = shell("lab", "run", *options, "--out", "r.html")
            said = " ".join((answer.err + answer.out).split())
            assert answer.code == ExitCode.USAGE
            assert words in said
            assert "Traceback" not in said
            assert not (shell.folder / "r.html").exists()


def test_a_folder_that_is_not_there_is_refused_before_anything_runs(shell: Terminal) -> None:
    answer = shell("lab", "run", "--demo", "--out", "nowhere/r.html", "--json")
    assert answer.code == ExitCode.USAGE
    assert "no folder nowhere" in answer.json["error"]


def test_without_the_extra_its_name_is_said(shell: Terminal) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_MATPLOTLIB],
        cwd=shell.folder,
        env=shell.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == ExitCode.USAGE
    assert 'pip install "dpgate[lab]"' in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
    assert not (shell.folder / "r.html").exists()
