"""From an archive to a read-only tree, and what the store does when something goes wrong on the way."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from made_images import Recipe, layer, link, member, pack, sif, sif_part
from waiting import wait_until
from workers import named

from worker.images.refusal import ImageDamaged, ImageNotFound, ImageRefused
from worker.images.sealing import MOUNT_POINTS
from worker.images.store import ImageStore
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import SandboxUnavailable

pytestmark = pytest.mark.needs(backend="bubblewrap")

ROOT = Path(__file__).parents[3]
TREE = {
    "etc/motd": b"two",
    "bin/again": b"#!/bin/sh\n",
    "usr/lib/through-a-link": b"y",
    "opaque/new": b"z",
    "loop": b"no more",
    "tmp/hidden": b"x",
}


def contents(rootfs):
    found = {}
    for path in rootfs.rglob("*"):
        where = str(path.relative_to(rootfs))
        if path.is_symlink():
            found[where] = os.readlink(path)
        elif path.is_file():
            found[where] = path.read_bytes()
    return found


@pytest.mark.parametrize("form", ["docker", "oci"])
@pytest.mark.parametrize("compress", [False, True])
def test_layers_become_one_tree(form, compress, recipe, add):
    recipe.compress = compress
    image = add(getattr(recipe, form)())
    assert contents(image.rootfs) == {**TREE, "lib": "usr/lib", "outside": "/etc/motd"}
    assert (image.rootfs / "bin" / "tool").is_dir()
    assert not (image.rootfs / "gone").exists()


def test_a_compressed_archive(recipe, store, tmp_path):
    path = pack(recipe.docker(), tmp_path / "image.tar")
    subprocess.run(["gzip", path], check=True)
    assert contents(store.add(path.with_suffix(".tar.gz")).rootfs).items() >= TREE.items()


def test_what_is_known_of_it(recipe, store, add):
    image = add(recipe.docker())
    assert image.name == "made:1"
    assert image.digest.startswith("sha256:")
    assert image.environment == {"PATH": "/usr/bin:/bin"}
    assert image.interpreter is None
    assert store.get(image.digest) == image
    assert store.listed() == (image,)


def test_every_form_of_an_image_is_the_same_image(recipe, store, add):
    first = add(recipe.docker())
    assert add(recipe.docker()) == add(recipe.oci()) == first
    recipe.compress = True
    assert add(recipe.oci(), name="made:1") == first
    assert len(store.listed()) == 1


def test_one_image_has_one_name(recipe, add):
    add(recipe.docker(), name="ours")
    with pytest.raises(ImageRefused, match="under the name ours"):
        add(recipe.docker(), name="theirs")
    with pytest.raises(ImageRefused, match="cannot be an image's name"):
        add(recipe.docker(), name="../x")


def test_nobody_can_write_and_every_slot_can_read(recipe, add):
    old = os.umask(0o077)  # a worker's may be strict
    try:
        image = add(recipe.docker())
    finally:
        os.umask(old)
    for parent, folders, files in os.walk(image.rootfs):
        for path in [Path(parent), *(Path(parent, name) for name in (*folders, *files))]:
            found = path.lstat()
            assert found.st_uid == os.getuid()
            if not stat.S_ISLNK(found.st_mode):
                assert stat.S_IMODE(found.st_mode) in (0o444, 0o555)
    for step in (image.rootfs.parent, *image.rootfs.parent.parents):
        assert step.stat().st_mode & 0o001, step


def test_times_survive_for_compiled_python(recipe, add):
    assert (add(recipe.docker()).rootfs / "usr/lib/through-a-link").stat().st_mtime == 1_600_000_000


def test_every_mount_point_is_a_folder(add):
    image = add(
        Recipe([layer(link("run", "/etc"), link("tmp", "x"), link("dev", "/"), link("in", "in"))]).docker()
    )
    for name in MOUNT_POINTS:
        assert stat.S_ISDIR((image.rootfs / name).lstat().st_mode)
    assert os.listdir(image.rootfs / "tmp") == []


def edit(path, change):
    """As root would by accident."""
    mode, folder = path.lstat().st_mode, path.parent.stat().st_mode
    path.parent.chmod(0o755)
    if not path.is_symlink():
        path.chmod(0o755)
    change(path)
    if path.exists() and not path.is_symlink():
        path.chmod(stat.S_IMODE(mode))
    path.parent.chmod(stat.S_IMODE(folder))


CHANGES = {
    "content": ("etc/motd", lambda path: path.write_bytes(b"TWO")),
    "a file less": ("usr/lib/through-a-link", lambda path: path.unlink()),
    "a file more": ("etc/extra", lambda path: path.write_bytes(b"x")),
    "a folder more": ("zzz", lambda path: path.mkdir(mode=0o555)),
    "another link": ("outside", lambda path: (path.unlink(), path.symlink_to("/etc/shadow"))),
    "a link for a file": ("loop", lambda path: (path.unlink(), path.symlink_to("etc/motd"))),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found_and_named(what, recipe, store, add):
    image = add(recipe.docker())
    store.verify(image)
    name, change = CHANGES[what]
    path = image.rootfs / name
    if not os.path.lexists(path):
        path.parent.chmod(0o755)
        change(path)
        path.chmod(0o555 if path.is_dir() else 0o444)
        path.parent.chmod(0o555)
    else:
        edit(path, change)
    with pytest.raises(ImageDamaged, match=f"/{name} is not as it was imported.*add its archive again"):
        store.verify(image)


def test_a_change_of_mode_is_found(recipe, store, add):
    image = add(recipe.docker())
    (image.rootfs / "etc/motd").chmod(0o644)
    with pytest.raises(ImageDamaged, match="/etc/motd"):
        store.verify(image)


def test_a_change_of_the_record_is_found(recipe, store, add):
    image = add(recipe.docker())
    with pytest.raises(ImageDamaged, match="list of files"):
        store.verify(replace(image, tree_digest="sha256:" + "0" * 64))
    (image.rootfs.parent / "image.json").chmod(0o600)
    (image.rootfs.parent / "image.json").write_text("{}")
    with pytest.raises(ImageDamaged, match=r"image\.json"):
        store.get(image.digest)


def test_remove(recipe, store, add):
    image = add(recipe.docker())
    store.remove(image.digest)
    assert store.listed() == ()
    assert not image.rootfs.exists()
    for asking in (store.get, store.remove):
        with pytest.raises(ImageNotFound, match="in the store"):
            asking(image.digest)
    with pytest.raises(ImageNotFound):
        store.verify(image)
    with pytest.raises(ImageNotFound, match="no image's digest"):
        store.get("sha256:../../etc")
    assert add(recipe.docker()) == image


def test_a_refused_import_leaves_nothing(store, open_folder, add):
    with pytest.raises(ImageRefused):
        add(Recipe([layer(member("../x", b""))]).docker())
    assert os.listdir(open_folder / "store" / "incoming") == []


IMPORT = """
    import sys
    from pathlib import Path
    from worker.images.store import ImageStore
    image = ImageStore(Path(sys.argv[1])).add(Path(sys.argv[2]))
    print(image.digest, image.tree_digest, image.interpreter)
"""


def importing(folder, archive, **options):
    command = [sys.executable, "-c", textwrap.dedent(IMPORT), folder, archive]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def test_a_killed_import_leaves_nothing_after_the_next_open(open_folder, host, tmp_path):
    folder = open_folder / "store"
    big = layer(*(member(f"d{number % 97}/f{number}", os.urandom(2000)) for number in range(20_000)))
    archive = pack(Recipe([big]).docker(), tmp_path / "image.tar")
    with importing(folder, archive) as process:
        wait_until(
            lambda: list(folder.glob("incoming/*/unpacked/rootfs/d9*")),
            unless=lambda: process.poll() is not None and process.stderr.read(),
        )
        held = ImageStore(folder, host=host)  # while it lives, it is left alone
        assert list(folder.glob("incoming/*/unpacked"))
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: not named(str(folder)), said="the end of the sandbox that it unpacked in")
    left = len(list(folder.rglob("*")))
    assert list(folder.glob("incoming/*.lock"))
    ImageStore(folder, host=host)
    assert left > 20
    assert os.listdir(folder / "incoming") == []
    assert held.listed() == ()


def test_two_imports_at_once_are_one(recipe, open_folder, host, tmp_path):
    archive = pack(recipe.docker(), tmp_path / "image.tar")
    both = [importing(open_folder / "store", archive) for _ in range(2)]
    said = [process.communicate() for process in both]
    assert said[0][0] == said[1][0] != "", said
    store = ImageStore(open_folder / "store", host=host)
    assert len(store.listed()) == 1
    assert os.listdir(open_folder / "store" / "incoming") == []


@pytest.fixture
def as_user(open_folder):
    """Import as an ordinary user: another one, if the tests are run by root."""
    home, code = open_folder / "theirs", open_folder / "code"
    home.mkdir()
    for package in ("worker", "sandbox_images"):
        shutil.copytree(ROOT / package, code / package, ignore=shutil.ignore_patterns("__pycache__"))
    other = {"user": 1500, "group": 1500, "extra_groups": ()} if os.getuid() == 0 else {}

    def importing(archive):
        shutil.copy(archive, home)
        if other:
            os.chown(home, 1500, 1500)
        script = [describe().interpreter, "-c", textwrap.dedent(IMPORT), home / "store", home / archive.name]
        ended = subprocess.run(script, cwd=code, capture_output=True, text=True, check=False, **other)
        return ended.stdout.split() or ended.stderr

    return importing


def test_an_ordinary_user_gets_the_same(recipe, add, as_user, tmp_path):
    image = add(recipe.docker())
    assert as_user(tmp_path / "image.tar") == [image.digest, image.tree_digest, "None"]


def test_also_of_a_sif_with_closed_folders(store, as_user, tmp_path):
    """Which its owner, unless it is root, cannot read as they come out."""
    top = tmp_path / "top"
    (top / "closed" / "below").mkdir(parents=True)
    (top / "closed" / "below" / "file").write_bytes(b"x")
    for path in (top / "closed" / "below" / "file", top / "closed" / "below", top / "closed"):
        path.chmod(0)
    subprocess.run(["mksquashfs", top, tmp_path / "s", "-no-progress"], check=True, capture_output=True)
    (tmp_path / "image.sif").write_bytes(sif(sif_part(0x4004, (tmp_path / "s").read_bytes())))
    (top / "closed").chmod(0o700)
    (top / "closed" / "below").chmod(0o700)
    image = store.add(tmp_path / "image.sif")
    assert as_user(tmp_path / "image.sif") == [image.digest, image.tree_digest, "None"]


def test_a_folder_of_somebody_else_is_refused(open_folder, host):
    (open_folder / "store").mkdir()
    (open_folder / "store").chmod(0o777)
    with pytest.raises(SandboxUnavailable, match="only the user who runs this can write"):
        ImageStore(open_folder / "store", host=host)
