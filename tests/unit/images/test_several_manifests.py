"""Archives with more than one image: this machine's is taken, and nothing is guessed."""

from __future__ import annotations

import json

import pytest
from made_images import ARCHITECTURE, Recipe, layer, member, pack, sha

from worker.images.refusal import ImageRefused

pytestmark = pytest.mark.needs(backend="bubblewrap")

IMAGE_INDEX = "application/vnd.oci.image.index.v1+json"


def one(name, architecture=ARCHITECTURE):
    """Files of a layout with this image, and its descriptor."""
    files = Recipe([layer(member(name, b"x"))], {"architecture": architecture}).oci()
    descriptor = json.loads(files.pop("index.json"))["manifests"][0]
    return files, descriptor


def platform(architecture):
    return {"os": "linux", "architecture": architecture}


def layout(files, manifests):
    return {**files, "index.json": json.dumps({"schemaVersion": 2, "manifests": manifests}).encode()}


def test_this_machines_is_taken(small_store, tmp_path):
    ours, mine = one("ours")
    mine["platform"] = platform(ARCHITECTURE)
    _, other = one("theirs", "s390x")  # its content is not even there, as Docker leaves it out
    other["platform"] = platform("s390x")
    _, attestation = one("attestation")
    attestation["platform"] = {"os": "unknown", "architecture": "unknown"}
    image = small_store.add(pack(layout(ours, [other, attestation, mine]), tmp_path / "image.tar"))
    assert (image.rootfs / "ours").exists()


def test_without_platforms_the_configurations_tell(small_store, tmp_path):
    ours, mine = one("ours")
    theirs, other = one("theirs", "s390x")
    image = small_store.add(pack(layout({**ours, **theirs}, [other, mine]), tmp_path / "image.tar"))
    assert (image.rootfs / "ours").exists()


def test_an_index_in_the_index(small_store, tmp_path):
    ours, mine = one("ours")
    mine.pop("annotations")
    inner = json.dumps({"schemaVersion": 2, "manifests": [mine]}).encode()
    ours[f"blobs/sha256/{sha(inner)}"] = inner
    outer = {
        "mediaType": IMAGE_INDEX,
        "digest": f"sha256:{sha(inner)}",
        "size": len(inner),
        "annotations": {"io.containerd.image.name": "named.example/outside:1"},
    }
    image = small_store.add(pack(layout(ours, [outer]), tmp_path / "image.tar"))
    assert (image.rootfs / "ours").exists()
    assert image.name == "named.example/outside:1"


def test_an_index_in_itself_has_an_end(small_store, tmp_path):
    files, descriptor = one("ours")
    for _ in range(5):
        inner = json.dumps({"schemaVersion": 2, "manifests": [descriptor]}).encode()
        files[f"blobs/sha256/{sha(inner)}"] = inner
        descriptor = {"mediaType": IMAGE_INDEX, "digest": f"sha256:{sha(inner)}", "size": len(inner)}
    with pytest.raises(ImageRefused, match="too deeply"):
        small_store.add(pack(layout(files, [descriptor]), tmp_path / "image.tar"))


def test_one_image_with_two_names_is_one(small_store, tmp_path):
    ours, mine = one("ours")
    second = {**mine, "annotations": {"org.opencontainers.image.ref.name": "second"}}
    assert small_store.add(pack(layout(ours, [mine, second]), tmp_path / "image.tar")).name == "made:1"


@pytest.mark.parametrize("said", [True, False])
def test_two_for_this_machine_are_refused(said, small_store, tmp_path):
    (first, one_of), (second, other) = one("first"), one("second")
    for descriptor in (one_of, other):
        if said:
            descriptor["platform"] = platform(ARCHITECTURE)
    with pytest.raises(ImageRefused, match="holds 2 images for 'linux/"):
        small_store.add(pack(layout({**first, **second}, [one_of, other]), tmp_path / "image.tar"))


def test_none_for_this_machine_is_refused(small_store, tmp_path):
    manifests = []
    for architecture in ("s390x", "riscv64"):
        _, descriptor = one("theirs", architecture)
        manifests.append({**descriptor, "platform": platform(architecture)})
    with pytest.raises(ImageRefused, match="all in all: 'linux/riscv64', 'linux/s390x'"):
        small_store.add(pack(layout({}, manifests), tmp_path / "image.tar"))


def test_a_platform_that_lies_is_found_out(small_store, tmp_path):
    files, descriptor = one("theirs", "s390x")
    descriptor["platform"] = platform(ARCHITECTURE)
    with pytest.raises(ImageRefused, match="made for 'linux/s390x'"):
        small_store.add(pack(layout(files, [descriptor]), tmp_path / "image.tar"))
