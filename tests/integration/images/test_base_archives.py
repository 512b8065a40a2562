"""Every reader of an archive calls the image by the same name: the hash of its configuration."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from base_images import NAMES, base_archive
from docker_daemon import running_daemon

from worker.images.store import ImageStore


def config_digest(archive: Path) -> str:
    """As its own manifest for Docker says."""
    manifest = subprocess.run(
        ["tar", "-xOf", archive, "manifest.json"], capture_output=True, check=True
    ).stdout
    (entry,) = json.loads(manifest)
    return "sha256:" + Path(entry["Config"]).name


@pytest.mark.parametrize("form", ["docker-archive", "oci-archive"])
@pytest.mark.parametrize("name", NAMES)
def test_both_forms_hold_the_same_image(name: str, form: str) -> None:
    archive = base_archive(name)
    command = ["skopeo", "inspect", "--config", "--raw", f"{form}:{archive}"]
    config = subprocess.run(command, capture_output=True, check=True).stdout
    assert "sha256:" + hashlib.sha256(config).hexdigest() == config_digest(archive)


LARGE = pytest.mark.deep(
    "a second size; the docker tests take its interpreter without the libraries into a store"
)


@pytest.mark.parametrize(
    ("name", "interpreter"), [("minimal", None), pytest.param("python", "/usr/bin/python3", marks=LARGE)]
)
def test_the_image_store_takes_it(name: str, interpreter: str | None, open_folder: Path) -> None:
    store = ImageStore(open_folder)
    image = store.add(base_archive(name))
    assert (image.name, image.digest) == (f"dpgate/{name}:bookworm", config_digest(base_archive(name)))
    assert (image.interpreter or "none").startswith(interpreter or "none")
    store.verify(image)
    store.remove(image.digest)


def test_docker_loads_it_under_the_same_name() -> None:
    with running_daemon() as daemon:
        for name in ("minimal", "r"):  # the large one takes as long as all else here
            assert daemon.load(base_archive(name)) == config_digest(base_archive(name))
            assert daemon.digest(f"dpgate/{name}:bookworm") == config_digest(base_archive(name))
        said = daemon.docker(
            "run", "--rm", "--network=none", "dpgate/minimal:bookworm", "sh", "-c", "id -u; pwd"
        )
        assert said.split() == ["1000", "/tmp"]
