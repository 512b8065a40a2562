"""Every example, in every way of running it, gives the same bytes: no noise is drawn here."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from base_images import ROOT, base_archive
from docker_daemon import DockerDaemon
from docker_orders import settings_for

from domain.model import parse
from domain.pipeline import Pipeline
from dpgate.pipeline_folder import load_pipeline
from worker.images.store import ImageStore
from worker.order import order_for
from worker.sandbox.bubblewrap import BubblewrapSandbox
from worker.sandbox.docker_engine import DockerSandbox
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import Audience, Sandbox
from worker.sandbox.stored_image import StoredImage
from worker.sandbox.supervised import SupervisedSandbox

EXAMPLES = ROOT / "examples"
COMPILE = "gcc -std=c11 -D_DEFAULT_SOURCE -O2 -static -s -o app app.c"
# the Python example's manifest names the host's image: here it runs in the base image, as on a platform
IMAGES = {
    "mean-height": "python",
    "mean-height-r": "r",
    "mean-height-awk": "minimal",
    "mean-height-c": "minimal",
}


@pytest.fixture(scope="module")
def open_room() -> Iterator[Path]:
    """Slots' users must get to the images, so not pytest's own folder."""
    with tempfile.TemporaryDirectory(prefix="dpgate-test-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@pytest.fixture(scope="module")
def stored(open_room: Path, docker_daemon: DockerDaemon) -> Mapping[str, StoredImage]:
    """The same archives in our store and in the engine, under the same digests."""
    store = ImageStore(open_room / "store")
    images = {name: store.add(base_archive(name), name=name) for name in set(IMAGES.values())}
    for name, image in images.items():
        assert docker_daemon.load(base_archive(name)) == image.digest
    return images


@pytest.fixture(scope="module")
def sandboxes(
    open_room: Path, stored: Mapping[str, StoredImage], docker_daemon: DockerDaemon
) -> Iterator[Mapping[str, Sandbox]]:
    host = describe()
    with (
        SupervisedSandbox(host, scratch_root=open_room / "scratch", allow_disk_scratch=True) as supervised,
        BubblewrapSandbox(host, scratch_root=open_room / "scratch", allow_disk_scratch=True) as bubblewrap,
        DockerSandbox(
            settings_for(docker_daemon.socket, stored["python"].digest), lock_root=open_room / "locks"
        ) as docker,
    ):
        yield {"warm": supervised, "cold": supervised, "bubblewrap": bubblewrap, "docker": docker}


def pipeline_of(name: str, room: Path) -> Pipeline:
    folder = EXAMPLES / name
    if name == "mean-height-c":
        shutil.copytree(folder, room / name)
        folder = room / name
        subprocess.run(COMPILE.split(), cwd=folder, check=True)
        (folder / "app.c").unlink()
    return parse(Pipeline, load_pipeline(folder).body, within="pipeline")


def ways(name: str) -> list[str]:
    """Warm takes Python scripts; one bubblewrap per run needs a Python in the image for its own part."""
    if name == "mean-height":
        return ["cold", "warm", "bubblewrap", "docker"]
    return ["cold", "docker"]


@pytest.mark.parametrize("name", IMAGES)
def test_the_same_bytes_everywhere(
    name: str, sandboxes: Mapping[str, Sandbox], stored: Mapping[str, StoredImage], tmp_path: Path
) -> None:
    pipeline = pipeline_of(name, tmp_path)
    data = EXAMPLES / "heights" / "data"
    whole = {
        path.relative_to(data).as_posix(): path.read_bytes() for path in data.rglob("*") if path.is_file()
    }
    few = {**whole, "participants.tsv": b"".join(whole["participants.tsv"].splitlines(keepends=True)[:5])}
    found = {}
    for way in ways(name):
        order = order_for(pipeline, image=stored[IMAGES[name]], audience=Audience.TWIN, warm=way == "warm")
        assert (order.warm is not None) == (way == "warm")
        with sandboxes[way].open_slot(order, slot=0) as slot:
            results = [slot.run(block) for block in (whole, few)]
        assert all(result.outputs for result in results), (way, [result.detail for result in results])
        found[way] = [result.outputs for result in results]
    assert found["cold"][0] != found["cold"][1]
    assert all(outputs == found["cold"] for outputs in found.values()), found
