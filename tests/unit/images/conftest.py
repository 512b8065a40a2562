"""A store, and images to put into it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from looked_image import looked
from made_images import Recipe, folder, hard_link, layer, link, member, pack

from sandbox_images.unpack.caps import Caps
from worker.images.store import ImageStore
from worker.sandbox.core.images import HostImage, StoredImage

SMALL = Caps(
    archive_bytes=8 << 20,
    total_bytes=4 << 20,
    file_bytes=2 << 20,
    layers=5,
    entries=400,
    depth=20,
    text_bytes=1 << 20,
)


@pytest.fixture(scope="session")
def host() -> HostImage:
    return looked()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """One that other users can get to, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="images") as place:
        os.chmod(place, 0o755)
        yield Path(place)


@pytest.fixture
def store(open_folder: Path, host: HostImage) -> ImageStore:
    return ImageStore(open_folder / "store", host=host)


@pytest.fixture
def small_store(open_folder: Path, host: HostImage) -> ImageStore:
    """With low ceilings, to reach them fast."""
    return ImageStore(open_folder / "small", host=host, caps=SMALL, wall_s=60)


@pytest.fixture
def recipe() -> Recipe:
    """Three layers that use all that layers can do: replace, remove, make opaque, link."""
    first = layer(
        folder("etc"),
        member("etc/motd", b"one"),
        member("bin/tool", b"#!/bin/sh\n", mode=0o755),
        member("gone/file", b"x"),
        member("opaque/old", b"x"),
        link("lib", "usr/lib"),
        folder("usr/lib"),
        link("loop", "loop"),
        link("outside", "/etc/motd"),
    )
    second = layer(
        member("lib/through-a-link", b"y", mtime=1_600_000_000),
        member("etc/motd", b"two"),
        member("gone/.wh.file"),
        member("opaque/.wh..wh..opq"),
        member("opaque/new", b"z"),
        hard_link("bin/again", "bin/tool"),
    )
    third = layer(
        member(".wh.gone"), member("loop", b"no more"), folder("bin/tool"), member("tmp/hidden", b"x")
    )
    return Recipe([first, second, third])


@pytest.fixture
def add(store: ImageStore, tmp_path: Path) -> Callable[..., StoredImage]:
    """Pack these files and add them."""

    def adding(files: dict[str, bytes], **options: str) -> StoredImage:
        return store.add(pack(files, tmp_path / "image.tar"), **options)

    return adding
