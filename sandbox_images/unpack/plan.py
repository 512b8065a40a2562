"""What both container formats come down to: a configuration, and layers in order with their digests."""

import posixpath
from dataclasses import dataclass

from .archive import Archive, check_digest_text, expect, parse
from .refusal import Refused, shown

# The name of a machine in images, by what the kernel calls it.
MACHINES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "riscv64": "riscv64",
    "ppc64le": "ppc64le",
    "s390x": "s390x",
    "armv7l": "arm",
}


@dataclass(frozen=True)
class Layer:
    """Where it lies in the archive, and what must come out."""

    name: str
    diff_id: str  # digest of the layer unpacked
    digest: str | None  # of the layer as stored, where the format says so


@dataclass(frozen=True)
class Plan:
    """An image that is ready to be unpacked. Nothing of its layers has been read yet."""

    digest: str  # of the configuration: the image's own
    name: str | None
    environment: tuple[str, ...]
    entry_point: tuple[str, ...]
    layers: tuple[Layer, ...]


def plan(
    archive: Archive,
    config: bytes,
    config_digest: str,
    stored: list[tuple[str, str | None]],
    *,
    name: str | None,
    machine: str,
) -> Plan:
    """`stored`: the layers' names in the archive, with their digests where the format has them."""
    description = expect(parse(config, "image's configuration"), dict, "image's configuration")
    check_platform(description, machine)
    rootfs = expect(description.get("rootfs"), dict, "list of layers in the image's configuration")
    if rootfs.get("type") != "layers":
        raise Refused("the image's root file system is not made of layers")
    diff_ids = expect(rootfs.get("diff_ids"), list, "list of layers in the image's configuration")
    if len(diff_ids) != len(stored):
        raise Refused(f"the image has {len(stored)} layers, and its configuration names {len(diff_ids)}")
    if len(stored) > archive.caps.layers:
        raise Refused(f"the image has {len(stored)} layers, more than {archive.caps.layers}")
    return Plan(
        digest=config_digest,
        name=name,
        environment=_listed(description, "Env"),
        entry_point=entry_point_of(description),
        layers=tuple(
            Layer(where, check_digest_text(diff_id), digest)
            for (where, digest), diff_id in zip(stored, diff_ids, strict=True)
        ),
    )


def check_platform(description: dict[str, object], machine: str) -> None:
    """`machine` in the kernel's words."""
    system, architecture = description.get("os"), description.get("architecture")
    wanted = MACHINES.get(machine, machine)
    if system != "linux" or architecture != wanted:
        found = shown(f"{system}/{architecture}".encode(errors="replace"))
        raise Refused(f"the image is made for {found}, and this machine is 'linux/{wanted}'")


def _settings(description: dict[str, object]) -> dict[str, object]:
    settings = description.get("config")
    if settings is None:
        return {}
    found: dict[str, object] = expect(settings, dict, "settings in the image's configuration")
    return found


def _listed(description: dict[str, object], name: str) -> tuple[str, ...]:
    listed = _settings(description).get(name)
    if listed is None:
        return ()
    return tuple(expect(item, str, f"image's {name}") for item in expect(listed, list, f"image's {name}"))


def entry_point_of(description: dict[str, object]) -> tuple[str, ...]:
    """With its program where the image's working folder has it, if it is named from there."""
    found, folder = _listed(description, "Entrypoint"), _settings(description).get("WorkingDir")
    if not found or "/" not in found[0] or found[0].startswith("/"):
        return found
    return (posixpath.normpath(posixpath.join("/", str(folder or ""), found[0])), *found[1:])
