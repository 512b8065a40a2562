"""What is not read, and why: every archive here differs in one thing from one that is."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from dataclasses import replace

import pytest
from made_images import Recipe, folder, gnu_long, hard_link, layer, link, member, pack, pax, sha

from sandbox_images.unpack.caps import Caps
from sandbox_images.unpack.entry import TAR, unpack
from sandbox_images.unpack.refusal import Refused
from worker.images.refusal import ImageRefused

SMALL = Caps(
    archive_bytes=8 << 20,
    total_bytes=4 << 20,
    file_bytes=2 << 20,
    layers=5,
    entries=400,
    depth=20,
    text_bytes=1 << 20,
)

FINE = member("file", b"content")
OTHER = {"x86_64": b"\xb7\x00", "aarch64": b"\x3e\x00"}[os.uname().machine]
FOREIGN = member("bin/sh", b"\x7fELF\x02\x01\x01".ljust(18, b"\0") + OTHER, mode=0o755)
NOISE = bytes(range(256)) * 16


def deep(count):
    return [folder("/".join(["d"] * depth)) for depth in range(1, count + 1)]


def below(name, count):
    return [folder(name + "/e" * depth) for depth in range(1, count + 1)]


LAYERS = {
    "a name that leads upwards": ([member("a/../../b", b"x")], "leads upwards"),
    "NUL in a PAX name": ([pax({b"path": b"a\0b"}), FINE], "NUL"),
    "NUL in a long name": ([gnu_long(b"a\0b"), FINE], "NUL"),
    "a part that is too long": ([pax({b"path": b"n" * 256}), FINE], "no file system takes"),
    "a name that is too long": ([pax({b"path": b"n/" * 2100}), FINE], "too long"),
    "a link that is too long": ([pax({b"linkpath": b"n" * 4200}), link("a", "b")], "too long"),
    "no name": ([member("", b"x")], "no name"),
    "a link to nothing": ([link("a", "")], "symbolic link to"),
    "the root as a link": ([link("./", "/etc")], "root"),
    "too deep": (deep(21), "deeper than 20"),
    "too deep by a link": ([*deep(15), link("l", "/".join("d" * 15)), *below("l", 8)], "deeper than 20"),
    "too many entries": ([member(f"f{number}") for number in range(500)], "more than 400 files"),
    "a large file": ([member("big", bytes(3 << 20))], "more than 2097152"),
    "a file that claims to be huge": ([member("big", b"x", size=8 * 10**9)], "more than 2097152"),
    "a huge size by PAX": ([pax({b"size": b"9" * 18}), FINE], "more than 2097152"),
    "a negative size": ([member("a", b"", raw_size=b"\xff" * 12)], "negative size"),
    "a size that is no number": ([member("a", b"", raw_size=b"0000000009a\0")], "no number"),
    "a negative size by PAX": ([pax({b"size": b"-1"}), FINE], "with the size"),
    "a sparse file": ([member("a", kind=b"S")], "sparse"),
    "a sparse file by PAX": ([pax({b"GNU.sparse.major": b"1"}), FINE], "sparse"),
    "an unknown type": ([member("a", kind=b"V")], "unknown type"),
    "two extended headers": ([pax({b"path": b"a"}), pax({b"path": b"b"}), FINE], "several extended headers"),
    "PAX and GNU names at once": ([pax({b"path": b"a"}), gnu_long(b"b"), FINE], "several extended headers"),
    "GNU and PAX names at once": ([gnu_long(b"b"), pax({b"path": b"a"}), FINE], "several extended headers"),
    "a global name": ([pax({b"path": b"a"}, b"g"), FINE], "for all its entries"),
    "a PAX key twice": ([member("p", b"9 path=a\n" * 2, b"x"), FINE], "twice"),
    "a PAX length that lies": ([member("p", b"99 path=a\n", b"x"), FINE], "not made of records"),
    "a PAX length of nothing": ([member("p", b"0 path=a\n", b"x"), FINE], "not made of records"),
    "an endless extended header": ([member("p", bytes(1 << 20) + b"x", b"x"), FINE], "extended header of"),
    "an extended header for nobody": ([FINE, pax({b"path": b"a"})], "announces another"),
    "a wrong checksum": ([FINE[:100] + b"1" + FINE[101:]], "checksum"),
    "a hard link to nothing": ([hard_link("a", "b")], "no file"),
    "a hard link to a folder": ([folder("b"), hard_link("a", "b")], "no file"),
    "a hard link to the root": ([hard_link("a", "/")], "hard link to the root"),
    "a whiteout without a name": ([member(".wh.")], "whiteout of"),
    "a whiteout of the folder itself": ([member(".wh..")], "whiteout of"),
    "a whiteout of the folder above": ([member("a/.wh...")], "whiteout of"),
    "made and removed at once": ([FINE, member(".wh.file")], "both makes and removes"),
    "a file as a folder": ([FINE, member("file/below", b"x")], "no folder"),
    "a link to nowhere as a folder": ([link("l", "nowhere"), member("l/file", b"x")], "leads nowhere"),
    "a loop as a folder": ([link("l", "l"), member("l/file", b"x")], "no folder"),
    "a folder with content": ([member("d/", b"content")], "folder with content"),
}  # fmt: skip


def test_a_layer_with(subtests, tmp_path):
    for number, what in enumerate(LAYERS):
        with subtests.test(what=what):
            (place := tmp_path / str(number)).mkdir()
            members, sentence = LAYERS[what]
            refused(layer(*members), sentence, place)


def refused(content, sentence, folder):
    """By the unpacker, here without its sandbox, which a test of this many cases has no time for."""
    archive = pack(Recipe([content]).docker(), folder / "image.tar")
    (folder / "work").mkdir()
    with pytest.raises(Refused, match=sentence):
        unpack(archive, folder / "work", TAR, SMALL)


@pytest.mark.needs(backend="bubblewrap")
def test_a_file_where_runs_mount(small_store, tmp_path):
    with pytest.raises(ImageRefused, match="file at /proc"):
        small_store.add(pack(Recipe([layer(member("proc", b"x"))]).docker(), tmp_path / "image.tar"))


STREAMS = {
    "cut in a header": (layer(FINE)[:200], "cut short"),
    "cut in its content": (layer(member("a", bytes(2000)))[:1024], "cut short"),
    "something after its end": (layer(FINE) + b"x" * 512, "after its end"),
    "an entry after its end": (layer(FINE) + layer(FINE), "after its end"),
    "no tar": (b"\x7fELF" + NOISE, "checksum"),
    "xz": (b"\xfd7zXZ\0" + NOISE, "compressed with xz"),
    "gzip cut short": (gzip.compress(layer(FINE))[:-12], "cut short"),
    "gzip with something after it": (gzip.compress(layer(FINE)) + b"garbage", "broken"),
    "gzip of a bomb": (gzip.compress(bytes(64 << 20), 1), "more than 4194304 bytes"),
}


def test_a_layer_that_is(subtests, tmp_path):
    for number, what in enumerate(STREAMS):
        with subtests.test(what=what):
            (place := tmp_path / str(number)).mkdir()
            content, sentence = STREAMS[what]
            refused(content, sentence, place)


@pytest.mark.needs(process=True)  # the decoder
def test_a_layer_that_is_broken_zstd(tmp_path):
    refused(b"\x28\xb5\x2f\xfd" + NOISE, "broken", tmp_path)


@pytest.mark.needs(backend="bubblewrap")
def test_what_may_follow_a_layer(small_store, tmp_path):
    """Padding, the lack of an end, gzip in several members: what tools do write."""
    parts = [layer(FINE, end=b""), layer(FINE, end=bytes(512)), layer(FINE, end=bytes(20480))]
    recipe = Recipe(parts)
    files = recipe.docker()
    whole = parts[2]
    files["2/layer.tar"] = gzip.compress(whole[:700]) + gzip.compress(whole[700:])
    image = small_store.add(pack(files, tmp_path / "image.tar"))
    assert (image.rootfs / "file").read_bytes() == b"content"


@pytest.mark.needs(backend="bubblewrap")
def test_names_are_bytes(small_store, tmp_path):
    odd = [b"\xff\xfe", b"new\nline", "\N{SNOWMAN}".encode(), b" ", b"-rf", b"a\\b"]
    image = small_store.add(
        pack(Recipe([layer(*(member(name, b"x") for name in odd))]).docker(), tmp_path / "image.tar")
    )
    assert set(odd) <= set(os.listdir(os.fsencode(image.rootfs)))
    small_store.verify(image)


@pytest.mark.needs(backend="bubblewrap")
def test_duplicate_entries_the_last_counts(small_store, tmp_path):
    """As every other tool has it; what counted before is gone, also through a hard link."""
    content = layer(member("a", b"one"), hard_link("b", "a"), member("a", b"two"))
    image = small_store.add(pack(Recipe([content]).docker(), tmp_path / "image.tar"))
    assert ((image.rootfs / "a").read_bytes(), (image.rootfs / "b").read_bytes()) == (b"two", b"one")


@pytest.mark.needs(backend="bubblewrap")
def test_zstd_is_read_where_there_is_a_decoder(small_store, tmp_path):
    recipe = Recipe([layer(FINE)])
    files = recipe.docker()
    tool = shutil.which("zstd")
    assert tool is not None
    files["0/layer.tar"] = subprocess.run(
        [tool, "-c"], input=files["0/layer.tar"], capture_output=True
    ).stdout
    image = small_store.add(pack(files, tmp_path / "image.tar"))
    assert (image.rootfs / "file").read_bytes() == b"content"


def test_zstd_without_a_decoder(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(b"\x28\xb5\x2f\xfd" + NOISE, "no decoder: install the distribution's zstd package", tmp_path)


def changed(files, name, edit):
    return {**files, name: edit(files[name])}


def manifest(files, edit):
    return changed(files, "manifest.json", lambda text: json.dumps(edit(json.loads(text))).encode())


def blob(files, kind):
    """Name of the OCI blob that holds this key."""
    return next(name for name, text in files.items() if name.startswith("blobs") and kind in text[:400])


def lacking(files, kind):
    gone = blob(files, kind)
    return {name: text for name, text in files.items() if name != gone}


GOOD = Recipe([layer(FINE)])
ARCHIVES = {
    "a tampered configuration": (
        lambda: changed(GOOD.docker(), f"{sha(GOOD.configuration())}.json", lambda text: text + b" "),
        "configuration was changed",
    ),
    "a tampered layer": (
        lambda: changed(GOOD.docker(), "0/layer.tar", lambda text: text.replace(b"content", b"CONTENT")),
        "layer 1 was changed",
    ),
    "a tampered layer of an OCI layout": (
        lambda: changed(
            (files := replace(GOOD, compress=True).oci()),
            next(name for name in files if files[name].startswith(b"\x1f\x8b")),
            lambda text: gzip.compress(layer(FINE), 9, mtime=7)[: len(text)],
        ),
        "layer 1 was changed|bytes, and the archive says",
    ),
    "a tampered diff_id": (
        lambda: Recipe(
            [layer(FINE)], {"rootfs": {"type": "layers", "diff_ids": [f"sha256:{'0' * 64}"]}}
        ).docker(),
        "layer 1 was changed",
    ),
    "a diff_id of another kind": (
        lambda: Recipe([layer(FINE)], {"rootfs": {"type": "layers", "diff_ids": ["md5:0"]}}).docker(),
        "no SHA-256",
    ),
    "a tampered manifest": (
        lambda: changed(
            (files := GOOD.oci()),
            blob(files, b'"config": {"mediaType'),
            lambda text: text.replace(b"2", b"3", 1),
        ),
        "manifest was changed",
    ),
    "a missing layer": (
        lambda: {name: text for name, text in GOOD.docker().items() if "layer" not in name},
        "lacks",
    ),
    "a missing blob": (lambda: lacking(GOOD.oci(), b"diff_ids"), "lacks"),
    "no manifest": (lambda: {"file": b"x"}, "neither manifest.json nor index.json"),
    "two images": (lambda: manifest(GOOD.docker(), lambda images: images * 2), "holds 2 images"),
    "no image": (lambda: manifest(GOOD.docker(), lambda images: []), "holds 0 images"),
    "fewer layers than said": (
        lambda: manifest(GOOD.docker(), lambda images: [{**images[0], "Layers": []}]),
        "has 0 layers",
    ),
    "a manifest of another form": (lambda: manifest(GOOD.docker(), lambda images: "x"), "format demands"),
    "a manifest that is no text": (
        lambda: changed(GOOD.docker(), "manifest.json", lambda text: b"\xff\xfe\0"),
        "not readable",
    ),
    "a manifest that is nested without end": (
        lambda: changed(GOOD.docker(), "manifest.json", lambda text: b"[" * 100_000),
        "not readable",
    ),
    "a key twice": (
        lambda: changed(GOOD.docker(), "manifest.json", lambda text: text.replace(b"{", b'{"Config": "x", ')),
        "occurs twice",
    ),
    "a name outside": (
        lambda: manifest(GOOD.docker(), lambda images: [{**images[0], "Config": "/etc/passwd"}]),
        "lacks",
    ),
    "another machine's": (lambda: Recipe([layer(FINE)], {"architecture": "s390x"}).docker(), "made for"),
    "programs of another machine, whatever it says of itself": (
        lambda: Recipe([layer(FOREIGN)]).docker(),
        "not added: /bin/sh of the image .* is a program for",
    ),
    "another system's": (lambda: Recipe([layer(FINE)], {"os": "windows"}).oci(), "made for"),
    "too many layers": (lambda: Recipe([layer(FINE)] * 6).docker(), "more than 5"),
    "LD_PRELOAD": (
        lambda: Recipe([layer(FINE)], {"config": {"Env": ["LD_PRELOAD=/x.so"]}}).docker(),
        "LD_PRELOAD",
    ),
}


@pytest.mark.needs(backend="bubblewrap")
@pytest.mark.parametrize("what", ARCHIVES)
def test_an_archive_with(what, small_store, tmp_path):
    make, sentence = ARCHIVES[what]
    with pytest.raises(ImageRefused, match=sentence):
        small_store.add(pack(make(), tmp_path / "image.tar"))
    assert small_store.listed() == ()


@pytest.mark.needs(backend="bubblewrap")
@pytest.mark.parametrize("files", [GOOD.docker(), GOOD.oci(), replace(GOOD, compress=True).oci()])
def test_control_they_are_read_without_the_fault(files, small_store, tmp_path):
    image = small_store.add(pack(files, tmp_path / "image.tar"))
    assert (image.rootfs / "file").read_bytes() == b"content"


@pytest.mark.needs(backend="bubblewrap")
def test_a_file_of_the_archive_that_is_there_twice(small_store, tmp_path):
    path = pack(GOOD.docker(), tmp_path / "image.tar")
    whole = path.read_bytes()
    path.write_bytes(layer(member("manifest.json", b"[]"), end=b"") + whole)
    with pytest.raises(ImageRefused, match="twice"):
        small_store.add(path)


@pytest.mark.needs(backend="bubblewrap")
@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"PK\x03\x04" + NOISE, "expected what"), (b"", "expected what"), (gzip.compress(NOISE), "checksum")],
)
def test_a_file_that_is_no_archive(content, sentence, small_store, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ImageRefused, match=sentence):
        small_store.add(tmp_path / "file")


@pytest.mark.needs(backend="bubblewrap")
def test_an_archive_that_is_too_large(small_store, tmp_path):
    with (tmp_path / "file").open("wb") as file:
        file.write(layer(FINE))
        file.truncate(9 << 20)
    with pytest.raises(ImageRefused, match="larger than"):
        small_store.add(tmp_path / "file")


@pytest.mark.needs(backend="bubblewrap")
def test_a_folder_is_no_archive(small_store, tmp_path):
    with pytest.raises(ImageRefused, match="is no file"):
        small_store.add(tmp_path)
    with pytest.raises(ImageRefused, match="is no file"):
        small_store.add(tmp_path / "absent")
