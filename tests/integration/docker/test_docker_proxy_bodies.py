"""Bodies that make a container a way to the host: each works straight on the daemon, none on the proxy."""

from __future__ import annotations

import http.client
import json
import re
from contextlib import suppress

import pytest
from docker_orders import FIRST_UID, order_for, settings_for
from proxy_talk import ask, changed, packed, talk

from worker.sandbox.docker_engine.create_body import create_body
from worker.sandbox.docker_engine.identity import LABELS
from worker.sandbox.docker_engine.keeper import keeper_part
from worker.sandbox.docker_engine.payload import payload_part
from worker.sandbox.docker_engine.volumes import Room, payload_volumes
from worker.sandbox.protocol import MIB

pytestmark = pytest.mark.usefixtures("nothing_left")
BATCH, PARTS, USER = "ab" * 16, "ef" * 16, FIRST_UID
OURS = dict.fromkeys(LABELS, "cd" * 16)


@pytest.fixture
def payload(docker_daemon, digest) -> dict:
    """What an honest worker sends for a run."""
    part = payload_part(
        settings_for(docker_daemon.socket, digest),
        order_for(digest, ""),
        "participant",
        user=USER,
        volumes=payload_volumes(BATCH, 0),
        of_image={"PATH": "/usr/bin"},
        core="",
        labels=OURS,
    )
    return create_body(part)


@pytest.fixture
def keeper(docker_daemon, digest) -> dict:
    settings = settings_for(docker_daemon.socket, digest)
    batch = {"batch": BATCH, "parts": PARTS, "runs": 1, "out": Room(MIB, 100, USER)}
    return create_body(keeper_part(settings, environment={"PATH": "/usr/bin"}, core="", labels=OURS, **batch))


def test_an_honest_worker_gets_its_containers(proxy, docker_daemon, keeper, payload):
    for body in (keeper, payload):
        status, answer = ask(proxy, "POST", "/v1.41/containers/create", body)
        assert status == 201, answer
        container = json.loads(answer)["Id"]
        made = json.loads(docker_daemon.docker("inspect", container))[0]
        for name in ("SecurityOpt", "CapDrop", "MaskedPaths", "Memory", "PidsLimit", "Ulimits", "Runtime"):
            assert made["HostConfig"][name] == body["HostConfig"][name]
        assert ask(proxy, "DELETE", f"/v1.41/containers/{container}?force=1")[0] == 204


ESCAPES = {
    "privileged": {"HostConfig__Privileged": True},
    "root of the host": {"HostConfig__Binds": ["/:/host"]},
    "mount of the host": {"HostConfig__Mounts": [{"Type": "bind", "Source": "/etc", "Target": "/host"}]},
    "volume that binds": {
        "HostConfig__Mounts": [
            {"Type": "volume", "Source": "", "Target": "/host", "VolumeOptions": {"DriverConfig": {
                "Name": "local", "Options": {"type": "none", "device": "/etc", "o": "bind"}}}}
        ]
    },
    "processes of the host": {"HostConfig__PidMode": "host"},
    "network of the host": {"HostConfig__NetworkMode": "host", "NetworkDisabled": False},
    "memory of the host": {"HostConfig__IpcMode": "host"},
    "name of the host": {"HostConfig__UTSMode": "host", "Hostname": ""},
    "users of the host": {"HostConfig__UsernsMode": "host"},
    "groups of the host": {"HostConfig__CgroupnsMode": "host"},
    "cgroup parent": {"HostConfig__CgroupParent": "/"},
    "capability": {"HostConfig__CapAdd": ["SYS_ADMIN"]},
    "capabilities kept": {"HostConfig__CapDrop": []},
    "no filter": {"HostConfig__SecurityOpt": ["no-new-privileges:true", "seccomp=unconfined"]},
    "privileges can be gained": {"HostConfig__SecurityOpt": []},
    "paths uncovered": {"HostConfig__MaskedPaths": []},
    "device": {"HostConfig__Devices": [
        {"PathOnHost": "/dev/null", "PathInContainer": "/dev/x", "CgroupPermissions": "rwm"}]},
    "device rule": {"HostConfig__DeviceCgroupRules": ["a *:* rwm"]},
    "root in the container": {"User": "0:0"},
    "group of the host": {"HostConfig__GroupAdd": ["0"]},
    "writable root": {"HostConfig__ReadonlyRootfs": False},
    "kernel setting": {"HostConfig__Sysctls": {"net.ipv4.ip_forward": "1"}},
    "no memory limit": {"HostConfig__Memory": 0, "HostConfig__MemorySwap": 0},
    "too much memory": {"HostConfig__Memory": 4 << 30, "HostConfig__MemorySwap": 4 << 30},
    "no process limit": {"HostConfig__PidsLimit": 0},
    "comes back": {"HostConfig__RestartPolicy": {"Name": "always", "MaximumRetryCount": 0}},
    "log on disk": {"HostConfig__LogConfig": {"Type": "json-file", "Config": {}}},
    "log to a listener": {"HostConfig__LogConfig": {
        "Type": "gelf", "Config": {"gelf-address": "udp://127.0.0.1:9"}}},
    "other labels": {"Labels": {"com.example": "1"}},
    "volume of its own": {"Volumes": {"/precious": {}}},
    "loader": {"Env": ["HOSTNAME", "LD_PRELOAD=/in/x.so"]},
    "another command for the keeper's rights": {"OpenStdin": True, "StdinOnce": True, "AttachStdin": True},
}  # fmt: skip


def test_escapes_in_a_body(docker_daemon, proxy, payload, subtests):
    for escape, changes in ESCAPES.items():
        with subtests.test(msg=escape):
            body = changed(payload, **changes)
            assert ask(docker_daemon.socket, "POST", "/v1.41/containers/create", body)[0] == 201
            status, answer = ask(proxy, "POST", "/v1.41/containers/create", body)
            assert status == 403, answer
            assert b"dpgate proxy" in answer


def test_volumes_from_somebody_else(docker_daemon, proxy, payload, victim):
    body = changed(payload, HostConfig__VolumesFrom=[victim])
    assert ask(docker_daemon.socket, "POST", "/v1.41/containers/create", body)[0] == 201
    assert ask(proxy, "POST", "/v1.41/containers/create", body)[0] == 403


def test_somebody_elses_volume(docker_daemon, proxy, payload, victim):
    theirs = docker_daemon.volumes()[0]
    body = changed(payload, HostConfig__Mounts=[{"Type": "volume", "Source": theirs, "Target": "/in"}])
    assert ask(docker_daemon.socket, "POST", "/v1.41/containers/create", body)[0] == 201
    assert ask(proxy, "POST", "/v1.41/containers/create", body)[0] == 403


def test_keys_that_only_the_daemon_understands(docker_daemon, proxy, payload):
    """The daemon takes keys in any case, and the last of two."""
    sneaky = changed(payload, hostconfig={**payload["HostConfig"], "Privileged": True})
    twice = json.dumps(payload)[:-1] + ', "HostConfig": {"Privileged": true}}'
    for body in (json.dumps(sneaky).encode(), twice.encode()):
        status, answer = ask(docker_daemon.socket, "POST", "/v1.41/containers/create", body)
        assert status == 201
        assert '"Privileged": true' in docker_daemon.docker("inspect", json.loads(answer)["Id"])
        assert ask(proxy, "POST", "/v1.41/containers/create", body)[0] == 403


def test_image_that_is_not_approved(docker_daemon, proxy, payload):
    other = docker_daemon.import_bytes(packed({"x": b""}))
    body = changed(payload, Image=other)
    assert ask(docker_daemon.socket, "POST", "/v1.41/containers/create", body)[0] == 201
    assert ask(proxy, "POST", "/v1.41/containers/create", body)[0] == 403
    assert ask(docker_daemon.socket, "GET", f"/v1.41/images/{other}/json")[0] == 200
    assert ask(proxy, "GET", f"/v1.41/images/{other}/json")[0] == 403


def test_a_keeper_runs_our_code_only(docker_daemon, proxy, keeper):
    body = changed(keeper, Cmd=[*keeper["Cmd"][:-2], "import os", "1"])
    assert ask(docker_daemon.socket, "POST", "/v1.41/containers/create", body)[0] == 201
    assert ask(proxy, "POST", "/v1.41/containers/create", body)[0] == 403


def test_bodies_that_are_none(proxy, subtests):
    for body in (b"", b"null", b"[]", b"{", b"[" * 100_000, b'{"HostConfig": 1}', b"\xff"):
        with subtests.test(msg=str(body[:20])):
            assert ask(proxy, "POST", "/v1.41/containers/create", body)[0] == 403
            assert ask(proxy, "GET", "/_ping")[0] == 200


def _chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def test_bodies_in_chunks(docker_daemon, proxy, payload):
    body = json.dumps(changed(payload, HostConfig__Privileged=True)).encode()
    head = b"POST /v1.41/containers/create HTTP/1.1\r\nHost: d\r\nContent-Type: application/json\r\n"
    message = head + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + _chunked(body)
    assert b" 201 " in talk(docker_daemon.socket, message).partition(b"\r\n")[0]
    assert b" 501 " in talk(proxy, message).partition(b"\r\n")[0]


LENGTHS = (
    "Content-Length: 4\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 4",
    "Content-Length: 4\r\nContent-Length: 400",
    "Content-Length: +4",
    "Content-Length: 0x4",
    "Content-Length: " + "9" * 5000,
    "Content-Length: 4, 4",
    "Content-Length: 99999999",
    "Transfer-Encoding: \x0bchunked",
)


def test_two_readings_of_a_length(proxy, subtests):
    """One answer, a refusal, and the line is closed: what follows is not read as a request."""
    hidden = "POST /v1.41/build HTTP/1.1\r\nHost: d\r\n\r\n"
    for lengths in LENGTHS:
        with subtests.test(msg=repr(lengths[:60])):
            message = f"GET /_ping HTTP/1.1\r\nHost: d\r\n{lengths}\r\n\r\nabcd{hidden}"
            answer = talk(proxy, message.encode())
            assert answer.count(b"HTTP/1.1 ") == 1
            assert answer.split()[1] in (b"400", b"413", b"501")


def test_a_request_in_a_body_is_a_body(proxy):
    """The whole of it is read before the answer, and what comes after it meets the same table."""
    hidden = b"DELETE /v1.41/volumes/x HTTP/1.1\r\nHost: d\r\n\r\n"
    message = b"GET /_ping HTTP/1.1\r\nHost: d\r\nContent-Length: %d\r\n\r\n" % len(hidden)
    last = b"GET /_ping HTTP/1.1\r\nHost: d\r\nConnection: close\r\n\r\n"
    answers = [talk(proxy, message + follows + last) for follows in (hidden, hidden + hidden)]
    codes = [re.findall(rb"HTTP/1\.1 (\d+)", answer) for answer in answers]
    assert codes == [[b"403", b"200"], [b"403", b"403", b"200"]]


def test_a_huge_body_is_not_read(proxy, payload):
    body = changed(payload, Cmd=["x" * (2 << 20)])
    with suppress(BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):  # before it is sent
        assert ask(proxy, "POST", "/v1.41/containers/create", body)[0] == 413
    assert ask(proxy, "GET", "/_ping")[0] == 200


def test_too_many_containers(proxy, payload):
    made = [ask(proxy, "POST", "/v1.41/containers/create", payload)[0] for _ in range(10)]
    assert made == [201] * 8 + [403] * 2
