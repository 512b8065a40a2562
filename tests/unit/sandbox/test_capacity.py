"""The largest input of a run: fixed by the host and its settings, counted without a look at what is free."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path

import pytest

from dpgate.diagnosis import Backend
from worker.sandbox.capacity import FILE_OVERHEAD, capacity_of, needed_for, room_of, room_of_parts, size_of
from worker.sandbox.choice import images_bytes, input_bytes
from worker.sandbox.docker_engine.features import _memory
from worker.sandbox.docker_engine.kept_parts import KeptParts
from worker.sandbox.docker_engine.settings import DockerSettings
from worker.sandbox.docker_engine.sizes import can_be_given, is_composed
from worker.sandbox.host_features import check_worker_process
from worker.sandbox.profiles import Feature, Profile
from worker.sandbox.protocol import MIB, SandboxUnavailable
from worker.view import Part, View

NAME = "scratch has room for the largest inputs"
DOCKER = DockerSettings(Path("/nowhere"), "sha256:" + "1" * 64, block_bytes=2 * MIB, view_bytes=4 * MIB)


def part(name: str, size: int, *, files: int = 1, key: str | None = None) -> Part:
    return Part(name, key or name, size, {f"f{number}": io.BytesIO for number in range(files)})


def room_feature(folder: Path, *, slots: int, largest: int | None) -> Feature:
    found = check_worker_process(folder, slots=slots, input_bytes=largest)
    return next(feature for feature in found if feature.name == NAME)


def test_every_slot_can_have_its_largest_input_at_once(tmp_path: Path) -> None:
    found = os.statvfs(tmp_path)
    assert size_of(tmp_path) == size_of(tmp_path / "not made yet") == found.f_blocks * found.f_frsize
    for slots in (1, 2, 7):
        largest = capacity_of(tmp_path, slots=slots)
        assert needed_for(largest, slots=slots) <= size_of(tmp_path) < needed_for(largest + 1, slots=slots)


def test_a_setting_decides_where_there_is_one(tmp_path: Path) -> None:
    backend = Backend(scratch_folder=tmp_path, own_slots=3)
    quarter = size_of(tmp_path) // 4
    assert images_bytes(backend) == quarter
    assert input_bytes(backend) == capacity_of(tmp_path, slots=3, kept_back=quarter)
    assert input_bytes(Backend(scratch_folder=tmp_path, input_mib=5)) == 5 * MIB
    assert images_bytes(replace(backend, images_in_memory_mib=7)) == 7 * MIB
    assert images_bytes(replace(backend, sandbox="docker")) == 0


def test_images_in_memory_have_what_the_inputs_leave_that_were_asked_for(tmp_path: Path) -> None:
    all_of_it = size_of(tmp_path) // MIB
    assert images_bytes(Backend(scratch_folder=tmp_path, input_mib=all_of_it)) == 0
    assert 0 < images_bytes(Backend(scratch_folder=tmp_path, input_mib=all_of_it // 2 - 5)) < 12 * MIB


def test_a_host_without_the_room_is_refused_before_it_works(tmp_path: Path) -> None:
    half = size_of(tmp_path) // 2
    assert room_feature(tmp_path, slots=4, largest=None).present
    assert room_feature(tmp_path, slots=1, largest=half).present
    lacking = room_feature(tmp_path, slots=2, largest=half)
    assert not lacking.present
    assert lacking.stops(Profile.STANDARD)
    assert not lacking.stops(Profile.DEV)
    assert "DPGATE_INPUT_MIB" in lacking.fix
    nowhere = room_feature(tmp_path / "no" / "where", slots=1, largest=None)
    assert not nowhere.present
    assert "cannot be looked at" in nowhere.detail
    with pytest.raises(SandboxUnavailable, match="cannot be looked at"):
        capacity_of(tmp_path / "no" / "where", slots=1)


def test_what_is_counted() -> None:
    view = View({"t.tsv": b"123"}, [part("a", 10, files=2), part("b", 10, key="a", files=2)])
    assert room_of(view) == 23 + 5 * FILE_OVERHEAD
    assert room_of({"t.tsv": b"123", "u": b""}) == 3 + 2 * FILE_OVERHEAD
    assert room_of_parts(view.parts) == 10 + 2 * FILE_OVERHEAD
    assert room_of({}) == 0


def test_what_a_container_can_be_given() -> None:
    kept = KeptParts(DOCKER.view_bytes)
    small, large = View({}, [part("a", MIB)]), View({}, [part("a", MIB + 1)])
    assert not is_composed(small, DOCKER)
    assert is_composed(large, DOCKER)
    assert not is_composed(View({"t": b"1" * 3 * MIB}), DOCKER)
    for block in (small, large, {"t": b"1" * (2 * MIB - 9)}, View({"t": b"1" * MIB}, [part("a", 3 * MIB)])):
        assert can_be_given(block, DOCKER, kept)
    for block in ({"t": b"1" * (2 * MIB - 8)}, View({}, [part("a", 4 * MIB)])):
        assert not can_be_given(block, DOCKER, kept)
    assert not can_be_given(View({"t": b"1" * 2 * MIB}, [part("a", MIB)]), DOCKER, kept)
    # 10 bytes each on the way, and 8 KiB each when they are there
    assert not can_be_given({f"{number:03}": b"" for number in range(800)}, DOCKER, kept)


@pytest.mark.parametrize(("slots", "present"), [(1, True), (2, True), (3, False)])
def test_memory_of_the_daemons_host(slots: int, present: bool) -> None:
    settings = DockerSettings(
        DOCKER.socket, DOCKER.keeper_image, block_bytes=MIB, view_bytes=3 * MIB, slots=slots
    )
    found = _memory(settings, {"MemTotal": 16 * MIB})
    assert found.present is present
    assert found.stops(Profile.STRICT) is not present
    assert not found.stops(Profile.STANDARD)
