"""The OCI image layout, which Docker 25 and later also write: an index, and everything else by digest."""

from typing import Any

from .archive import Archive, check_content, check_digest_text, expect, parse
from .plan import MACHINES, Plan, check_platform, plan
from .refusal import Refused, shown

INDEX = "index.json"
_MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_DEEPEST_INDEX = 3
_MOST_MANIFESTS = 256
# Attestations (where an image was built) travel as manifests for a machine of this name.
_NO_MACHINE = "unknown"
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")

Descriptor = dict[str, Any]


def read_oci_layout(archive: Archive, machine: str) -> Plan:
    index = expect(parse(archive.read(INDEX), INDEX), dict, INDEX)
    descriptor = _choose(archive, _manifests(archive, index), machine)
    manifest = _load(archive, descriptor, "image's manifest")
    config = expect(manifest.get("config"), dict, "image's manifest")
    layers = expect(manifest.get("layers"), list, "list of layers")
    stored: list[tuple[str, str | None]] = []
    for layer in layers:
        where, digest = _place(expect(layer, dict, "list of layers"))
        _check_size(archive, where, layer)
        stored.append((where, digest))
    return plan(
        archive,
        _read(archive, config, "image's configuration"),
        check_digest_text(config.get("digest")),
        stored,
        name=_name(descriptor),
        machine=machine,
    )


def _manifests(archive: Archive, index: Descriptor) -> dict[str, Descriptor]:
    """Of this index and those in it, by digest: one image with several names counts once."""
    found: dict[str, Descriptor] = {}
    pending = [(index, 0, None)]
    while pending:
        here, depth, name = pending.pop()
        for descriptor in expect(here.get("manifests"), list, "index of images"):
            described = dict(expect(descriptor, dict, "index of images"))
            described["name"] = _name(described) or name
            kind = described.get("mediaType")
            if kind in _INDEXES:
                if depth >= _DEEPEST_INDEX:
                    raise Refused("the archive nests indexes of images too deeply")
                pending.append((_load(archive, described, "index of images"), depth + 1, described["name"]))
            elif kind in _MANIFESTS:
                found.setdefault(check_digest_text(described.get("digest")), described)
            if len(found) + len(pending) > _MOST_MANIFESTS:
                raise Refused(f"the archive holds more than {_MOST_MANIFESTS} images")
    return found


def _choose(archive: Archive, manifests: dict[str, Descriptor], machine: str) -> Descriptor:
    """The only one, whatever it is made for (which is checked later), or the only one for this machine."""
    images = [found for found in manifests.values() if _platform(found)[1] != _NO_MACHINE]
    if len(images) == 1:
        return images[0]
    fitting = [found for found in images if _fits(archive, found, machine)]
    if len(fitting) == 1:
        return fitting[0]
    wanted = MACHINES.get(machine, machine)
    listed = ", ".join(sorted({shown("/".join(_platform(found)).encode()) for found in images})) or "nothing"
    raise Refused(
        f"the archive holds {len(fitting)} images for 'linux/{wanted}' where there must be one "
        f"(all in all: {listed}): save one image into an archive of its own"
    )


def _platform(descriptor: Descriptor) -> tuple[str, str]:
    platform = descriptor.get("platform")
    if not isinstance(platform, dict):
        return ("", "")
    return (str(platform.get("os", "")), str(platform.get("architecture", "")))


def _fits(archive: Archive, descriptor: Descriptor, machine: str) -> bool:
    system, architecture = _platform(descriptor)
    if system or architecture:
        return system == "linux" and architecture == MACHINES.get(machine, machine)
    manifest = _load(archive, descriptor, "image's manifest")
    config = _load(archive, expect(manifest.get("config"), dict, "image's manifest"), "configuration")
    try:
        check_platform(config, machine)
    except Refused:
        return False
    return True


def _load(archive: Archive, descriptor: Descriptor, what: str) -> Descriptor:
    loaded: Descriptor = expect(parse(_read(archive, descriptor, what), what), dict, what)
    return loaded


def _read(archive: Archive, descriptor: Descriptor, what: str) -> bytes:
    where, digest = _place(descriptor)
    _check_size(archive, where, descriptor)
    content = archive.read(where)
    check_content(content, digest, what)
    return content


def _place(descriptor: Descriptor) -> tuple[str, str]:
    digest = check_digest_text(descriptor.get("digest"))
    return f"blobs/sha256/{digest.removeprefix('sha256:')}", digest


def _check_size(archive: Archive, where: str, descriptor: Descriptor) -> None:
    said, found = expect(descriptor.get("size"), int, "size of a part of the image"), archive.size(where)
    if said != found:
        raise Refused(f"{shown(where.encode())} has {found} bytes, and the archive says {said}")


def _name(descriptor: Descriptor) -> str | None:
    notes = descriptor.get("annotations")
    names = [notes.get(key) for key in _NAMES] if isinstance(notes, dict) else []
    own = descriptor.get("name")
    return next((name for name in (*names, own) if isinstance(name, str) and name), None)
