"""The table of hosts that lack something, in `docs/how-to/deploy.md`: `dpgate doctor` on each.

Each is made of this one, and the lack is real but for what a switch of the kernel says.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sandbox_harness import open_folder

from dpgate.cli.exit_codes import ExitCode
from worker.sandbox.profiles import Profile

SCRIPT = Path(__file__).with_name("unfit_host.py")
PROJECT = Path(__file__).parents[3]
PAGE = PROJECT / "docs" / "how-to" / "deploy.md"
# a host of the table: what makes it of this one (unfit_host.py)
HOSTS = {
    "has no bubblewrap": "no program of bubblewrap",
    "allows no user namespaces": "no user namespaces",
    "allows them to root alone": "user namespaces for root alone",
    "refuses `seccomp` to the worker": "no seccomp",
    "has no user notification": "no notification",
    "cannot set numbers of processes": "no process numbers",
    "has a masked or read-only `/proc`": "read-only /proc",
    "has no `fsopen`": "no detached mounts",
    "refuses Landlock to the worker": "Landlock refused",
    "has no Landlock": "no Landlock",
    "lets the worker make no control groups": "no control groups",
    "logs how runs end": "loud log",
    "shows the processes of others to each account": "processes of others",
    "has its scratch folder on a disk": "scratch on a disk",
    "keeps no images in memory": "scratch without programs",
    "swaps": "swap",
    "has threads that share a core": "threads",
    "has fewer cores than slots": "none",
    "dumps memory to a program": "dumps",
}
OFTEN = {"has no user notification", "logs how runs end"}  # the others are asked of the features themselves


def rows() -> dict[str, tuple[str, str, str]]:
    table = PAGE.read_text("utf-8").partition("| a host that |")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]
    return {host: (said.strip("`"), falls, do) for host, said, falls, do in cells}


def doctor(condition: str, slots: int = 2) -> tuple[int, dict[str, dict[str, Any]]]:
    """Its exit code, and its features by name."""
    with open_folder() as folder:
        answer = subprocess.run(
            [sys.executable, SCRIPT, condition, folder, "doctor", "--slots", str(slots)],
            cwd="/",
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT), "DPGATE_HOME": f"{folder}/nobody"},
            capture_output=True,
            text=True,
        )
    assert answer.stdout, answer.stderr
    return answer.returncode, {row["name"]: row for row in json.loads(answer.stdout)["features"]}


def falls_from(words: str) -> Profile | None:
    """The mildest profile that refuses such a host, as the table says it."""
    if words.startswith("no run starts"):
        return Profile.DEV
    found = re.match(r"no original data under `(\w+)`: ", words)
    assert found or words.startswith("advised: "), words
    return Profile(found[1]) if found else None


def test_the_table_has_each_of_these_hosts():
    assert list(rows()) == list(HOSTS)


@pytest.mark.parametrize(
    "host",
    [host if host in OFTEN else pytest.param(host, marks=pytest.mark.deep("another")) for host in HOSTS],
)
def test_the_doctor_names_what_such_a_host_lacks(host):
    code, found = doctor(HOSTS[host], 500 if host == "has fewer cores than slots" else 2)
    said, falls, _ = rows()[host]
    lacking, needed_from = found[said], falls_from(falls)
    assert not lacking["present"], lacking
    assert lacking["detail"]
    assert lacking["fix"]
    assert lacking["needed_from"] == (needed_from and needed_from.value)
    stops = needed_from in (Profile.DEV, Profile.STANDARD)  # the doctor's own profile is standard
    assert lacking["stops"] is stops
    assert not stops or code == ExitCode.NOT_ISOLATED


def lacks(condition: str) -> set[str]:
    return {name for name, row in doctor(condition)[1].items() if not row["present"]}


def test_processes_that_are_hidden_are_not_named():
    """And as hidden as that, a run is made all the same."""
    code, found = doctor("hidden processes")
    assert found["accounts of this host see no processes of others"]["present"]
    assert code == 0, found


def test_a_log_that_says_nothing_is_not_named():
    assert "the log of the kernel says nothing of how runs end" not in lacks("quiet log")


@pytest.mark.deep("another")
@pytest.mark.parametrize("condition", ["no time namespaces", "no large pages"])
def test_nothing_else_is_missed(condition):
    of_ordinary_users = {"each slot has a user of its own", "control groups are delegated"}
    assert lacks(condition) <= lacks("none") | of_ordinary_users
