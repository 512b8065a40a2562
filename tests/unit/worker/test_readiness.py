"""Every reason not to run that is known before data are touched, and that nothing else is one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from factories import (
    IMAGE,
    NOW,
    make_dataset,
    make_declaration,
    make_job_request,
    make_manifest,
    make_pipeline,
    policy_fields,
)

from domain.image import ImageKind, SyscallTable
from domain.job import Reason
from store.images import Image
from worker.readiness import FINAL, refusal
from worker.sandbox.core.images import StoredImage
from worker.sandbox.host_image import describe
from worker.sandbox.profiles import Profile

APPROVED = Image(
    digest=IMAGE,
    name="python",
    description="",
    kind=ImageKind.IMPORTED,
    tree_digest=IMAGE,
    source_digest=IMAGE,
    size=1,
    syscalls=SyscallTable.STRICT,
    warm=False,
    approved_by="olga",
    approved_at=NOW,
    withdrawn_by=None,
    withdrawn_at=None,
    created_at=NOW,
)
COARSE = {"mode": "coarse", "step_seconds": 1}


@pytest.fixture
def image(tmp_path):
    """A root file system with one program, a file that is none, and links in and out."""
    rootfs = tmp_path / "rootfs"
    programs = rootfs / "usr" / "bin"
    programs.mkdir(parents=True)
    for name, mode in (("python3.11", 0o755), ("notes.txt", 0o644)):
        (programs / name).write_text("")
        (programs / name).chmod(mode)
    outside = tmp_path / "outside"
    outside.write_text("")
    outside.chmod(0o755)
    for link, target in (
        (rootfs / "bin", "usr/bin"),
        (programs / "python3", "python3.11"),
        (programs / "absolute", "/bin/python3"),
        (programs / "up", "../../../../../usr/bin/python3.11"),
        (programs / "away", str(outside)),
        (programs / "dangling", "nothing"),
        (programs / "endless", "endless"),
    ):
        link.symlink_to(target)
    return StoredImage("python", IMAGE, rootfs, IMAGE, "/usr/bin/python3.11")


def reason(
    image,
    *,
    profile=Profile.STANDARD,
    sandbox="supervised",
    record=APPROVED,
    declared=None,
    asked=None,
    in_memory=True,
    **manifest,
):
    pipeline = make_pipeline(manifest=make_manifest(**manifest))
    request = make_job_request(pipeline=pipeline.model_dump(), **(asked or {}))
    job = SimpleNamespace(image_digest=IMAGE, request=request)
    return refusal(
        cast(Any, job),
        make_dataset(declaration=make_declaration(**(declared or {}))),
        settings=cast(Any, SimpleNamespace(isolation=profile, sandbox=sandbox)),
        image=image,
        record=record,
        in_memory=in_memory,
    )


def test_a_job_that_may_run(image):
    assert reason(image) is None
    assert reason(image, profile=Profile.STRICT) is None


def test_dev_takes_synthetic_data_only(image):
    assert reason(image, profile=Profile.DEV) is Reason.NOT_SYNTHETIC
    assert reason(image, profile=Profile.DEV, declared={"synthetic": True}) is None


@pytest.mark.parametrize("profile", list(Profile))
def test_only_strict_refuses_coarse_timing(image, profile):
    declared = {"synthetic": True, "policy": policy_fields(timing=COARSE)}
    wanted = Reason.TIMING_NOT_PADDED if profile is Profile.STRICT else None
    assert reason(image, profile=profile, declared=declared) is wanted


@pytest.mark.parametrize(
    "record",
    [
        replace(APPROVED, approved_at=None, approved_by=None),
        replace(APPROVED, withdrawn_at=NOW, withdrawn_by="olga"),
        replace(APPROVED, digest="sha256:" + "2b" * 32),
    ],
    ids=["waiting", "withdrawn", "another"],
)
def test_an_image_that_is_not_approved_any_more(image, record):
    assert reason(image, record=record) is Reason.IMAGE_CHANGED


def test_an_image_that_is_not_here(image):
    assert reason(None) is Reason.IMAGE_CHANGED
    assert reason(replace(image, digest="sha256:" + "2b" * 32)) is Reason.IMAGE_CHANGED


COMMANDS_THAT_ARE_THERE = (
    "python3",
    "python3.11",
    "absolute",
    "up",
    "/bin/python3",
    "/usr/bin/../bin/python3",
    "/pipeline/main.py",
)


def test_commands_that_are_there(subtests, image):
    for command in COMMANDS_THAT_ARE_THERE:
        with subtests.test(command=command):
            assert reason(image, command=[command]) is None


COMMANDS_THAT_ARE_MISSING = (
    "Rscript",
    "notes.txt",
    "away",
    "dangling",
    "endless",
    "/usr/bin",
    "/usr/bin/notes.txt",
    "/usr/bin/python3/x",
    "/pipeline/other.sh",
    "/pipeline/../usr/bin/python3",
    "./python3",
    "bin/python3",
    "/tmp/x",
    "..",
    "/",
)


def test_commands_that_are_missing(subtests, image):
    for command in COMMANDS_THAT_ARE_MISSING:
        with subtests.test(command=command):
            assert reason(image, command=[command]) is Reason.COMMAND_MISSING


def test_a_script_of_the_pipeline_that_is_missing(image):
    assert reason(image, command=["python3", "/pipeline/other.py"]) is Reason.COMMAND_MISSING
    assert Reason.COMMAND_MISSING in FINAL


def test_the_search_path_is_the_images_own(image):
    assert reason(replace(image, environment={"PATH": "/opt/bin::"})) is Reason.COMMAND_MISSING
    assert reason(replace(image, environment={"PATH": "/opt/bin:/bin"})) is None


@pytest.mark.needs(process=True)
@pytest.mark.parametrize(("command", "there"), [("python3", True), ("sh", True), ("no-such-program", False)])
def test_a_host_image_holds_what_it_mounts(command, there):
    host = replace(describe(), digest=IMAGE)
    assert reason(host, command=[command]) is (None if there else Reason.COMMAND_MISSING)


@pytest.mark.needs(process=True)
def test_a_program_of_the_host_that_is_not_mounted(tmp_path):
    script = tmp_path / "not-mounted"
    script.write_text("")
    script.chmod(0o755)
    assert reason(replace(describe(), digest=IMAGE), command=[str(script)]) is Reason.COMMAND_MISSING


def test_channels_that_the_policy_does_not_accept_are_refused(image, subtests: pytest.Subtests):
    standard = replace(APPROVED, syscalls=SyscallTable.STANDARD)
    shared, none = {"isolation": "shared"}, {"accepted_channels": []}
    of_docker = ["page_faults", "pipe_count", "mount_numbers", "pid_numbers"]
    of_standard = ["pipe_count", "mount_numbers"]
    rows: tuple[tuple[str, dict[str, Any], Reason | None], ...] = (
        ("supervised and strict, alone", {"policy": none}, None),
        ("supervised and strict, beside others", {"policy": {**shared, **none}}, None),
        ("not in memory", {"in_memory": False, "policy": none}, Reason.CHANNELS_OF_IMAGE),
        ("not in memory, accepted", {"in_memory": False}, None),
        ("docker", {"sandbox": "docker"}, Reason.CHANNELS_OF_DOCKER),
        ("docker, all but page_faults accepted",
         {"sandbox": "docker", "policy": {"accepted_channels": of_docker[1:]}}, Reason.CHANNELS_OF_DOCKER),
        ("docker, accepted but one", {"sandbox": "docker", "policy": {"accepted_channels": of_docker[:-1]}},
         Reason.CHANNELS_OF_DOCKER),
        ("docker, accepted", {"sandbox": "docker", "policy": {"accepted_channels": of_docker}}, None),
        ("docker beside others leaves more open",
         {"sandbox": "docker", "policy": {"accepted_channels": of_docker, **shared}},
         Reason.CHANNELS_OF_DOCKER),
        ("standard", {"record": standard}, Reason.CHANNELS_OF_STANDARD),
        ("standard, accepted", {"record": standard, "policy": {"accepted_channels": of_standard}}, None),
        ("standard, accepted, not in memory",
         {"record": standard, "in_memory": False, "policy": {"accepted_channels": of_standard}},
         Reason.CHANNELS_OF_IMAGE),
        ("standard beside others", {"record": standard, "policy": {"accepted_channels": of_docker, **shared}},
         Reason.CHANNELS_OF_STANDARD),
    )  # fmt: skip
    for name, given, wanted in rows:
        with subtests.test(name):
            settings = dict(given)
            declared = {"policy": policy_fields(**settings.pop("policy", {}))}
            assert reason(image, declared=declared, **settings) is wanted


def test_the_refusal_names_the_channels_and_what_to_do():
    for found in (Reason.CHANNELS_OF_DOCKER, Reason.CHANNELS_OF_STANDARD):
        assert "pipe_count, mount_numbers, shared_pages" in found.value
        assert "accept them by name" in found.value
    assert "standard_calls" in Reason.CHANNELS_OF_STANDARD.value
    assert "(page_faults)" in Reason.CHANNELS_OF_IMAGE.value
    assert Reason.CHANNELS_OF_DOCKER not in FINAL, "another worker may be supervised"
    assert Reason.CHANNELS_OF_IMAGE not in FINAL, "another worker may have room"


def test_code_that_somebody_has_read_needs_no_runs_that_cannot_signal(image):
    pipeline = make_pipeline()
    declared = {"policy": policy_fields(guarantees=["empirical"], reviewed_pipelines=[pipeline.digest])}
    asked = {"mechanism": {"name": "stability_calibrated", "noise_multiplier": 1}}
    assert reason(image, sandbox="docker", declared=declared, asked=asked) is None
