"""Copies of images in memory: the same tree, one for all, and never more than there is room for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from made_images import Recipe, layer, member
from shm import folder_in_memory

from worker.images import in_memory
from worker.images.held import HeldImages
from worker.images.in_memory import ImagesInMemory
from worker.images.store import ImageStore
from worker.sandbox import kept_in_memory
from worker.sandbox.capacity import FILE_OVERHEAD
from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.kept_in_memory import why_not_kept

pytestmark = pytest.mark.needs(backend="bubblewrap")

BIG = 1 << 20


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # a host of a developer may swap
    monkeypatch.setattr(in_memory, "why_not_kept", lambda _: None)
    with folder_in_memory() as folder:
        yield folder


@pytest.fixture
def memory(scratch: Path) -> Iterator[ImagesInMemory]:
    copies = ImagesInMemory(scratch, most_bytes=64 * BIG)
    yield copies
    copies.close()


@pytest.fixture
def image(recipe: Recipe, add: Callable[..., StoredImage]) -> StoredImage:
    return add(recipe.docker())


def facts(rootfs: Path) -> dict[str, object]:
    """Whatever a run sees of a tree, but for inodes and the time of its making."""
    found: dict[str, object] = {}
    for path in (rootfs, *rootfs.rglob("*")):
        seen = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(rootfs))] = (seen.st_mode, seen.st_uid, seen.st_mtime_ns, content)
    return found


def test_a_copy_is_what_the_store_has(image, store, memory, scratch):
    copy = memory.copy_of(image)
    assert copy.rootfs.is_relative_to(scratch)
    assert facts(copy.rootfs) == facts(image.rootfs)
    store.verify(copy)


def test_all_who_need_an_image_have_one_copy_which_the_last_removes(image, memory, scratch):
    other = ImagesInMemory(scratch, most_bytes=64 * BIG)
    copies = [each.copy_of(image).rootfs for each in (memory, other)]
    assert copies[0] == copies[1]
    memory.close()
    assert copies[0].exists(), "somebody else holds it"
    other.drop(image)
    assert not list((scratch / "images").iterdir())


def test_a_copy_has_no_hole_that_a_reader_would_fill(store, memory, add):
    image = add(Recipe([layer(member("zeros", bytes(BIG)))]).docker())
    copied = memory.copy_of(image).rootfs / "zeros"
    assert copied.stat().st_blocks * 512 >= BIG


def test_there_are_no_more_copies_than_there_is_room_for(scratch, add):
    images = [add(Recipe([layer(member(f"big{number}", os.urandom(BIG)))]).docker()) for number in (1, 2)]
    most = BIG + 20 * FILE_OVERHEAD
    first, second = (ImagesInMemory(scratch, most_bytes=most) for _ in images)
    kept = first.copy_of(images[0])
    assert second.copy_of(images[1]) is None, "the only one that there is room for is held"
    first.close()
    assert second.copy_of(images[1]) is not None
    assert not kept.rootfs.exists()
    assert ImagesInMemory(scratch, most_bytes=BIG).copy_of(images[0]) is None, "it never fits"
    second.close()


def test_an_image_that_is_needed_gets_the_room_of_one_that_is_not(scratch, add, host, open_folder):
    images = [add(Recipe([layer(member(f"big{number}", os.urandom(BIG)))]).docker()) for number in (1, 2)]
    most = BIG + 20 * FILE_OVERHEAD
    one, other = (
        HeldImages(host, open_folder / "store", ImagesInMemory(scratch, most_bytes=most)) for _ in range(2)
    )
    for image in (*images, images[0]):
        assert one.get(image.digest).rootfs.is_relative_to(scratch)
        assert [one.is_in_memory(each.digest) for each in images] == [each == image for each in images]
    assert not other.get(images[1].digest).rootfs.is_relative_to(scratch), "what another process holds stays"
    assert one.is_in_memory(images[0].digest)
    one.close()
    other.close()


def test_what_the_dead_have_left_goes(image, memory, scratch):
    for name in (".unfinished", "0" * 64):
        shutil.copytree(image.rootfs, scratch / "images" / name, symlinks=True)
    copy = memory.copy_of(image)
    assert list((scratch / "images").iterdir()) == [copy.rootfs.parent]


def test_a_sweep_removes_what_the_dead_have_left(image, memory, scratch, host, open_folder):
    """Also where no copy is made any more."""
    none = ImagesInMemory(scratch, most_bytes=0)
    none.remove_leftovers()
    assert not list(scratch.iterdir()), "nobody has made a copy here"
    copy = memory.copy_of(image)
    for name in (".unfinished", "0" * 64):
        shutil.copytree(image.rootfs, scratch / "images" / name, symlinks=True)
    with memory._alone():
        HeldImages(host, open_folder / "store", none).remove_leftovers()
        assert len(list((scratch / "images").iterdir())) == 3, "somebody is at them"
    HeldImages(host, open_folder / "store", none).remove_leftovers()
    assert list((scratch / "images").iterdir()) == [copy.rootfs.parent]


def test_runs_are_made_in_the_copy_which_is_what_is_verified(image, store, memory, host, open_folder, caplog):
    held = HeldImages(host, open_folder / "store", memory)
    assert not held.is_in_memory(image.digest)
    copy = held.get(image.digest)
    assert copy.rootfs != image.rootfs
    assert held.is_in_memory(image.digest)
    motd = copy.rootfs / "etc" / "motd"
    motd.chmod(0o644)
    motd.write_bytes(b"two!")
    again = HeldImages(host, open_folder / "store", memory)  # another process of the worker
    assert again.get(image.digest) is None
    assert "/etc/motd" in caplog.text
    assert again.get(image.digest).rootfs.joinpath("etc", "motd").read_bytes() == b"two", "a copy made anew"


def test_what_leaves_the_store_leaves_memory(image, store, host, open_folder, memory, scratch):
    held = HeldImages(host, open_folder / "store", memory)
    assert held.get(image.digest) is not None
    store.remove(image.digest)
    assert held.get(image.digest) is None
    assert not held.is_in_memory(image.digest)
    assert not list((scratch / "images").iterdir())


def test_a_store_that_somebody_has_put_a_pipe_into_is_refused(
    image, host, open_folder, memory, scratch, caplog
):
    image.rootfs.chmod(0o755)
    os.mkfifo(image.rootfs / "pipe")
    assert HeldImages(host, open_folder / "store", memory).get(image.digest) is None
    assert "/pipe is not as it was imported" in caplog.text
    assert not list((scratch / "images").iterdir())


def test_an_image_without_a_copy_runs_in_the_store(image, host, open_folder, scratch, caplog):
    for memory, words in ((None, ""), (ImagesInMemory(scratch, most_bytes=0), "DPGATE_IMAGES_IN_MEMORY_MIB")):
        held = HeldImages(host, open_folder / "store", memory)
        assert held.get(image.digest) == image
        assert not held.is_in_memory(image.digest)
        assert words in caplog.text


def test_a_host_that_begins_to_swap_keeps_nothing_in_memory(image, host, open_folder, memory, monkeypatch):
    held = HeldImages(host, open_folder / "store", memory)
    held.get(image.digest)
    assert held.is_in_memory(image.digest)
    monkeypatch.setattr(in_memory, "why_not_kept", lambda _: "this host swaps")
    assert not held.is_in_memory(image.digest)


def test_the_hosts_own_image_is_never_in_memory(host: HostImage, open_folder, memory, store: ImageStore):
    held = HeldImages(host, open_folder / "store", memory)
    assert held.get(host.digest) is host
    assert not held.is_in_memory(host.digest)


def test_only_a_tmpfs_is_memory():
    with folder_in_memory() as folder:
        reason = why_not_kept(folder)
        assert reason is None or "lies on" not in reason
    assert "lies on" in why_not_kept(Path("/proc"))


def test_a_tmpfs_with_large_pages_forgets_how_it_was_written(monkeypatch):
    """The kernel joins its pages while a run has them mapped."""
    with folder_in_memory() as folder:
        found = os.stat(folder).st_dev
        lines = folder / "mountinfo"
        line = f"1 1 {os.major(found)}:{os.minor(found)} / /dev/shm rw - tmpfs tmpfs rw,size=1k"
        monkeypatch.setattr(kept_in_memory, "_MOUNTS", lines)
        for option, is_large in (("", False), (",huge=never", False), (",huge=within_size", True)):
            lines.write_text(f"{line}{option}\n")
            assert ("huge=" in str(why_not_kept(folder))) is is_large, option
