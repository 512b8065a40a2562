"""Building one base image: fetch, unpack, compile, list, pack. Needs no root, leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sandbox_images.bases.archive import Appearance, write_archive
from sandbox_images.bases.bom import PLACE, bill_of_materials
from sandbox_images.bases.command import CannotBuild, require
from sandbox_images.bases.debian import PrivateApt
from sandbox_images.bases.recipe import RECIPES
from sandbox_images.bases.tree import lay_out, record
from sandbox_images.bases.wheels import Wheel, compile_all, install
from sandbox_images.bases.workplace import workplace

TOOLS = {
    "apt-get": "apt",
    "apt-config": "apt",
    "dpkg": "dpkg",
    "dpkg-deb": "dpkg",
    "tar": "tar",
    "env": "coreutils",
}


@dataclass(frozen=True)
class Built:
    """A finished image."""

    archive: Path
    sbom: Path
    digest: str  # sha256:... of the configuration: the image's id everywhere


def build(name: str, out: Path) -> Built:
    """Build one image of recipe.py.

    The time of every file is SOURCE_DATE_EPOCH, else that of the newest file of its packages. The archive
    and the bill of materials (`<out without .tar>.sbom.json`) appear complete or not at all.

    Raises:
        CannotBuild: no such recipe, or this host cannot; the text says what is missing.
    """
    if name not in RECIPES:
        raise CannotBuild(f"There is no base image {name}: choose {', '.join(RECIPES)}.")
    if not out.parent.is_dir():
        raise CannotBuild(f"The folder {out.parent} does not exist.")
    require(TOOLS)
    try:
        with workplace(RECIPES[name].room_mb) as scratch:
            return _build(name, out, scratch)
    except OSError as problem:
        raise CannotBuild(f"The image cannot be written: {problem}.") from problem


def _build(name: str, out: Path, scratch: Path) -> Built:
    recipe, given = RECIPES[name], _given_time()
    apt = PrivateApt(scratch / "apt", recipe.without)
    packages = apt.fetch(recipe.packages)

    root = scratch / "root"
    root.mkdir()
    newest = lay_out(root, packages, recipe, apt.architecture)
    wheels: list[Wheel] = []
    if recipe.python_lock:
        lock = Path(__file__).with_name(recipe.python_lock)
        wheels = install(root, lock, apt.architecture, scratch)
        compile_all(root, apt.architecture, scratch)
    record(root, packages)

    seconds = newest if given is None else given
    when = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    bom = bill_of_materials(name, root, packages, wheels, when)
    (root / PLACE).parent.mkdir(parents=True)
    (root / PLACE).write_bytes(bom)

    appearance = Appearance(name, recipe.title, apt.architecture, recipe.entry, when)
    sbom = out.with_name(f"{out.name.removesuffix('.tar')}.sbom.json")
    with _unfinished(out) as archive_place, _unfinished(sbom) as sbom_place:
        digest = write_archive(root, archive_place, appearance, seconds, scratch)
        sbom_place.write_bytes(bom)
    return Built(out, sbom, digest)


def _given_time() -> int | None:
    """SOURCE_DATE_EPOCH, in seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is not None and not (given.isdecimal() and int(given) < 1 << 33):
        raise CannotBuild(f"SOURCE_DATE_EPOCH is {given!r}: it must be seconds since 1970.")
    return None if given is None else int(given)


@contextmanager
def _unfinished(place: Path) -> Iterator[Path]:
    """Another name to write to, which becomes `place` when all is well, and otherwise goes.

    It is always the same one: what a killed build has left, the next one overwrites.
    """
    other = place.with_name(f".{place.name}.unfinished")
    try:
        yield other
        other.replace(place)
    finally:
        other.unlink(missing_ok=True)
