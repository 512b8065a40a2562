"""Nothing of a run stays on the daemon: after its end, a cancel, a killed worker or a restarted daemon."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from docker_daemon import DockerDaemon
from docker_orders import LASTING, may_forget_sockets, order_for, settings_for, traces
from waiting import wait_until

from worker.sandbox.docker_engine import DockerSandbox
from worker.sandbox.docker_engine.identity import Identity
from worker.sandbox.protocol import SandboxUnavailable, SlotCancelled

SLEEP = "time.sleep(600)"
HOLD = """
import sys, time
sys.path[:0] = sys.argv[5:]
from pathlib import Path
from docker_orders import LASTING, order_for, settings_for
from worker.sandbox.docker_engine import DockerSandbox
socket, digest, locks, script = sys.argv[1:5]
with DockerSandbox(settings_for(Path(socket), digest), lock_root=Path(locks)) as sandbox:
    with sandbox.open_slot(order_for(digest, script, limits=LASTING), slot=0) as slot:
        print("open", flush=True)
        slot.run({})
        time.sleep(600)
"""


class Worker:
    """Another process that runs `script` in a slot."""

    def __init__(self, daemon: DockerDaemon, digest: str, locks: Path, script: str) -> None:
        folders = [str(Path(__file__).parent), str(Path(__file__).parents[2]), str(Path(__file__).parents[3])]
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(daemon.socket), digest, str(locks), script, *folders],
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"open\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def hold(docker_daemon, digest, sockets_folder) -> Iterator:
    """Starts such workers; ends them with the test."""
    workers = []

    def start(script: str) -> Worker:
        workers.append(Worker(docker_daemon, digest, sockets_folder / "locks", script))
        return workers[-1]

    yield start
    for worker in workers:
        worker.kill()


def running(daemon: DockerDaemon) -> int:
    return len(daemon.containers(running=True))


def test_a_slot_leaves_nothing(sandbox, docker_daemon, digest):
    with sandbox.open_slot(order_for(digest, 'open(out + "/verdict", "w")'), slot=0) as slot:
        for _ in range(4):  # one more than a batch holds
            slot.run({"f": b"1"})
        found = traces(docker_daemon)
        assert len(found.containers) == 1
        assert len(found.volumes) == 8
        assert found.mounts
        assert found.processes
    assert not traces(docker_daemon)


def test_memory_is_given_back_before_the_batch_ends(sandbox_straight, docker_daemon, digest):
    """What a run wrote, however deep and locked, and its block: gone with the run, not with the volume."""
    script = """
path = out
for depth in range(60):
    path += "/d"
    os.mkdir(path)
    open(path + "/file", "wb").write(bytes(10_000))
os.chmod(out + "/d/d", 0)
os.chmod(out + "/d", 0)
os.chmod(out, 0)
"""
    with sandbox_straight.open_slot(order_for(digest, script), slot=0) as slot:
        slot.run({"big": bytes(4 << 20)})
        volumes = [Path(mount) for mount in traces(docker_daemon).mounts if "/volumes/" in mount]
        left = {file.name for volume in volumes for file in volume.rglob("*")}
        assert left == {"main.py"}


def when_it_runs(daemon: DockerDaemon, act: Callable[[], None]) -> threading.Thread:
    """Acts as soon as a payload runs beside its keeper."""

    def watch() -> None:
        wait_until(lambda: running(daemon) == 2)
        act()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_cancel_ends_a_run_at_once(sandbox, docker_daemon, digest):
    with sandbox.open_slot(order_for(digest, SLEEP, limits=LASTING), slot=0) as slot:
        watching = when_it_runs(docker_daemon, slot.cancel)
        with pytest.raises(SlotCancelled):  # nothing else would end it
            slot.run({})
        watching.join()
        with pytest.raises(SlotCancelled):
            slot.run({})


def test_a_killed_worker_is_cleaned_up_after(hold, docker_daemon, digest, sockets_folder):
    worker = hold(SLEEP)
    wait_until(lambda: running(docker_daemon) == 2)
    with DockerSandbox(
        settings_for(docker_daemon.socket, digest), lock_root=sockets_folder / "locks"
    ) as sandbox:
        assert sandbox.reap() == 0  # it lives
        assert running(docker_daemon) == 2
        worker.kill()
        wait_until(lambda: running(docker_daemon) == 1)  # the keeper ends with its input
        assert traces(docker_daemon)
        assert sandbox.reap() == 1
        assert not traces(docker_daemon)
        assert sandbox.reap() == 0


def test_only_the_dead_are_reaped(hold, sandbox, docker_daemon, digest):
    """Two workers of one place, one of them killed; a third container is somebody else's."""
    theirs = docker_daemon.docker(
        "create", "--network=none", "--label=dpgate.worker=x", digest, "true"
    ).strip()
    dead, living = hold(SLEEP), hold(SLEEP)
    wait_until(lambda: running(docker_daemon) == 4)
    dead.kill()
    wait_until(lambda: running(docker_daemon) == 3)
    assert sandbox.reap() == 1
    assert running(docker_daemon) == 2
    living.kill()
    assert sandbox.reap() == 1
    assert traces(docker_daemon).containers == {theirs}
    docker_daemon.docker("rm", theirs)


def test_labels_decide_who_is_dead(sockets_folder):
    root = sockets_folder / "locks"
    ours, other = Identity(root), Identity(root)
    try:
        mine, theirs = ours.open_slot(), other.open_slot()
        assert not ours.is_leftover(mine)
        assert not ours.is_leftover(theirs)
        assert ours.is_leftover({**theirs, "dpgate.boot": "0" * 32})
        assert ours.is_leftover({**theirs, "dpgate.worker": "../../etc/passwd"})
        assert not ours.is_leftover({**theirs, "dpgate.place": "0" * 32, "dpgate.worker": "0" * 32})
        assert not ours.is_leftover({"dpgate.place": theirs["dpgate.place"]})
        ours.close_slot(mine)
        assert ours.is_leftover(mine)
        other.close()
        assert ours.is_leftover(theirs)
    finally:
        ours.close()


@pytest.fixture
def mortal_daemon(docker_daemon) -> Iterator[DockerDaemon]:
    """The daemon of all tests: whatever this one does with it, the next finds it running and empty."""
    yield docker_daemon
    if not docker_daemon.answers():
        docker_daemon.start()
    docker_daemon.clear()


@may_forget_sockets
@pytest.mark.parametrize(
    ("in_a_run", "afterwards"),
    [
        ("kill", "stop"),
        pytest.param("stop", "kill", marks=pytest.mark.deep("each way is asked above, at the other moment")),
    ],
)
def test_a_restarted_daemon_is_the_platforms_failure(
    mortal_daemon, digest, sockets_folder, in_a_run, afterwards
):
    """The slot goes on when the daemon is back."""
    settings = settings_for(mortal_daemon.socket, digest)
    with DockerSandbox(settings, lock_root=sockets_folder / "locks") as sandbox:
        script = 'time.sleep(float(open(given + "/s").read())); open(out + "/verdict", "w")'
        with sandbox.open_slot(order_for(digest, script), slot=0) as slot:
            watching = when_it_runs(mortal_daemon, getattr(mortal_daemon, in_a_run))
            with pytest.raises(SandboxUnavailable, match=r"Docker daemon|container"):
                slot.run({"s": b"15"})
            watching.join()
            with pytest.raises(SandboxUnavailable, match="daemon could not"):
                slot.run({"s": b"0"})
            mortal_daemon.start()
            assert slot.run({"s": b"0"}).outputs == {"verdict": b""}
            getattr(mortal_daemon, afterwards)()
        mortal_daemon.start()  # the slot was closed without one, which is no failure
        assert sandbox.reap() == 1
        assert not traces(mortal_daemon)
    with DockerSandbox(settings, lock_root=sockets_folder / "locks") as sandbox:
        sandbox.reap()
        assert not traces(mortal_daemon)


def test_a_keeper_that_is_killed_is_the_platforms_failure(sandbox_straight, docker_daemon, digest):
    with sandbox_straight.open_slot(order_for(digest, 'open(out + "/verdict", "w")'), slot=0) as slot:
        docker_daemon.docker("kill", *docker_daemon.containers(running=True))
        with pytest.raises(SandboxUnavailable):
            slot.run({})
        assert slot.run({}).outputs == {"verdict": b""}


def test_a_closed_slots_leftovers_are_reaped_by_the_living(docker_daemon, digest, sockets_folder):
    """What a close could not remove, for want of a daemon at that moment."""
    with DockerSandbox(
        settings_for(docker_daemon.socket, digest), lock_root=sockets_folder / "locks"
    ) as sandbox:
        with sandbox.open_slot(order_for(digest, ""), slot=0):
            (keeper,) = docker_daemon.containers(running=True)
            labels = json.loads(docker_daemon.docker("inspect", keeper))[0]["Config"]["Labels"]
            assert sandbox.reap() == 0
        options = [f"--label={name}={value}" for name, value in labels.items()]
        docker_daemon.docker("create", "--network=none", *options, digest, "true")
        assert sandbox.reap() == 1
        assert not traces(docker_daemon)
