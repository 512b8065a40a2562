"""The images of a worker's store come on record, once, with where they come from."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories import NOW
from image_archives import digest_of, save_small_image
from zones import host_image

from domain.image import ImageKind
from store import images
from store.database import Database
from worker.announce import announce_images
from worker.images.held import HeldImages
from worker.images.store import ImageStore


@pytest.fixture
def folder() -> Iterator[Path]:
    """In one that users of slots can pass: pytest's own is closed to them."""
    place = Path(tempfile.mkdtemp(prefix="dpgate-store-"))
    place.chmod(0o711)
    yield place / "images"
    shutil.rmtree(place)


def announce(database: Database, folder: Path) -> int:
    return announce_images(database, HeldImages(host_image(), folder), now=NOW)


def listed(database: Database) -> list[images.Image]:
    with database.reading() as connection:
        return images.listed(connection)


def test_a_worker_without_a_store_announces_nothing(database: Database, folder: Path) -> None:
    assert announce(database, folder) == 0


def test_new_images_are_announced_once(database: Database, folder: Path, tmp_path: Path) -> None:
    store = ImageStore(folder, host=host_image())
    archive = save_small_image(tmp_path / "one.tar", marker="one")
    stored = store.add(archive, name="one")
    assert announce(database, folder) == 1
    assert announce(database, folder) == 0
    (image,) = listed(database)
    assert (image.name, image.digest, image.kind) == ("one", digest_of(archive), ImageKind.IMPORTED)
    assert (image.tree_digest, image.is_approved) == (stored.tree_digest, False)
    assert image.source_digest is not None
    assert image.size is not None
    assert image.size > 0

    store.add(save_small_image(tmp_path / "two.tar", marker="two"), name="two")
    with database.transaction() as connection:
        images.approve(connection, digest=image.digest, by="olga", now=NOW)
    assert announce(database, folder) == 1
    assert [(one.name, one.is_approved) for one in listed(database)] == [("one", True), ("two", False)]


def test_a_name_that_no_manifest_can_hold_is_left_out(
    database: Database, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = ImageStore(folder, host=host_image())
    store.add(save_small_image(tmp_path / "tagged.tar", tag="python:3.11"))
    assert announce(database, folder) == 0
    assert "add it again with --name: nobody can name 'python:3.11'" in caplog.text


def test_a_damaged_store_is_logged_and_keeps_nobody_from_working(
    database: Database, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stored = ImageStore(folder, host=host_image()).add(save_small_image(tmp_path / "a.tar"), name="a")
    description = stored.rootfs.parent / "image.json"
    description.chmod(0o600)
    description.write_text("{")
    assert announce(database, folder) == 0
    assert "the image store cannot be announced" in caplog.text
    assert listed(database) == []
