"""Calls that no worker makes: each works straight on the daemon, none through the proxy.

What a call made straight leaves there is removed before the next, so that none is refused for another's sake.
"""

from __future__ import annotations

import json
import socket

import pytest
from docker_daemon import UnixConnection
from proxy_talk import OK, ask, packed
from waiting import PATIENCE_S

pytestmark = pytest.mark.usefixtures("nothing_left")


CALLS = {
    "exec": ("POST", "/v1.41/containers/{victim}/exec", {"Cmd": ["true"]}),
    "logs": ("GET", "/v1.41/containers/{victim}/logs?stdout=1", None),
    "inspect": ("GET", "/v1.41/containers/{victim}/json", None),
    "inspect by name": ("GET", "/v1.41/containers/{victim:.12}/json", None),
    "processes": ("GET", "/v1.41/containers/{victim}/top", None),
    "files out": ("GET", "/v1.41/containers/{victim}/archive?path=/etc", None),
    "files in": ("PUT", "/v1.41/containers/{victim}/archive?path=/tmp", packed({"x": b"1"})),
    "whole file system": ("GET", "/v1.41/containers/{victim}/export", None),
    "changes": ("GET", "/v1.41/containers/{victim}/changes", None),
    "rename": ("POST", "/v1.41/containers/{victim}/rename?name=other", None),
    "update": ("POST", "/v1.41/containers/{victim}/update", {"CpuShares": 512}),
    "commit": ("POST", "/v1.41/commit?container={victim}", {}),
    "kill": ("POST", "/v1.41/containers/{victim}/kill?signal=SIGKILL", None),
    "remove": ("DELETE", "/v1.41/containers/{victim}?force=1", None),
    "build": ("POST", "/v1.41/build", packed({"Dockerfile": b"FROM scratch\nCOPY Dockerfile /\n"})),
    "load": ("POST", "/v1.41/images/load", packed({})),
    "list of all containers": ("GET", "/v1.41/containers/json", None),
    "list of all volumes": ("GET", "/v1.41/volumes", None),
    "list by another label": (
        "GET",
        "/v1.41/containers/json?filters=%7B%22label%22%3A%5B%22a%22%5D%7D",
        None,
    ),
    "images": ("GET", "/v1.41/images/json", None),
    "image by tag": ("GET", "/v1.41/images/dpgate%2Fpython%3Aslim/json", None),
    "new volume": (
        "POST",
        "/v1.41/volumes/create",
        {"Name": "own", "DriverOpts": {"type": "none", "device": "/", "o": "bind"}},
    ),
    "prune": ("POST", "/v1.41/volumes/prune", None),
    "disk": ("GET", "/v1.41/system/df", None),
    "networks": ("GET", "/v1.41/networks", None),
    "two slashes": ("GET", "/v1.41//info", None),
    "dots": ("GET", "/v1.41/containers/../info", None),
    "escaped": ("GET", "/v1.41/%69nfo", None),
    "no version": ("GET", "/containers/{victim}/json", None),
    "a header instead of a method": ("POST", "/v1.41/images/create?fromSrc=-", packed({"x": b""})),
}
REDIRECTED = {"two slashes", "dots"}  # the daemon answers with a redirection, which a client follows


def test_calls_that_no_worker_makes(docker_daemon, proxy, a_victim, subtests):
    for name, (method, target_of, body) in CALLS.items():
        with subtests.test(msg=name):
            victim = a_victim()
            target = target_of.format(victim=victim)
            status, answer = ask(proxy, method, target, body)
            assert status in (403, 404, 501), answer
            if method != "PUT":
                assert b"dpgate proxy" in answer
            assert victim in docker_daemon.containers(running=True)
            status, answer = ask(docker_daemon.socket, method, target, body)
            assert status in OK or (name in REDIRECTED and status == 301), answer
        docker_daemon.clear(kept=[victim] if victim in docker_daemon.containers(running=True) else ())


def test_nothing_is_fetched(docker_daemon, proxy):
    """Straight, the daemon asks the registry that it is told of; through the proxy, nobody does."""
    with socket.create_server(("127.0.0.1", 0)) as registry:
        registry.setblocking(False)  # the proxy has answered already
        target = f"/v1.41/images/create?fromImage=127.0.0.1:{registry.getsockname()[1]}/x&tag=1"
        assert ask(proxy, "POST", target)[0] == 403
        with pytest.raises(BlockingIOError):
            registry.accept()
        connection = UnixConnection(docker_daemon.socket)
        connection.request("POST", target)
        registry.settimeout(PATIENCE_S)
        registry.accept()[0].close()
        connection.close()


def test_attach_to_somebody_else(docker_daemon, proxy, victim):
    target = f"/v1.41/containers/{victim}/attach?stream=1&stdout=1&stdin=0&stderr=1"
    upgrade = {"Connection": "Upgrade", "Upgrade": "tcp"}
    connection = UnixConnection(docker_daemon.socket)
    connection.request("POST", target, headers=upgrade)
    assert connection.getresponse().status == 101
    connection.close()
    assert ask(proxy, "POST", target, **upgrade)[0] == 404


# --- the wire


def test_the_host_is_not_described(docker_daemon, proxy):
    straight = json.loads(ask(docker_daemon.socket, "GET", "/v1.41/info")[1])
    through = json.loads(ask(proxy, "GET", "/v1.41/info")[1])
    assert {"Name", "DockerRootDir", "Containers"} <= set(straight)
    assert not {"Name", "DockerRootDir", "Containers", "KernelVersion"} & set(through)
