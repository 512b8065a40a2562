"""Have an archive unpacked by sandbox_images/unpack, in a sandbox, and check what that says about it."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from sandbox_images.unpack.caps import Caps
from sandbox_images.unpack.entry import SIF, TAR
from sandbox_images.unpack.sif import MAGIC, MAGIC_AT
from worker.sandbox.core.compiled import with_compiled
from worker.sandbox.core.images import HostImage

from .confinement import run_confined
from .program import GIB, Confined, Folder
from .refusal import ImageRefused

_CODE = "/run/dpgate"
_START = f"import sys; sys.path.insert(0, {_CODE!r}); from sandbox_images.unpack.entry import main; main()"
_LONGEST_SENTENCE = 1000
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_TAR_MAGIC_AT, _TAR_MAGIC = 257, b"ustar"
HEAD_BYTES = 512  # enough to tell what a file is


@dataclass(frozen=True)
class Unpacked:
    """What the unpacker says. It was fed by a stranger, so this is no more than well-formed."""

    digest: str | None  # of the image's configuration, if the format has one
    name: str | None
    environment: tuple[str, ...]
    entry_point: tuple[str, ...] = ()


def tell_kind(head: bytes) -> str:
    """From a file's first bytes. Raises ImageRefused for what no reader is there for."""
    if head[MAGIC_AT : MAGIC_AT + len(MAGIC)] == MAGIC:
        return SIF
    compressed = head.startswith((_GZIP, _ZSTD))
    if compressed or head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + len(_TAR_MAGIC)] == _TAR_MAGIC:
        return TAR
    raise ImageRefused(
        "the file is no image archive: expected what `docker save` or an OCI tool writes, or a SIF"
    )


def unpack(archive: Path, folder: Path, kind: str, *, host: HostImage, caps: Caps, wall_s: float) -> Unpacked:
    """Into `folder`/rootfs. The folder belongs to the import's user; both paths must be open to it."""
    quota = 2 * caps.total_bytes + GIB // 16  # a compressed archive lies beside its tree for a while
    ended = run_confined(
        Confined(
            command=(
                *(str(host.interpreter), "-I", "-S", "-B", "-c", _START),
                *("/archive", "/room", kind, caps.as_text()),
            ),
            mounts=(*_host_mounts(host), "--ro-bind", str(archive), "/archive"),
            python=host.interpreter,
            files=_sources(),
            folder=Folder(folder, quota),
            wall_s=wall_s,
            file_bytes=caps.total_bytes,
        )
    )
    return _parse(ended.answer, f"it ended with code {ended.code}: {ended.complaint[-500:] or 'no message'}")


def _host_mounts(host: HostImage) -> list[str]:
    flags = []
    for path in host.binds:
        flags += ["--ro-bind", str(path), str(path)]
    for target, link in host.links:
        flags += ["--symlink", target, str(link)]
    return flags


@cache
def _sources() -> dict[str, bytes]:
    package = resources.files("sandbox_images")
    found = {f"{_CODE}/sandbox_images/__init__.py": b""}
    for file in (package / "unpack").iterdir():
        if file.name.endswith(".py"):
            found[f"{_CODE}/sandbox_images/unpack/{file.name}"] = file.read_bytes()
    return with_compiled(found)


def _parse(answer: bytes, otherwise: str) -> Unpacked:
    try:
        said = json.loads(answer)
        if not isinstance(said, dict):
            raise ValueError
    except (ValueError, RecursionError) as error:
        raise ImageRefused(f"the image could not be unpacked: {otherwise}") from error
    refused = said.get("refused")
    if isinstance(refused, str):
        raise ImageRefused(refused[:_LONGEST_SENTENCE])
    digest, name, environment = said.get("digest"), said.get("name"), said.get("environment")
    entry_point = said.get("entry_point", [])
    lists = all(
        isinstance(found, list) and all(isinstance(item, str) for item in found)
        for found in (environment, entry_point)
    )
    if not isinstance(digest, str | None) or not isinstance(name, str | None) or not lists:
        raise ImageRefused("the image could not be unpacked: its unpacker gave no usable answer")
    return Unpacked(digest, name, tuple(environment or ()), tuple(entry_point))
