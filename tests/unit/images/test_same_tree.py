"""The established tools as judges: the same image through skopeo and umoci gives the same tree."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from made_images import pack

from worker.images.sealing import MOUNT_POINTS

pytestmark = pytest.mark.needs(backend="bubblewrap")

TOOLS = [tool for tool in ("skopeo", "umoci") if shutil.which(tool) is None]


def tree(root):
    """Path, kind, whether it can be run, content; without the folders that we add for runs."""
    found = {}
    for path in sorted(root.rglob("*")):
        where, mode = str(path.relative_to(root)), path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[where] = ("link", os.readlink(path))
        elif stat.S_ISDIR(mode):
            found[where] = ("folder", "")
        else:
            found[where] = (bool(mode & 0o111), path.read_bytes())
    return {where: what for where, what in found.items() if where not in MOUNT_POINTS}


def run(*command):
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def by_umoci(recipe, tmp_path):
    """skopeo reads the archive into a layout, umoci unpacks that."""
    assert not TOOLS, f"this test needs {TOOLS}: install the distribution's packages"
    archive = pack(recipe.docker(), tmp_path / "image.tar")
    run("skopeo", "copy", "--insecure-policy", f"docker-archive:{archive}", f"oci:{tmp_path}/layout:made")
    run(
        "umoci",
        "unpack",
        *(["--rootless"] if os.getuid() else []),
        "--image",
        f"{tmp_path}/layout:made",
        f"{tmp_path}/b",
    )
    return tmp_path / "b" / "rootfs"


def test_docker_archive(by_umoci, store, tmp_path):
    assert tree(store.add(tmp_path / "image.tar").rootfs) == tree(by_umoci)


@pytest.mark.parametrize("form", ["docker-archive", "oci-archive"])
def test_what_skopeo_writes(form, by_umoci, store, tmp_path):
    written = tmp_path / "written.tar"
    run("skopeo", "copy", "--insecure-policy", f"oci:{tmp_path}/layout:made", f"{form}:{written}:made:2")
    image = store.add(written)
    assert tree(image.rootfs) == tree(by_umoci)
    assert image.name.endswith("made:2")


def test_a_layout_that_was_packed_by_tar(by_umoci, store, tmp_path):
    run("tar", "-C", tmp_path / "layout", "-czf", tmp_path / "layout.tar.gz", ".")
    assert tree(store.add(Path(tmp_path / "layout.tar.gz")).rootfs) == tree(by_umoci)
