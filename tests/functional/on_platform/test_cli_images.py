"""Images from the archive to the approval and back, by commands on the worker's host."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from image_archives import digest_of, save_small_image
from terminal import EXAMPLES, Answer, Platform, Terminal, data_folder, ready_pipeline
from waiting import wait_until

from dpgate.cli.exit_codes import ExitCode

PROJECT = EXAMPLES.parent
NO_DIGEST = "a name or tag can come to stand for another image"


@pytest.fixture
def platform(one_platform: Platform) -> Platform:
    return one_platform


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return save_small_image(tmp_path / "small.tar", marker=str(tmp_path))


def state_of(platform: Platform, digest: str) -> str | None:
    found = platform.operator.ok("image", "list", "--json").json
    return next((image["state"] for image in found if image["digest"] == digest), None)


def held(platform: Platform) -> set[Path]:
    """Images that lie unpacked in the store."""
    return set(platform.stack.home.images.glob("images/sha256/*/rootfs"))


def test_the_way_of_an_archive(platform: Platform, archive: Path) -> None:
    digest, operator = digest_of(archive), platform.operator
    others = held(platform)
    shown = operator.ok("image", "add", archive, "--name", "small")
    assert f"dpgate image approve {digest}" in shown.out
    wait_until(lambda: state_of(platform, digest) == "waiting for approval")
    listed = operator.ok("image", "list").out
    assert "small: waiting for approval; imported from an archive" in " ".join(listed.split())

    approved = operator.ok("image", "approve", digest, "--syscalls", "standard")
    assert "approved by operator for the standard system calls" in " ".join(approved.out.split())
    assert "Runs with the standard table can notice more of each other" in " ".join(approved.err.split())
    assert state_of(platform, digest) == "approved"
    assert len(held(platform)) == len(others) + 1
    assert "small is withdrawn by operator" in operator.ok("image", "withdraw", digest).out
    assert operator("image", "withdraw", digest).code == ExitCode.CONFLICT
    assert operator.ok("image", "approve", digest, "--json").json["syscalls"] == "strict"

    assert "its files are deleted" in operator.ok("image", "remove", digest).out
    assert state_of(platform, digest) == "withdrawn"
    assert held(platform) == others
    again = operator("image", "remove", digest)
    assert again.code == ExitCode.USAGE
    assert "holds no image" in again.err


def test_the_same_archive_twice_is_one_image(platform: Platform, archive: Path) -> None:
    add = ("image", "add", archive, "--name", "twice", "--json")
    assert platform.operator.ok(*add).json == platform.operator.ok(*add).json
    other = platform.operator("image", "add", archive, "--name", "another")
    assert (other.code, "under the name twice" in other.err) == (ExitCode.USAGE, True)


def test_the_hosts_own_image_says_what_it_is_for(platform: Platform) -> None:
    host = next(i for i in platform.operator.ok("image", "list", "--json").json if i["kind"] == "host")
    assert host["state"] == "approved"
    words = "for twins, and for data sets whose rights holder names it in policy.images"
    assert words in " ".join(platform.ada.ok("image", "list").out.split())
    assert words in " ".join(platform.operator.ok("image", "approve", host["digest"], "--warm").err.split())
    removed = platform.operator("image", "remove", host["digest"])
    assert removed.code == ExitCode.USAGE
    assert "take the approval back with: dpgate image withdraw" in " ".join(removed.err.split())
    assert state_of(platform, host["digest"]) == "approved"


def test_a_name_or_tag_is_refused(platform: Platform, subtests: pytest.Subtests) -> None:
    for command in ("approve", "withdraw", "remove"):
        for reference in ("small", "small:1", "sha256:12"):
            with subtests.test(msg=f"{command} {reference}"):
                answer = platform.operator("image", command, reference)
                assert answer.code == ExitCode.USAGE
                assert NO_DIGEST in " ".join(answer.err.split())
                assert "Use the digest" in answer.err


def test_only_operators_approve(platform: Platform, archive: Path) -> None:
    for command in ("approve", "withdraw"):
        assert platform.ada("image", command, digest_of(archive)).code == ExitCode.NOT_ALLOWED


def test_what_cannot_be_added(shell: Terminal, archive: Path, tmp_path: Path) -> None:
    (tmp_path / "zone").mkdir()
    text, cut = tmp_path / "text.tar", tmp_path / "cut.tar"
    text.write_text("not an image\n")
    cut.write_bytes(archive.read_bytes()[:1500])
    store = open_folder(tmp_path)
    for given, name, words in (
        (text, "x", "the file is no image archive"),
        (cut, "x", ""),
        (tmp_path / "nowhere.tar", "x", "nowhere.tar is no file"),
        (tmp_path, "x", "is no file"),
        (archive, "Upper", "cannot stand in a manifest. Use small letters, digits and hyphens."),
        (archive, "python:3.11", "cannot stand in a manifest"),
    ):
        answer = shell("image", "add", given, "--name", name, "--store", store)
        assert answer.code == ExitCode.USAGE, answer
        assert words in " ".join(answer.err.split())
        assert "fault" not in answer.err
    answer = shell("image", "add", archive, "--name", "x", "--store", tmp_path / "no" / "images")
    assert "there is no worker zone" in answer.err
    shutil.rmtree(store.parent)


def open_folder(tmp_path: Path) -> Path:
    """A store's place that users of slots can pass."""
    folder = Path(tempfile.mkdtemp(prefix=f"dpgate-{tmp_path.name}-"))
    folder.chmod(0o711)
    return folder / "images"


def test_a_disk_that_is_full(archive: Path, tmp_path: Path) -> None:
    store = open_folder(tmp_path)
    mounts = ["--mount"] if os.getuid() == 0 else ["--user", "--map-root-user", "--mount"]
    full = f"mount -t tmpfs -o size=16k,mode=0711 none {store.parent}"
    command = ["-m", "dpgate", "image", "add", archive, "--name", "x", "--store", store]
    done = subprocess.run(
        ["unshare", *mounts, "sh", "-ec", f'{full}; exec "$@"', "sh", sys.executable, *command],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    answer = Answer(done.returncode, done.stdout, done.stderr)
    store.parent.rmdir()
    assert answer.code in (ExitCode.USAGE, ExitCode.NOT_READY), answer
    assert "there is no room left on the disk" in answer.err or "disk is full" in answer.err


def test_a_job_whose_image_was_withdrawn_ends_without_a_charge(platform: Platform) -> None:
    data, declaration = data_folder(platform.folder / "withdrawn", name="withdrawn", approve_jobs=True)
    deliveries = platform.stack.home.deliveries
    platform.holder.ok("dataset", "add", data, "-d", declaration, "--deliveries", deliveries)
    folder = ready_pipeline(platform, "withdrawn", "withdrawn-pipeline")
    job = platform.ada.ok("submit", folder, "--epsilon", "1", "--json").json
    host = next(i for i in platform.operator.ok("image", "list", "--json").json if i["kind"] == "host")
    platform.operator.ok("image", "withdraw", host["digest"])
    try:
        platform.holder.ok("decide", job["id"], "approve")
        wait_until(lambda: platform.ada.ok("status", job["id"], "--json").json["reason"])
        seen = platform.ada.ok("status", job["id"], "--json").json
        assert "its approval was withdrawn" in seen["reason"]
        assert seen["state"] in ("QUEUED", "PREPARING", "ERRORED")
        assert platform.ada("submit", folder, "--epsilon", "0.5").code == ExitCode.USAGE
        account = platform.ada.ok("budget", "withdrawn", "--json").json["accounts"][0]
        assert account["spent"] == "0"
    finally:
        platform.operator.ok("image", "approve", host["digest"], "--warm")
