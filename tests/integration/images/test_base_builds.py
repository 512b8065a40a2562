"""The builder: same parts same image, clear words when it cannot, nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from base_images import ROOT, base_archive
from waiting import PATIENCE_S, wait_until

from sandbox_images.bases import workplace as workplaces
from sandbox_images.bases.command import CannotBuild, run_all
from sandbox_images.bases.debian import PrivateApt
from sandbox_images.bases.wheels import install

BUILD = (sys.executable, "-m", "sandbox_images.bases", "build")
# as an ordinary user would: no capability, so no mount and no chroot
ORDINARY_USER = ("bwrap", "--die-with-parent", "--unshare-user", "--uid", "1500", "--gid", "1500")
ORDINARY_USER += ("--cap-drop", "ALL", "--dev-bind", "/", "/")


def attempt(
    *command: str | Path, temporary: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command of the builder with a temporary folder of its own."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(temporary)} | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )


WHOLE = pytest.mark.deep(
    "one more build of a base; the first asks for the same bytes, and one for a clean end"
)


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def test_an_ordinary_user_builds_the_same_bytes(tmp_path: Path, temporary: Path) -> None:
    out = tmp_path / "minimal.tar"
    surroundings = {"TZ": "Asia/Tokyo", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "7"}
    command = ("sh", "-c", 'umask 077 && exec "$@"', "sh", *ORDINARY_USER, *BUILD, "minimal", "--out", out)
    done = attempt(*command, temporary=temporary, environment=surroundings)
    assert done.returncode == 0, done.stderr
    first = base_archive("minimal")
    assert out.read_bytes() == first.read_bytes(), "if the mirror has newer packages, remove the tests' cache"
    assert (
        out.with_name("minimal.sbom.json").read_bytes() == first.with_name("minimal.sbom.json").read_bytes()
    )
    assert not list(temporary.iterdir())


@WHOLE
def test_the_time_of_the_files_can_be_given(tmp_path: Path, temporary: Path) -> None:
    out = tmp_path / "minimal.tar"
    done = attempt(
        *BUILD, "minimal", "--out", out, temporary=temporary, environment={"SOURCE_DATE_EPOCH": "86400"}
    )
    assert done.returncode == 0, done.stderr
    listed = attempt("tar", "-tvf", out, "--utc", temporary=temporary).stdout.splitlines()
    assert {line.split()[3] for line in listed} == {"1970-01-02"}
    assert out.read_bytes() != base_archive("minimal").read_bytes()


@pytest.mark.parametrize(
    ("wrapper", "environment", "sentence"),
    [
        ((*ORDINARY_USER, "--unshare-net"), {}, "cannot be read: check the network"),
        (
            (),
            {"PATH": "/nowhere"},
            "lacks apt-get (package apt), apt-config (package apt), dpkg (package dpkg)",
        ),
        ((), {"SOURCE_DATE_EPOCH": "yesterday"}, "SOURCE_DATE_EPOCH is 'yesterday': it must be seconds"),
        ((), {"APT_CONFIG": "{no_sources}"}, "name no mirror of Debian bookworm"),
    ],
    ids=["offline", "tools", "time", "sources"],
)
def test_what_is_missing_is_said(
    tmp_path: Path, temporary: Path, wrapper: tuple[str, ...], environment: dict[str, str], sentence: str
) -> None:
    no_sources = tmp_path / "apt.conf"
    no_sources.write_text(f'Dir::Etc::sourcelist "{tmp_path}/none"; Dir::Etc::sourceparts "{temporary}";\n')
    environment = {name: value.format(no_sources=no_sources) for name, value in environment.items()}
    out = tmp_path / "minimal.tar"
    done = attempt(*wrapper, *BUILD, "minimal", "--out", out, temporary=temporary, environment=environment)
    assert done.returncode == 1
    assert done.stderr.startswith("cannot build minimal: ")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(temporary.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["apt.conf", "temporary"]


def test_the_folder_of_the_archive_must_exist(tmp_path: Path, temporary: Path) -> None:
    done = attempt(*BUILD, "minimal", "--out", tmp_path / "none" / "minimal.tar", temporary=temporary)
    assert (done.returncode, "none does not exist" in done.stderr) == (1, True)


# a file system of two megabytes, which goes with the command
SMALL_MNT = ("bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--size", str(2 << 20), "--tmpfs", "/mnt")


def test_a_small_temporary_folder_is_said_before_anything_is_fetched(tmp_path: Path) -> None:
    small = (*SMALL_MNT, "--setenv", "TMPDIR", "/mnt")
    done = attempt(*small, *BUILD, "minimal", "--out", tmp_path / "minimal.tar", temporary=tmp_path)
    assert done.returncode == 1
    assert "/mnt has 2 MB free, and this build needs 200: make room, or name another" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@WHOLE
def test_a_full_disk_is_said(temporary: Path) -> None:
    """The archive's folder is on a disk that fills up while it is written."""
    done = attempt(*SMALL_MNT, *BUILD, "minimal", "--out", "/mnt/minimal.tar", temporary=temporary)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(temporary.iterdir())


def test_a_command_that_never_ends_is_ended() -> None:
    """As apt-get does not when the disk fills up under it."""
    with pytest.raises(CannotBuild, match=r"It hangs\.\nsleep 600 has not ended after 0\.1 seconds"):
        run_all([["sleep", "600"]], "It hangs.", patience_s=0.1)


def test_a_package_that_debian_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotBuild, match="bookworm does not have all of mawk, no-such-package"):
        PrivateApt(tmp_path).fetch(["mawk", "no-such-package"])


def test_a_wheel_with_another_hash_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "python.lock"
    lock.write_text(f"threadpoolctl==3.6.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(CannotBuild, match="HASHES"):
        install(tmp_path / "root", lock, "amd64", tmp_path)
    assert not (tmp_path / "root").exists()


def start_until_it_fetches(out: Path, temporary: Path) -> subprocess.Popen[bytes]:
    """A build that is in the middle of its work."""
    command = [*BUILD, "minimal", "--out", str(out)]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"TMPDIR": str(temporary)})
    wait_until(
        lambda: list(temporary.glob("*/apt/apt.conf")),
        unless=lambda: process.poll() is not None and "it has ended",
    )
    return process


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, pytest.param(signal.SIGINT, marks=WHOLE), pytest.param(signal.SIGHUP, marks=WHOLE)],
)
def test_a_stopped_build_leaves_nothing(tmp_path: Path, temporary: Path, number: signal.Signals) -> None:
    out = tmp_path / "minimal.tar"
    process = start_until_it_fetches(out, temporary)
    process.send_signal(number)
    assert process.wait(PATIENCE_S) != 0
    assert not list(temporary.iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


def test_what_a_stopped_command_started_is_stopped_too(tmp_path: Path) -> None:
    """apt-get's helpers wrote on into the folder that was being removed."""
    number = tmp_path / "number"
    starts_another = f"sleep 1000 & echo $! >{number}; wait"
    fails_then = f"until [ -s {number} ]; do sleep 0.01; done; exit 1"
    with pytest.raises(CannotBuild, match="It failed"):
        run_all([["sh", "-c", fails_then], ["sh", "-c", starts_another]], "It failed.")
    wait_until(lambda: is_gone(int(number.read_text())), said="the end of what it had started")


def is_gone(number: int) -> bool:
    try:
        return "State:\tZ" in Path(f"/proc/{number}/status").read_text()  # nobody may be there to bury it
    except (FileNotFoundError, ProcessLookupError):
        return True


@WHOLE
def test_what_a_killed_build_leaves_goes_with_the_next(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workplaces.tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(workplaces, "STARTING_S", -1)
    process = start_until_it_fetches(tmp_path / "minimal.tar", temporary)
    assert workplaces.remove_orphans() == 0, "a living build was taken for dead"
    process.kill()
    process.wait()
    assert list(temporary.iterdir())
    assert workplaces.remove_orphans() == 1
    shutil.rmtree(temporary)  # apt-get of the killed build may still have written one file
