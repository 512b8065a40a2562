"""Images: what kind a root file system is, what an operator approves it for, and how people refer to one."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from domain.errors import InvalidRequest
from domain.model import Slug

HOST_IMAGE = "host-python"  # the name of the worker's own: no archive, and no entry point
DIGEST = r"^sha256:[0-9a-f]{64}$"


class ImageKind(StrEnum):
    HOST = "host"  # the worker's own /usr and Python
    IMPORTED = "imported"  # from an archive, verified, read-only

    @property
    def use(self) -> str:
        """What it is for, in words for every surface that shows it."""
        return _USE[self]


_USE = {
    ImageKind.HOST: "this host's own Python: for twins, and for data sets whose rights holder names it in "
    "policy.images; its digest tells states of one host apart, it does not identify content",
    ImageKind.IMPORTED: "imported from an archive: its digest identifies every file in it",
}


class SyscallTable(StrEnum):
    """Which system calls a run in this image may make. The operator chooses it with the approval."""

    STRICT = "strict"
    STANDARD = (
        "standard"  # wide enough for SQLite, HDF5, asyncio, Java and Node; each addition opens a channel
    )


class ImageState(StrEnum):
    WAITING = "waiting for approval"
    APPROVED = "approved"
    WITHDRAWN = "withdrawn"


def check_digest(text: str) -> str:
    """The digest itself, or InvalidRequest: what a name or a tag stands for can change."""
    if not re.fullmatch(DIGEST, text):
        raise InvalidRequest(
            "digest",
            f"{text[:100]!r} is not a digest; a name or tag can come to stand for another image.",
            "Use the digest, sha256: and 64 hex digits, that `dpgate image list` shows.",
        )
    return text


def _only_a_name(value: Any) -> Any:
    if isinstance(value, str) and re.search(r"[:/@\\]", value):
        kind = _kind_of(value)
        raise PydanticCustomError("image_reference", "{given} is {kind}, not the name of an image", {
            "given": repr(value[:100]), "kind": kind,
        })  # fmt: skip
    return value


def _kind_of(reference: str) -> str:
    if "://" in reference:
        return "an address"
    if reference.startswith("sha256:"):
        return "a digest"
    if reference.startswith(("/", "./", "../", "~")) or reference.endswith((".tar", ".sif")):
        return "a path"
    return "a tag or a place in a registry"


# a pipeline says which image by name; which content that is, the operator's approval fixes by digest
ImageName = Annotated[Slug, BeforeValidator(_only_a_name)]
