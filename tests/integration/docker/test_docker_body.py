"""The one place where a container is described: nothing widens it, and it can be read back."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from pathlib import Path

import pytest
from docker_orders import FIRST_UID, TIGHT, order_for, settings_for

from worker.sandbox.docker_engine.create_body import Part, create_body
from worker.sandbox.docker_engine.identity import LABELS
from worker.sandbox.docker_engine.keeper import keeper_part
from worker.sandbox.docker_engine.payload import payload_part
from worker.sandbox.docker_engine.read_body import NotOurs, part_of
from worker.sandbox.docker_engine.volumes import Room, payload_volumes
from worker.sandbox.protocol import MIB, Audience, Syscalls

DIGEST = "sha256:" + "1" * 64
SETTINGS = settings_for(Path("/run/docker.sock"), DIGEST, cores=(0, 1))
GIVEN = {"user": FIRST_UID + 1, "core": "1", "labels": dict.fromkeys(LABELS, "a" * 32)}


def payload(**changes: object) -> Part:
    order = order_for(DIGEST, "", environment={"B": "2", "A": "1=1"}, **changes)
    volumes = payload_volumes("0" * 32, 2)
    return payload_part(SETTINGS, order, "group", volumes=volumes, of_image={"PATH": "/bin"}, **GIVEN)


def keeper() -> Part:
    given = {name: GIVEN[name] for name in ("core", "labels")}
    batch = {"batch": "0" * 32, "parts": "1" * 32, "runs": 3, "out": Room(MIB, 10, FIRST_UID + 1)}
    return keeper_part(SETTINGS, environment={"PATH": "/bin"}, **batch, **given)


PARTS = {
    "original": payload(audience=Audience.ORIGINAL),
    "twin": payload(audience=Audience.TWIN),
    "standard": payload(syscalls=Syscalls.STANDARD),
    "small": payload(limits=replace(TIGHT, processes=1, cpu_s=1)),
    "keeper": keeper(),
}


def test_bodies_can_be_read_back(subtests):
    for name, part in PARTS.items():
        with subtests.test(msg=name):
            assert part_of(create_body(part)) == part


@pytest.mark.parametrize("name", PARTS)
def test_no_value_can_be_changed_unseen(name):
    """Each value of the body in turn is replaced, dropped or joined by another: never the same part again."""
    body = create_body(PARTS[name])
    for path in paths(body):
        for change in (replaced, dropped, joined):
            other = copy.deepcopy(body)
            change(other, path)
            if other == body:
                continue
            try:
                assert create_body(part_of(other)) == other
                assert part_of(other) != PARTS[name]
            except NotOurs:
                continue


def paths(value: object, here: tuple = ()) -> list[tuple]:
    if isinstance(value, dict):
        return [here, *(path for key in value for path in paths(value[key], (*here, key)))]
    if isinstance(value, list) and len(value) < 20:
        return [here, *(path for index, each in enumerate(value) for path in paths(each, (*here, index)))]
    return [here]


def place(body: dict, path: tuple):
    for step in path[:-1]:
        body = body[step]
    return body, path[-1]


def replaced(body: dict, path: tuple) -> None:
    if path:
        holder, name = place(body, path)
        holder[name] = {True: False, False: True}.get(holder[name]) if isinstance(holder[name], bool) else "x"


def dropped(body: dict, path: tuple) -> None:
    if path:
        holder, name = place(body, path)
        del holder[name]


def joined(body: dict, path: tuple) -> None:
    value = body
    for step in path:
        value = value[step]
    if isinstance(value, dict):
        value["Extra"] = True
    elif isinstance(value, list):
        value.append("x")


def test_a_payload_has_no_way_to_anybody():
    body = create_body(PARTS["original"])
    host = body["HostConfig"]
    assert host["NetworkMode"] == host["IpcMode"] == "none"
    assert (host["CapDrop"], host["CapAdd"], host["Binds"]) == (["ALL"], [], [])
    assert host["ReadonlyRootfs"]
    assert not host["Privileged"]
    assert host["Memory"] == host["MemorySwap"]
    assert not {body["AttachStdout"], body["AttachStderr"], body["OpenStdin"]} & {True}
    assert [mount["Target"] for mount in host["Mounts"] if not mount["ReadOnly"]] == ["/out"]
    assert all(mount["Type"] == "volume" for mount in host["Mounts"])


def test_only_a_twin_is_listened_to():
    assert create_body(PARTS["twin"])["AttachStdout"]
    assert not create_body(PARTS["original"])["AttachStdout"]


def test_platform_names_win_over_the_images_and_the_pipelines_over_both():
    order = order_for(DIGEST, "", environment={"ALPHA": "pipeline"})
    of_image = {"PATH": "/bin", "HOME": "/root", "ALPHA": "image"}
    part = payload_part(
        SETTINGS, order, "x", volumes=payload_volumes("0" * 32, 0), of_image=of_image, **GIVEN
    )
    assert (part.environment["HOME"], part.environment["ALPHA"]) == ("/tmp", "pipeline")


def test_every_setting_stands_in_one_file():
    """Nobody else of the package makes a part of a create body."""
    folder = Path(__file__).parents[3] / "worker/sandbox/docker_engine"
    readers = {"create_body.py", "read_body.py", "volumes.py"}
    found = [
        path.name
        for path in folder.glob("*.py")
        if path.name not in readers
        and re.search(r'"(HostConfig|Mounts|SecurityOpt|Privileged)"', path.read_text())
    ]
    assert not found
