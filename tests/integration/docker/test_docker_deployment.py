"""As deploy/compose.docker.yaml has it: proxy and worker are not root, and the proxy alone has the socket."""

from __future__ import annotations

import os
import signal
import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import yaml
from docker_orders import FIRST_UID, order_for, settings_for, traces
from waiting import wait_until

from worker.sandbox.docker_engine import DockerSandbox
from worker.sandbox.docker_engine.proxy_command import main

COMPOSE = Path(__file__).parents[3] / "deploy" / "compose.docker.yaml"
WORKER, PROXY, GROUP, DAEMONS = range(FIRST_UID + 1_500, FIRST_UID + 1_504)


@contextmanager
def process_of(user: int, groups: list[int], task: Callable[[], None]) -> Iterator[int]:
    """A fork that has given up root; its exit code is 0 if the task returned."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgroups(groups)
            os.setresgid(GROUP, GROUP, GROUP)
            os.setresuid(user, user, user)
            task()
            code = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    try:
        yield pid
    finally:
        with suppress(ProcessLookupError, ChildProcessError):  # where the test has waited for it
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def listens(path: Path) -> bool:
    """A socket has its name before anybody listens there."""
    with socket.socket(socket.AF_UNIX) as asked:
        return asked.connect_ex(str(path)) == 0


def test_neither_of_them_is_root(docker_daemon, digest, sockets_folder):
    folder = sockets_folder / "proxy"
    folder.mkdir()
    os.chown(folder, PROXY, GROUP)
    folder.chmod(0o750)
    docker_daemon.folder.chmod(0o711)
    os.chown(docker_daemon.socket, 0, DAEMONS)
    images, listen = sockets_folder / "images", folder / "docker.sock"
    images.write_text(f"{digest}\n")
    settings = settings_for(listen, digest)
    arguments = [
        f"--listen={listen}", f"--daemon={docker_daemon.socket}", f"--images={images}",
        f"--keeper-image={digest}", f"--first-uid={settings.first_uid}", f"--batch={settings.batch}",
        f"--block-mib={settings.block_bytes >> 20}", f"--view-mib={settings.view_bytes >> 20}",
    ]  # fmt: skip
    locks = sockets_folder / "locks"
    locks.mkdir(mode=0o711)
    os.chown(locks, WORKER, GROUP)

    def work() -> None:
        with socket.socket(socket.AF_UNIX) as straight, pytest.raises(PermissionError):
            straight.connect(str(docker_daemon.socket))
        script = 'open(out + "/verdict", "w").write(open(given + "/f").read())'
        with DockerSandbox(settings, lock_root=locks) as sandbox:
            with sandbox.open_slot(order_for(digest, script), slot=0) as slot:
                assert slot.run({"f": b"42"}).outputs == {"verdict": b"42"}
            assert sandbox.reap() == 0

    with process_of(PROXY, [DAEMONS], lambda: main(arguments)):
        wait_until(lambda: listens(listen))
        assert listen.stat().st_mode & 0o777 == 0o660
        with process_of(WORKER, [], work) as worker:
            assert os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) == 0
    assert not traces(docker_daemon)


def test_the_compose_file_says_so():
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    for service in services.values():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["read_only"]
        assert not service["user"].startswith("0")
        assert service["pull_policy"] == "never"
        assert not {"privileged", "cap_add", "devices", "pid", "ipc", "userns_mode", "ports"} & set(service)
    assert "--view-mib=" in " ".join(services["proxy"]["command"])
    assert services["worker"]["environment"]["DPGATE_DOCKER_VIEW_MIB"] in services["proxy"]["command"][-1]
    mounts = {name: " ".join(service["volumes"]) for name, service in services.items()}
    assert "/var/run/docker.sock" in mounts["proxy"]
    assert "docker.sock" not in mounts["worker"]
    assert services["proxy"]["network_mode"] == "none"
    assert services["proxy"]["user"].split(":")[1] == services["worker"]["user"].split(":")[1]
