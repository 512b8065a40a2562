"""The doctor in words, on hosts that lack something (for real, in namespaces), and why it keeps no report.

What it says of this host, and keeps, is in on_platform/test_doctor_report.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from host_devices import host_nodes
from terminal import Answer, Terminal
from waiting import wait_until

from dpgate.cli.exit_codes import ExitCode
from dpgate.diagnosis import Diagnosis, keep
from dpgate.embedded.home import Home
from dpgate.embedded.operator_token import operator_of
from store.database import Database
from worker.sandbox.needs import CONTROL
from worker.sandbox.profiles import Feature, Profile

PROJECT = Path(__file__).parents[2]


def in_conditions(setup: str, folder: Path, *, inside: Sequence[str] = (), battery: bool = False) -> Answer:
    """The doctor's report after `setup` has taken something away, `inside` namespaces of its own."""
    arguments = ["doctor", "--json", *(() if battery else ("--no-battery",))]
    with host_nodes() if battery else nullcontext():
        done = subprocess.run(
            [*inside, "sh", "-ec", f'{setup}\nexec "$@"', "sh", sys.executable, "-m", "dpgate", *arguments],
            env=os.environ | {"DPGATE_HOME": str(folder / "nobody")},
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=False,
        )
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def own_mounts() -> list[str]:
    """A command line that runs the rest with mounts of its own."""
    return ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]


@pytest.fixture
def own_users() -> Iterator[list[str]]:
    """A command line that runs the rest in a user namespace of its own; root keeps all its users there."""
    if os.getuid() != 0:
        yield ["unshare", "--user", "--map-root-user"]
        return
    holder = subprocess.Popen(["unshare", "--user", "sleep", "300"])
    try:
        own = os.readlink("/proc/self/ns/user")
        wait_until(lambda: os.readlink(f"/proc/{holder.pid}/ns/user") != own)
        for kind in ("uid", "gid"):
            Path(f"/proc/{holder.pid}/{kind}_map").write_text("0 0 4294967295")
        yield ["nsenter", "--user", f"--target={holder.pid}"]
    finally:
        holder.kill()
        holder.wait()


def feature(answer: Answer, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in answer.json["features"] if row["name"] == name)
    return found


def test_people_read_words(shell: Terminal) -> None:
    shell.environment["COLUMNS"] = "180"
    answer = shell.ok("doctor", "--no-battery")
    assert "What this host isolates" in answer.out
    for words in (
        "nothing else can be written",
        "mode 2 of 2",
        "names, all of them ours",
        "advised",
        "strict",
    ):
        assert words in answer.out
    assert not set("[]{}'") & set(answer.out)
    assert "The battery did not run: not asked for." in answer.out
    assert "This host has what profile standard needs." in answer.out


def test_what_counts_as_a_full_disk_is_a_setting(tmp_path: Path) -> None:
    answer = in_conditions(f"export DPGATE_LEAST_FREE_MIB={2**40}", tmp_path)
    assert is_room(answer) == {False}  # with another number there is, below


def is_room(answer: Answer) -> set[bool]:
    return {row["present"] for row in answer.json["features"] if row["name"].startswith("room in ")}


def test_user_namespaces_are_off(tmp_path: Path, own_users: list[str]) -> None:
    off = "echo 0 > /proc/sys/user/max_user_namespaces"
    answer = in_conditions(off, tmp_path, inside=own_users)
    assert answer.code == ExitCode.NOT_ISOLATED, answer
    found = feature(answer, "user namespaces")
    assert found["detail"] == "closed by /proc/sys/user/max_user_namespaces"
    assert "use the Docker backend" in found["fix"]
    assert not feature(answer, CONTROL)["present"]
    inside = feature(answer, "no route")
    assert (inside["present"], inside["fix"]) == (False, f"make this work first: {CONTROL}")


def test_bubblewrap_is_missing(tmp_path: Path, own_mounts: list[str]) -> None:
    places = [*Path("/usr/bin").glob("bwrap"), *Path(sys.prefix).rglob("bwrap")]
    setup = "\n".join(f"mount --bind /dev/null {place}" for place in places if place.is_file())
    answer = in_conditions(setup, tmp_path, inside=own_mounts, battery=True)
    assert answer.code == ExitCode.NOT_ISOLATED, answer
    found = feature(answer, "bubblewrap")
    assert not found["present"]
    assert "install the distribution's bubblewrap package" in found["fix"]
    assert answer.json["battery"] == {"counts": {}, "probes": []}


READ_ONLY_TMP = "mount --rbind /tmp /tmp; mount -o remount,bind,ro /tmp; ! touch /tmp/x 2> /dev/null"


def test_tmp_is_read_only_and_nothing_misses_it(tmp_path: Path, own_mounts: list[str]) -> None:
    setup = f"export DPGATE_LEAST_FREE_MIB=0; {READ_ONLY_TMP}"
    answer = in_conditions(setup, tmp_path, inside=own_mounts)
    assert answer.code == 0, answer
    assert is_room(answer) == {True}


@pytest.mark.deep("the battery runs in the same sandbox as what the doctor asks of each feature")
def test_tmp_is_read_only_and_the_battery_does_not_miss_it(tmp_path: Path, own_mounts: list[str]) -> None:
    answer = in_conditions(READ_ONLY_TMP, tmp_path, inside=own_mounts, battery=True)
    assert answer.code == 0, answer
    assert answer.json["battery"]["counts"].get("passed", 0) >= 10


def test_memory_for_blocks_is_read_only(tmp_path: Path, own_mounts: list[str]) -> None:
    answer = in_conditions("mount -t tmpfs -o ro none /dev/shm", tmp_path, inside=own_mounts)
    assert answer.code == ExitCode.NOT_ISOLATED, answer
    found = feature(answer, CONTROL)
    assert found["detail"].startswith("/dev/shm/dpgate-")
    assert "Read-only file system" in found["detail"]


def test_a_root_without_users_to_give(tmp_path: Path) -> None:
    """As in a container whose user namespace maps few users: a root that cannot give slots their own."""
    command = [sys.executable, "-m", "dpgate", "doctor", "--json", "--no-battery", "--slots", "2"]
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", *command, "--isolation", "strict"],
        env=os.environ | {"DPGATE_HOME": str(tmp_path)},
        cwd=PROJECT,
        capture_output=True,
        text=True,
    )
    found = next(
        row for row in json.loads(done.stdout)["features"] if row["name"] == "each slot has a user of its own"
    )
    assert done.returncode == ExitCode.NOT_ISOLATED
    assert (found["present"], found["stops"]) == (False, True)
    assert found["detail"].startswith("the worker is root of a container that knows no user")


def lacking(needed_from: Profile | None, profile: Profile) -> Diagnosis:
    return Diagnosis(profile, (Feature("x", needed_from, False, "", ""),), ())


def test_what_is_missing_depends_on_the_profile(subtests: pytest.Subtests) -> None:
    for profile in Profile:
        assert lacking(None, profile).is_isolated
        for needed_from in Profile:
            with subtests.test(msg=f"{needed_from} on {profile}"):
                assert lacking(needed_from, profile).is_isolated is (profile.rank < needed_from.rank)


def kept_in(home: Home) -> str:
    return keep(Diagnosis(Profile.STANDARD, (), ()), home)


def test_why_a_report_is_not_kept(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert "there is no platform in" in kept_in(home)
    home.make()
    home.operator_token.write_text("dpg_no.such\n")
    Database(home.database_url).migrate()
    assert "the operator's token is not valid there" in kept_in(home)
    home.database.unlink()
    home.database.touch()
    assert "its database cannot be written: no such table" in kept_in(home)
    home.database.write_text("not a database, but long enough to be looked at" * 100)
    assert "its database cannot be written: file is not a database" in kept_in(home)
    home.database.unlink()
    other = Path("/etc/passwd")  # of root; and if we are root, of somebody else
    if os.geteuid() == 0:
        other = tmp_path / "other"
        other.touch()
        os.chown(other, 1234, 1234)
    home.database.symlink_to(other)
    assert "belongs to another user" in kept_in(home)


def test_a_report_is_kept_where_the_platforms_database_is(postgresql_url: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    with closing(Database(postgresql_url)) as database:
        operator_of(database, home.operator_token)
    assert "there is no platform in" in kept_in(home)
    home.keep_database_url(postgresql_url)
    assert "The report is in the audit trail" in kept_in(home)
