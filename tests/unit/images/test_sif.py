"""Apptainer's format: one good file, and every way in which a header may lie."""

from __future__ import annotations

import os
import stat
import struct
import subprocess

import pytest
from made_images import sif, sif_part

from sandbox_images.unpack.caps import Caps
from sandbox_images.unpack.entry import SIF, unpack
from sandbox_images.unpack.refusal import Refused
from worker.images.refusal import ImageRefused

pytestmark = pytest.mark.needs(backend="bubblewrap")

PARTITION, SIGNATURE = 0x4004, 0x4005


@pytest.fixture(scope="module")
def squashfs(tmp_path_factory):
    """A tree with everything that must not survive, as root could have put it in."""
    top = tmp_path_factory.mktemp("tree")
    (top / "bin").mkdir()
    (top / "bin" / "tool").write_bytes(b"#!/bin/sh\n")
    (top / "bin" / "tool").chmod(0o6755)
    (top / "closed").mkdir()
    (top / "closed" / "file").write_bytes(b"x")
    (top / "closed" / "file").chmod(0o000)
    (top / "closed").chmod(0o000)
    (top / "link").symlink_to("/etc/passwd")
    os.mkfifo(top / "fifo")
    made = top.with_suffix(".squashfs")
    devices = ["-p", "null c 666 0 0 1 3", "-p", "disk b 666 0 0 8 0"]
    command = ["mksquashfs", top, made, *devices, "-no-progress", "-all-root", "-comp", "gzip"]
    subprocess.run(command, check=True, capture_output=True)
    return made.read_bytes()


def primary(squashfs, **fields):
    return sif_part(PARTITION, squashfs, **fields)


def add(store, content, tmp_path):
    (tmp_path / "image.sif").write_bytes(content)
    return store.add(tmp_path / "image.sif")


def test_a_good_one(squashfs, small_store, tmp_path):
    content = sif(sif_part(0x4001, b"Bootstrap: docker"), primary(squashfs), sif_part(SIGNATURE, b"signed"))
    image = add(small_store, content, tmp_path)
    assert image.name == "image"
    assert (image.rootfs / "bin" / "tool").read_bytes() == b"#!/bin/sh\n"
    assert stat.S_IMODE((image.rootfs / "bin" / "tool").stat().st_mode) == 0o555
    assert (image.rootfs / "closed" / "file").read_bytes() == b"x"
    assert os.readlink(image.rootfs / "link") == "/etc/passwd"
    assert not {"fifo", "null", "disk"} & set(os.listdir(image.rootfs))
    small_store.verify(image)
    assert add(small_store, content, tmp_path) == image


def test_it_is_known_by_its_file(squashfs, small_store, tmp_path):
    one = add(small_store, sif(primary(squashfs)), tmp_path)
    other = add(small_store, sif(primary(squashfs), sif_part(SIGNATURE, b"x")), tmp_path)
    assert one.digest != other.digest
    assert one.tree_digest == other.tree_digest


def lies(squashfs):
    huge = 2**62
    return {
        "offset beyond the file": (sif(primary(squashfs, offset=huge)), "outside the file"),
        "size beyond the file": (sif(primary(squashfs, size=huge)), "outside the file"),
        "negative offset": (sif(primary(squashfs, offset=-4096)), "outside the file"),
        "negative size": (sif(primary(squashfs, size=-1)), "outside the file"),
        "overlap with the header": (sif(primary(squashfs, offset=64)), "overlaps"),
        "overlap of parts": (sif(primary(squashfs), sif_part(SIGNATURE, b"x" * 64, offset=4100)), "overlaps"),
        "encrypted": (sif(primary(squashfs, fs=5)), "encrypted"),
        "encrypted beside a plain one": (
            sif(primary(squashfs), sif_part(PARTITION, b"x", fs=5, role=3)),
            "encrypted",
        ),
        "several primary partitions": (sif(primary(squashfs), primary(squashfs)), "2 primary"),
        "no primary partition": (sif(primary(squashfs, role=3)), "0 primary"),
        "another file system": (sif(primary(squashfs, fs=2)), "ext3"),
        "an unknown file system": (sif(primary(squashfs, fs=77)), "unknown file system"),
        "another machine": (sif(primary(squashfs, arch=b"10\0")), "made for s390x"),
        "no squashfs": (sif(primary(b"x" * 4096)), "no squashfs"),
        "too short a squashfs": (sif(primary(squashfs[:20])), "too short"),
        "a squashfs cut short": (sif(primary(squashfs[:200])), "its partition"),
        "a broken squashfs": (sif(primary(squashfs[:96] + bytes(len(squashfs) - 96))), "cannot be read"),
        "many inodes": (
            sif(primary(squashfs[:4] + struct.pack("<I", 10**6) + squashfs[8:])),
            "more than 400",
        ),
        "no descriptors": (sif(primary(squashfs), total=0), "0 descriptors"),
        "negative descriptors": (sif(primary(squashfs), total=-1), "descriptors"),
        "endless descriptors": (sif(primary(squashfs), total=2**60), "descriptors"),
        "more descriptors than there are": (sif(primary(squashfs), total=9), "list of descriptors is cut"),
        "a list outside the file": (sif(primary(squashfs), table_at=huge), "outside the file"),
        "a list before the file": (sif(primary(squashfs), table_at=-1), "outside the file"),
        "a list in the header": (sif(primary(squashfs), table_at=0), "outside the file"),
        "half a used flag": (sif(primary(squashfs, used=2)), "neither used nor unused"),
        "a header cut short": (sif(primary(squashfs))[:100], "cut short"),
        "another version": (sif(primary(squashfs)).replace(b"01\0", b"99\0", 1), "version"),
    }


@pytest.mark.parametrize("what", lies(bytes(4096)))
def test_refused(what, squashfs, small_store, tmp_path):
    content, sentence = lies(squashfs)[what]
    with pytest.raises(ImageRefused, match=sentence):
        add(small_store, content, tmp_path)
    assert small_store.listed() == ()


def test_without_the_tool(squashfs, tmp_path, monkeypatch):
    (tmp_path / "image.sif").write_bytes(sif(primary(squashfs)))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match="squashfs-tools package"):
        unpack(tmp_path / "image.sif", tmp_path, SIF, Caps())


@pytest.mark.parametrize("shape", ["large", "many"])
def test_a_bomb(shape, small_store, tmp_path):
    """Small in the file, large outside: 64 MiB of zeros against a quota of 4, and files of 1 MiB."""
    top = tmp_path / "bomb"
    top.mkdir()
    count, size = (1, 64 << 20) if shape == "large" else (200, 1 << 20)
    for number in range(count):
        with (top / f"{number}").open("wb") as file:
            file.truncate(size - 1)
            file.seek(size - 1)
            file.write(b"x")
    made = tmp_path / "bomb.squashfs"
    subprocess.run(
        ["mksquashfs", top, made, "-no-progress", "-no-duplicates"], check=True, capture_output=True
    )
    assert made.stat().st_size < 8 << 20
    with pytest.raises(ImageRefused):
        add(small_store, sif(primary(made.read_bytes())), tmp_path)


def test_a_deep_tree(small_store, tmp_path):
    top = tmp_path / "deep"
    os.makedirs(top / "/".join("d" * 60))
    made = tmp_path / "deep.squashfs"
    subprocess.run(["mksquashfs", top, made, "-no-progress"], check=True, capture_output=True)
    with pytest.raises(ImageRefused, match="deeper than 20"):
        add(small_store, sif(primary(made.read_bytes())), tmp_path)
