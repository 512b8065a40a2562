"""Which images a slot opens on, and which surprises of theirs never come to be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from docker_orders import FIRST_UID, may_forget_sockets, order_for, settings_for

from worker.sandbox.docker_engine import DockerSandbox, DockerSettings
from worker.sandbox.profiles import Profile
from worker.sandbox.protocol import SandboxUnavailable

WRITE = 'open(out + "/verdict", "w").write(json.dumps(dict(os.environ)))'


@pytest.fixture
def derived(docker_daemon, digest, tmp_path):
    """The base image with further Dockerfile lines; built by the daemon, without a network."""

    def build(*lines: str) -> str:
        (tmp_path / "Dockerfile").write_text("\n".join((f"FROM {digest}", *lines)))
        command = ("build", "--quiet", "--network=none", str(tmp_path))
        return docker_daemon.docker(*command, environment={"DOCKER_BUILDKIT": "0"}).strip()

    return build


@pytest.fixture
def straight(docker_daemon, digest, sockets_folder):
    settings = settings_for(docker_daemon.socket, digest)
    with DockerSandbox(settings, lock_root=sockets_folder / "locks") as sandbox:
        yield sandbox


def test_images_have_no_say_in_how_they_run(straight, derived):
    image = derived(
        "USER root",
        'ENTRYPOINT ["/bin/false"]',
        'CMD ["/bin/false"]',
        "HEALTHCHECK --interval=1s CMD touch /tmp/checked",
        "WORKDIR /usr",
        "STOPSIGNAL SIGTERM",
        "ENV HOME=/root OMP_NUM_THREADS=64 OWN=1",
        "EXPOSE 80",
        "ONBUILD RUN false",
    )
    script = f"time.sleep(2.5)\nassert os.getuid() == {FIRST_UID} and not os.listdir('/tmp')\n{WRITE}"
    with straight.open_slot(order_for(image, script), slot=0) as slot:
        result = slot.run({})
    environment = json.loads(result.outputs["verdict"])
    assert (environment["HOME"], environment["OMP_NUM_THREADS"], environment["OWN"]) == ("/tmp", "1", "1")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("VOLUME /data", "/data"),
        ("ENV LD_PRELOAD=/x.so", "LD_PRELOAD"),
        ("ENV PYTHONSTARTUP=/x.py", "PYTHONSTARTUP"),
        ("ENV http_proxy=http://127.0.0.1:1", "http_proxy"),
        ("LABEL dpgate.worker=1", "dpgate.worker"),
    ],
)
def test_images_with_surprises_are_refused(straight, derived, line, word):
    with pytest.raises(SandboxUnavailable, match=word):
        straight.open_slot(order_for(derived(line), WRITE), slot=0)


@pytest.mark.parametrize("name", ["dpgate/python:bookworm", "python", "sha256:12", "", "sha256:" + "A" * 64])
def test_tags_are_refused(straight, name):
    with pytest.raises(SandboxUnavailable, match="digest"):
        straight.open_slot(order_for(name, WRITE), slot=0)


def test_an_image_that_is_not_there_is_not_fetched(straight):
    with pytest.raises(SandboxUnavailable, match="docker load"):
        straight.open_slot(order_for("sha256:" + "0" * 64, WRITE), slot=0)


def test_no_call_that_fetches_an_image_exists():
    folder = Path(__file__).parents[3] / "worker/sandbox/docker_engine"
    text = "\n".join(path.read_text() for path in folder.glob("*.py"))
    for word in (".pull(", ".import_image", ".load_image", ".build(", "/images/create"):
        assert word not in text


def test_an_image_in_the_way_of_a_mount(straight, derived):
    """An image in which /in is a file cannot be mounted over: the pipeline's own failure."""
    image = derived("USER root", "RUN rmdir /in && touch /in")
    with straight.open_slot(order_for(image, WRITE), slot=0) as slot:
        assert slot.run({}).outputs is None


def test_settings_are_checked(docker_daemon, digest):
    for changes in (
        {"keeper_image": "python:3"},
        {"runtime": "../runc"},
        {"socket": Path("tcp://127.0.0.1:2375")},
        {"first_uid": 0},
        {"batch": 0},
    ):
        given = {"socket": docker_daemon.socket, "keeper_image": digest, **changes}
        with pytest.raises(SandboxUnavailable):
            DockerSettings(**given)


def test_a_runtime_that_the_daemon_lacks_is_named(docker_daemon, digest, sockets_folder):
    settings = settings_for(docker_daemon.socket, digest, runtime="runsc")
    with DockerSandbox(settings, lock_root=sockets_folder / "locks") as sandbox:
        with pytest.raises(SandboxUnavailable, match=r"runsc.*it has .*runc"):
            sandbox.open_slot(order_for(digest, WRITE), slot=0)
        found = {feature.name: feature for feature in sandbox.probe()}
        assert found["container runtime"].stops(Profile.DEV)
        assert not found["control pipeline succeeds"].present


def test_the_probe_finds_what_isolation_rests_on(sandbox):
    found = sandbox.probe()
    missing = [feature for feature in found if feature.stops(Profile.STANDARD)]
    assert not missing
    assert len(found) > 15


@may_forget_sockets
def test_the_probe_of_nothing(sockets_folder, digest):
    settings = settings_for(sockets_folder / "nobody.sock", digest)
    with DockerSandbox(settings, lock_root=sockets_folder / "locks") as sandbox:
        (feature,) = sandbox.probe()
        assert feature.stops(Profile.DEV)
        with pytest.raises(SandboxUnavailable, match="could not be reached"):
            sandbox.open_slot(order_for(digest, WRITE), slot=0)
        with pytest.raises(SandboxUnavailable, match="could not be reached"):
            sandbox.reap()


def test_the_probe_without_a_keeper(docker_daemon, sockets_folder):
    settings = settings_for(docker_daemon.socket, "sha256:" + "0" * 64)
    with DockerSandbox(settings, lock_root=sockets_folder / "locks") as sandbox:
        found = {feature.name: feature for feature in sandbox.probe()}
    assert not found["keeper's image"].present
    assert "docker load" in found["keeper's image"].detail


def test_a_keeper_image_without_python(docker_daemon, digest, sockets_folder):
    settings = settings_for(docker_daemon.socket, digest, keeper_python="no-such-python")
    with (
        DockerSandbox(settings, lock_root=sockets_folder / "locks") as sandbox,
        pytest.raises(SandboxUnavailable, match="cannot run Python"),
    ):
        sandbox.open_slot(order_for(digest, WRITE), slot=0)
