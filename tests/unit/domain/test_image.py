"""How people refer to images: by name in a pipeline, by digest in an approval, never by tag."""

from __future__ import annotations

import pytest
from factories import make_manifest, manifest_fields

from domain.errors import InvalidRequest
from domain.image import ImageKind, check_digest
from domain.model import parse
from domain.pipeline import Manifest

DIGEST = "sha256:" + "1a" * 32


WHAT_IS_NOT_A_NAME_IS_REFUSED_WITH_WHAT_TO_WRITE = (
    ("python:3.11", "a tag or a place in a registry"),
    ("library/python", "a tag or a place in a registry"),
    ("python@sha256:12", "a tag or a place in a registry"),
    ("https://dpgate.example.org/python.tar", "an address"),
    ("docker://python", "an address"),
    (DIGEST, "a digest"),
    ("/images/python", "a path"),
    ("./python.sif", "a path"),
    ("..\\python", "a tag or a place in a registry"),
)


def test_what_is_not_a_name_is_refused_with_what_to_write(subtests):
    for image, kind in WHAT_IS_NOT_A_NAME_IS_REFUSED_WITH_WHAT_TO_WRITE:
        with subtests.test(image=image, kind=kind):
            with pytest.raises(InvalidRequest) as refusal:
                parse(Manifest, manifest_fields(image=image))
            problem = refusal.value.problems[0]
            assert problem.field == "image"
            assert problem.problem.endswith(f"is {kind}, not the name of an image.")
            assert problem.fix == "Write the name of an approved image, as `dpgate image list` shows it."


def test_a_name_is_a_name():
    assert make_manifest(image="python-base-3").image == "python-base-3"


@pytest.mark.parametrize("image", ["Python", "", "a_b", 3, None])
def test_other_things_are_not_names_either(image):
    with pytest.raises(InvalidRequest, match="image"):
        parse(Manifest, manifest_fields(image=image))


ONLY_A_DIGEST_IS_A_DIGEST = ("python", "python:3.11", "sha256:12", "sha256:" + "1A" * 32, DIGEST + "\n", "")


def test_only_a_digest_is_a_digest(subtests):
    for text in ONLY_A_DIGEST_IS_A_DIGEST:
        with (
            subtests.test(text=text),
            pytest.raises(InvalidRequest, match="Use the digest, sha256: and 64 hex digits"),
        ):
            check_digest(text)


def test_a_digest_is_itself():
    assert check_digest(DIGEST) == DIGEST


def test_each_kind_says_what_it_is_for():
    assert "for twins, and for data sets whose rights holder names it in policy.images" in ImageKind.HOST.use
    assert "identifies every file" in ImageKind.IMPORTED.use
