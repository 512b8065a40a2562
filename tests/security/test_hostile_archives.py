"""Image archives that a stranger made to harm whoever imports them: each is refused, or does nothing.

Layers that reach for something outside are tried three ways: by a naive unpacker, which must do the harm (or
the attack proves nothing), by ours without any sandbox around it, and through the whole store.
"""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest
from made_images import Recipe, folder, gnu_long, hard_link, layer, link, member, pack, pax

from sandbox_images.unpack import layers as unpack_layers
from sandbox_images.unpack.caps import Caps
from sandbox_images.unpack.refusal import Refused
from sandbox_images.unpack.rooted import open_by_kernel, open_by_steps
from sandbox_images.unpack.streams import Budget, Stretch
from sandbox_images.unpack.tar import Tar
from sandbox_images.unpack.tree import Tree
from worker.images.refusal import ImageRefused
from worker.images.store import ImageStore
from worker.sandbox.core.images import HostImage

SECRET = b"not yours"


@dataclass(frozen=True)
class Area:
    """Where one attack takes place: `root` is to be filled, all else must stay as it is."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def state(self) -> list[tuple[str, int, bytes]]:
        """Everything but the content of the root."""
        found = []
        for place in sorted(self.folder.rglob("*")):
            if not place.is_relative_to(self.root):
                content = place.read_bytes() if place.is_file() else b""
                found.append((str(place), place.lstat().st_mode, content))
        return [*found, ("root", int(self.root.is_dir() and not self.root.is_symlink()), b"")]


@pytest.fixture
def area() -> Iterator[Area]:
    made = Area(Path(tempfile.mkdtemp(prefix="area")))
    made.root.mkdir()
    (made.folder / "victim").mkdir()
    (made.folder / "victim" / "file").write_bytes(SECRET)
    (made.folder / "victim").chmod(0o750)
    (made.folder / "victim" / "file").chmod(0o640)
    yield made
    shutil.rmtree(made.folder, ignore_errors=True)


@pytest.fixture
def store(shared_host: HostImage) -> Iterator[ImageStore]:
    with tempfile.TemporaryDirectory(prefix="store") as place:
        os.chmod(place, 0o755)
        yield ImageStore(Path(place) / "store", host=shared_host)


@pytest.fixture(scope="module")
def shared_host(image: HostImage) -> HostImage:
    return image


# What reaches out: name of the attack, and its layers for a victim at this absolute path.
def _attacks(victim: bytes) -> dict[str, list[bytes]]:
    up = b"../victim"
    target = victim + b"/file"
    return {
        "traversal": [layer(member(b"../victim/file", b"x"))],
        "traversal in the middle": [layer(folder("a"), member(b"a/../../victim/file", b"x"))],
        "traversal by PAX": [layer(pax({b"path": b"../victim/file"}), member("innocent", b"x"))],
        "traversal by a GNU long name": [layer(gnu_long(b"../victim/file"), member("innocent", b"x"))],
        "traversal by the prefix field": [layer(member(b"victim/file", b"x", prefix=b".."))],
        "absolute name": [layer(member(target, b"x"))],
        "write through an absolute link": [layer(link("a", victim), member("a/file", b"x"))],
        "write through a relative link": [layer(link("a", up), member("a/file", b"x"))],
        "write through a chain of links": [
            layer(folder("d"), link("d/b", b"../.."), link("a", b"d/b/victim"), member("a/file", b"x"))
        ],
        "write through a link by PAX": [
            layer(pax({b"linkpath": victim}), link("a", b"etc"), member("a/file", b"x"))
        ],
        "write through a link of an earlier layer": [layer(link("a", victim)), layer(member("a/file", b"x"))],
        "a file over a link": [layer(link("a", target), member("a", b"x"))],
        "a folder that became a link": [layer(folder("a")), layer(link("b", victim), member("b/new", b"x"))],
        "a new folder through a link": [layer(link("a", victim), folder("a/new"))],
        "a link through a link": [layer(link("a", victim), link("a/new", b"x"))],
        "a hard link to outside, then written": [layer(hard_link("a", target), member("a", b"x"))],
        "a hard link by traversal, then written": [
            layer(hard_link("a", b"../victim/file"), member("a", b"x"))
        ],
        "a hard link through a link, then written": [
            layer(link("d", victim), hard_link("a", b"d/file"), member("a", b"x"))
        ],
        "a hard link to a link to outside, then written": [
            layer(link("d", target), hard_link("a", b"d"), member("a", b"x"))
        ],
        "whiteout through a link": [layer(link("a", victim)), layer(member("a/.wh.file"))],
        "opaque whiteout through a link": [layer(link("a", victim)), layer(member("a/.wh..wh..opq"))],
        "whiteout by traversal": [layer(member(b"../.wh.victim"))],
        "whiteout of what is above": [layer(member(".wh..."))],
        "whiteout without a name": [layer(member(".wh."))],
        "chmod through a link": [layer(link("a", victim), member("a", kind=b"5", mode=0o777))],
        "chmod of a file through a link": [layer(link("a", target), member("a", SECRET, mode=0o777))],
        "absolute whiteout": [layer(member(victim + b"/.wh.file"))],
    }


ATTACKS = sorted(_attacks(b"/victim"))


def naive(layers: list[bytes], root: Path) -> None:
    """As a first attempt would do it: join the names and believe the rest."""
    for content in layers:
        with suppress(tarfile.ReadError), tarfile.open(fileobj=BytesIO(content)) as tar:
            for info in tar:
                _naive_member(tar, info, root)


def _naive_member(tar: tarfile.TarFile, info: tarfile.TarInfo, root: Path) -> None:
    place = os.path.join(root, info.name)
    base, name = os.path.split(place)
    if name == ".wh..wh..opq":
        for child in os.listdir(base):
            _naive_remove(os.path.join(base, child))
    elif name.startswith(".wh."):
        _naive_remove(os.path.join(base, name.removeprefix(".wh.")))
    elif info.isdir():
        os.makedirs(place, exist_ok=True)
        os.chmod(place, info.mode)
    elif info.issym():
        os.symlink(info.linkname, place)
    elif info.islnk():
        os.link(os.path.join(root, info.linkname), place)
    elif info.ischr() or info.isfifo():
        os.mknod(place, info.mode | (stat.S_IFCHR if info.ischr() else stat.S_IFIFO), os.makedev(1, 3))
    else:
        os.makedirs(base, exist_ok=True)
        content = tar.extractfile(info)
        Path(place).write_bytes(content.read() if content else b"")
        os.chmod(place, info.mode)


def _naive_remove(place: str) -> None:
    if os.path.isdir(place) and not os.path.islink(place):
        shutil.rmtree(place)
    else:
        os.remove(place)


@pytest.mark.parametrize("attack", ATTACKS)
def test_control_a_naive_unpacker_does_the_harm(attack, area):
    before = area.state()
    with suppress(OSError):
        naive(_attacks(os.fsencode(area.folder / "victim"))[attack], area.root)
    assert area.state() != before


@pytest.mark.parametrize("opener", [open_by_kernel, open_by_steps])
@pytest.mark.parametrize("attack", ATTACKS)
def test_our_unpacker_alone_does_none(attack, opener, area, tmp_path):
    before = area.state()
    tree = Tree(area.root, Caps(), opener)
    with suppress(Refused):
        for content in _attacks(os.fsencode(area.folder / "victim"))[attack]:
            (tmp_path / "layer").write_bytes(content)
            with (tmp_path / "layer").open("rb") as file:
                tar = Tar(Stretch(file.fileno(), 0, len(content)), Caps())
                unpack_layers.lay(tar, tree, Caps(), Budget(100, "files"))
    tree.close()
    assert area.state() == before


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_store_refuses_or_stays_within_its_tree(attack, area, store, tmp_path):
    before = area.state()
    layers = _attacks(os.fsencode(area.folder / "victim"))[attack]
    archive = pack(Recipe([layer(folder("etc")), *layers]).docker(), tmp_path / "image.tar")
    with suppress(ImageRefused):
        check_plain(store.add(archive).rootfs)
    assert area.state() == before


def test_an_absolute_link_leads_to_the_images_own_folder(area, store, tmp_path):
    """As it would in a container: the same path exists in the image, and that is where the file goes."""
    before = area.state()
    victim = os.fsencode(area.folder / "victim")
    inside = layer(pax({b"path": victim + b"/"}), folder("x"), link("a", victim), member("a/file", b"x"))
    rootfs = store.add(pack(Recipe([inside]).docker(), tmp_path / "image.tar")).rootfs
    assert (rootfs / str(area.folder / "victim" / "file").lstrip("/")).read_bytes() == b"x"
    assert area.state() == before


def check_plain(rootfs: Path) -> None:
    """Nothing but files, folders and links, owned by us, that nobody can write."""
    for parent, folders, files in os.walk(rootfs):
        for place in [Path(parent, name) for name in (*folders, *files)]:
            found = place.lstat()
            assert found.st_uid == os.getuid()
            if not stat.S_ISLNK(found.st_mode):
                assert stat.S_IMODE(found.st_mode) in (0o444, 0o555), place
                assert stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode), place
                assert not os.listxattr(place)


IN_THE_TREE = {
    "device": layer(member("null", kind=b"3", mode=0o666)),
    "fifo": layer(member("null", kind=b"6", mode=0o666)),
    "setuid program": layer(member("null", b"#!", mode=0o6755)),
    "writable file": layer(member("null", b"x", mode=0o666)),
    "closed file": layer(member("null", b"x", mode=0o000)),
}


@pytest.mark.parametrize("what", IN_THE_TREE)
def test_what_could_do_harm_later_is_dropped(what, area, store, tmp_path):
    with suppress(PermissionError):  # only root can make devices
        naive([IN_THE_TREE[what]], area.root)
    control = (area.root / "null").lstat().st_mode if (area.root / "null").exists() else None
    image = store.add(pack(Recipe([IN_THE_TREE[what]]).docker(), tmp_path / "image.tar"))
    check_plain(image.rootfs)
    kept = (image.rootfs / "null").lstat().st_mode if (image.rootfs / "null").exists() else None
    assert kept != control or (os.getuid() != 0 and what == "device")
    assert (kept is None) == (what in ("device", "fifo"))


def test_file_capabilities_are_dropped(area, store, tmp_path):
    capability = bytes.fromhex("0100000200040000000000000000000000000000")  # CAP_NET_RAW, effective
    content = layer(pax({b"SCHILY.xattr.security.capability": capability}), member("ping", b"x", mode=0o755))
    with tarfile.open(fileobj=BytesIO(content)) as tar:  # the control: the layer does carry it
        assert "SCHILY.xattr.security.capability" in tar.getmembers()[0].pax_headers
    image = store.add(pack(Recipe([content]).docker(), tmp_path / "image.tar"))
    assert os.listxattr(image.rootfs / "ping") == []
