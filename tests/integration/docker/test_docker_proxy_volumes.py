"""Volumes that lead to the host or to others: each works straight on the daemon, none through the proxy."""

from __future__ import annotations

import copy
import json

import pytest
from docker_orders import FIRST_UID, order_for, settings_for
from proxy_talk import ask

from worker.sandbox.docker_engine.create_body import create_body
from worker.sandbox.docker_engine.identity import LABELS
from worker.sandbox.docker_engine.keeper import keeper_part
from worker.sandbox.docker_engine.payload import payload_part
from worker.sandbox.docker_engine.volumes import Room, parts_volume, payload_volumes
from worker.sandbox.protocol import MIB

pytestmark = pytest.mark.usefixtures("nothing_left")
CREATE = "/v1.41/containers/create"
BATCH, PARTS, USER = "ab" * 16, "ef" * 16, FIRST_UID
OURS = dict.fromkeys(LABELS, "cd" * 16)
CODE, KEPT, IN, OUT = range(4)  # the mounts of a keeper for one run


@pytest.fixture
def keeper(docker_daemon, digest) -> dict:
    settings = settings_for(docker_daemon.socket, digest)
    batch = {"batch": BATCH, "parts": PARTS, "runs": 1, "out": Room(MIB, 100, USER)}
    return create_body(keeper_part(settings, environment={"PATH": "/usr/bin"}, core="", labels=OURS, **batch))


@pytest.fixture
def payload(docker_daemon, digest) -> dict:
    settings, volumes = settings_for(docker_daemon.socket, digest), payload_volumes(BATCH, 0)
    given = {"user": USER, "of_image": {"PATH": "/usr/bin"}, "core": "", "labels": OURS}
    return create_body(payload_part(settings, order_for(digest, ""), "participant", volumes=volumes, **given))


def mounting(body: dict, number: int, **changes: object) -> dict:
    body = copy.deepcopy(body)
    body["HostConfig"]["Mounts"][number] |= changes
    return body


def driven(body: dict, number: int, driver: dict) -> dict:
    body = copy.deepcopy(body)
    body["HostConfig"]["Mounts"][number]["VolumeOptions"]["DriverConfig"] = driver
    return body


def local(**options: str) -> dict:
    return {"Name": "local", "Options": options}


DRIVERS = {
    "root of the host": local(type="none", o="bind", device="/"),
    "root of the host, with its mounts": local(type="none", o="rbind", device="/"),
    "processes of the host": local(type="proc", device="proc"),
    "a disk": local(type="ext4", device="/dev/vda"),
    "layers of the host": local(type="overlay", device="overlay", o="lowerdir=/etc:/usr"),
    "another machine": local(type="nfs", o="addr=127.0.0.1", device=":/"),
    "memory without a limit": local(type="tmpfs", device="tmpfs"),
    "memory with devices": local(
        type="tmpfs", device="tmpfs", o=f"size={MIB},nr_inodes=100,uid={USER},gid={USER},mode=0700"
    ),
    "memory for more than the settings say": local(
        type="tmpfs",
        device="tmpfs",
        o=f"noexec,nosuid,nodev,size={1 << 40},nr_inodes=100,uid={USER},gid={USER},mode=0700",
    ),
}


def check_refused_by_the_proxy_alone(docker_daemon, proxy, body: dict) -> None:
    assert ask(docker_daemon.socket, "POST", CREATE, body)[0] == 201
    docker_daemon.clear()  # the next asks for volumes of the same names
    status, answer = ask(proxy, "POST", CREATE, body)
    assert status == 403, answer
    assert b"dpgate proxy" in answer


def test_a_keepers_volumes_are_memory_of_its_size(docker_daemon, proxy, keeper, subtests):
    drivers = [(driver, KEPT) for driver in DRIVERS]
    for driver, number in (*drivers, *(("root of the host", other) for other in (CODE, IN, OUT))):
        with subtests.test(msg=f"{driver} as volume {number}"):
            check_refused_by_the_proxy_alone(docker_daemon, proxy, driven(keeper, number, DRIVERS[driver]))


OTHERS = {
    "the parts of everybody": (1, {"Source": parts_volume(PARTS), "Target": "/in"}),
    "parts beside the input": (0, {"Source": parts_volume(PARTS)}),
    "another run's outputs": (0, {"Source": f"dpgate-{BATCH}-out-1", "Target": "/pipeline"}),
    "code that can be changed": (0, {"ReadOnly": False}),
    "input that can be changed": (1, {"ReadOnly": False}),
    "input elsewhere": (1, {"Target": "/usr/lib"}),
    "a folder of the host": (1, {"Type": "bind", "Source": "/etc", "VolumeOptions": None}),
}


def test_a_payload_has_the_volumes_of_its_run(docker_daemon, proxy, payload, subtests):
    for other, (number, changes) in OTHERS.items():
        with subtests.test(msg=other):
            check_refused_by_the_proxy_alone(docker_daemon, proxy, mounting(payload, number, **changes))


def test_a_payload_makes_no_volume(docker_daemon, proxy, payload, subtests):
    """Neither one of ours that the daemon would make as it says."""
    for place, number in {"in": 1, "out": 2}.items():
        with subtests.test(msg=place):
            body = driven(payload, number, DRIVERS["root of the host"])
            check_refused_by_the_proxy_alone(docker_daemon, proxy, body)


def test_a_keeper_has_the_parts_of_one_slot(docker_daemon, proxy, keeper):
    twice = copy.deepcopy(keeper)
    mounts = twice["HostConfig"]["Mounts"]
    mounts.insert(2, mounts[KEPT] | {"Source": parts_volume("12" * 16), "Target": "/others"})
    named = mounting(keeper, KEPT, Source=f"dpgate-{BATCH}-in-1")
    for body in (twice, named):
        assert ask(docker_daemon.socket, "POST", CREATE, body)[0] == 201
        assert ask(proxy, "POST", CREATE, body)[0] == 403


def test_the_refusal_says_which_settings_must_agree(docker_daemon, proxy, keeper, digest):
    settings = settings_for(docker_daemon.socket, digest, view_bytes=65 * MIB)
    batch = {"batch": BATCH, "parts": PARTS, "runs": 1, "out": Room(MIB, 100, USER)}
    other = create_body(
        keeper_part(settings, environment={"PATH": "/usr/bin"}, core="", labels=OURS, **batch)
    )
    assert ask(proxy, "POST", CREATE, keeper)[0] == 201
    status, answer = ask(proxy, "POST", CREATE, other)
    assert status == 403
    assert "view-mib" in json.loads(answer)["message"]
