"""The root file system of an image: packages unpacked, what a running system would add, and nothing else.

No script of a package runs. What those scripts would do that a pipeline needs is done here: the merged /usr,
the database of packages, users, the links of recipe.py.
"""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sandbox_images.bases.command import CannotBuild
from sandbox_images.bases.debian import Package
from sandbox_images.bases.recipe import APPLETS, MOUNT_POINTS, Recipe
from sandbox_images.bases.trim import trim

MERGED = ("bin", "sbin", "lib", "lib64")
DATABASE = "var/lib/dpkg"
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
USERS = """\
root:x:0:0:root:/:/bin/sh
sandbox:x:1000:1000::/tmp:/bin/sh
nobody:x:65534:65534:nobody:/:/usr/sbin/nologin
"""
GROUPS = "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n"


def lay_out(root: Path, packages: Sequence[Package], recipe: Recipe, architecture: str) -> int:
    """Fill an empty folder.

    Args:
        architecture: Debian's name of it, amd64 or arm64.

    Returns:
        The newest modification time of the packages' files, in seconds since 1970: the age of the image.

    Raises:
        CannotBuild: a package cannot be unpacked, or the architecture has no recipe.
    """
    if architecture not in TRIPLETS:
        raise CannotBuild(f"Base images are for {' and '.join(TRIPLETS)}, not for {architecture}.")
    _merge_usr(root)
    for package in packages:
        _unpack(package, root)
    newest = max(
        int(path.lstat().st_mtime) for path in root.rglob("*") if path.is_file() and not path.is_symlink()
    )
    trim(root, recipe.trimmed)
    _link(root, recipe, TRIPLETS[architecture])
    for name in MOUNT_POINTS:
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "etc/passwd").write_text(USERS)
    (root / "etc/group").write_text(GROUPS)
    return newest


def record(root: Path, packages: Sequence[Package]) -> None:
    """Write dpkg's database, so that dpkg-query and scanners for known faults read the image."""
    info = root / DATABASE / "info"
    info.mkdir(parents=True)
    for package in packages:
        present = [path for path in _listed(package) if (root / path).is_symlink() or (root / path).exists()]
        text = "".join(f"/{path}\n" for path in sorted(present))
        (info / f"{_database_name(package)}.list").write_text(text)
    status = "\n".join(map(_status, packages))
    (root / DATABASE / "status").write_text(status + "\n")


def _merge_usr(root: Path) -> None:
    """/bin, /sbin, /lib and /lib64 are links into /usr, as on every Debian since bookworm."""
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")


def _unpack(package: Package, root: Path) -> None:
    # the folders of the merged /usr are links that must stay links
    options = ["--keep-directory-symlink", "--no-same-owner", "--no-same-permissions"]
    with _content(package) as content:
        argv = ["tar", "-x", *options, "-C", str(root)]
        done = subprocess.run(argv, stdin=content, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotBuild(f"{package.path.name} cannot be unpacked: {done.stderr.strip()}")


def _link(root: Path, recipe: Recipe, triplet: str) -> None:
    wanted = {place.format(triplet=triplet): target for place, target in recipe.links.items()}
    busybox = {f"usr/bin/{name}": "busybox" for name in APPLETS.split()}
    for place, target in (
        wanted | {place: to for place, to in busybox.items() if place not in wanted}
    ).items():
        path = root / place
        if path.exists() and place not in wanted:
            continue  # a package brought the real command
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        if not path.exists():
            raise CannotBuild(
                f"The packages hold no {target} for /{place}: the recipe does not fit this suite."
            )


def _listed(package: Package) -> list[str]:
    """Paths of a package's files as they are below the merged root."""
    found = []
    with _content(package) as content, tarfile.open(fileobj=content, mode="r|") as files:
        for entry in files:
            path = entry.name.removeprefix("./")
            if not entry.isdir():
                found.append(f"usr/{path}" if path.split("/")[0] in MERGED else path)
    return found


@contextmanager
def _content(package: Package) -> Iterator[IO[bytes]]:
    """The package's files as a tar stream."""
    argv = ["dpkg-deb", "--fsys-tarfile", str(package.path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as source:
        assert source.stdout is not None
        yield source.stdout
        while source.stdout.read(65536):
            pass  # dpkg-deb must not die of a closed pipe
    if source.returncode:
        raise CannotBuild(f"{package.path.name} cannot be read: fetch it again.")


def _database_name(package: Package) -> str:
    shared = package.control.get("Multi-Arch") == "same"
    return f"{package.name}:{package.architecture}" if shared else package.name


def _status(package: Package) -> str:
    fields = {"Package": package.name, "Status": "install ok installed", **package.control}
    return "".join(f"{name}: {value}\n" for name, value in fields.items())
