"""What is inside a base image: exactly what its bill of materials says, and all that it needs."""

from __future__ import annotations

import csv
import json
import os
import re
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from base_images import BUILDER, NAMES, base_sbom

from sandbox_images.bases.recipe import APPLETS, MOUNT_POINTS

TreeOf = Callable[[str], Path]
SITE = "usr/local/lib/python3.11/dist-packages"
# made by the builder, of no package
OWN = re.compile(
    r"bin|sbin|lib|lib64|etc/(passwd|group)|usr/share/dpgate/sbom\.json|var/lib/dpkg/.*|usr/bin/awk|.*/__pycache__/.*"
    r"|etc/R/Renviron|usr/lib/[^/]*/lib(blas|lapack)\.so\.3"
)
each_image = pytest.mark.parametrize("name", NAMES)


def components(name: str, kind: str) -> list[dict[str, str]]:
    document = json.loads(base_sbom(name).read_bytes())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    return [part for part in document["components"] if part["purl"].startswith(f"pkg:{kind}/")]


def files_of(tree: Path) -> Iterator[str]:
    for path in tree.rglob("*"):
        if path.is_symlink() or not path.is_dir():
            yield path.relative_to(tree).as_posix()


def programs_of(tree: Path) -> Iterator[Path]:
    """Everything that the loader would be asked for."""
    for name in files_of(tree):
        path = tree / name
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


@each_image
def test_bill_is_what_dpkg_reads_in_the_image(name: str, tree_of: TreeOf) -> None:
    query = ["dpkg-query", f"--admindir={tree_of(name)}/var/lib/dpkg", "-W"]
    form = "-f=${Package} ${Version} ${Architecture} ${db:Status-Status}\n"
    listed = subprocess.run([*query, form], capture_output=True, text=True, check=True).stdout.splitlines()
    billed = {
        f"{part['name']} {part['version']} {part['properties'][0]['value']} installed"  # type: ignore[index]
        for part in components(name, "deb")
    }
    assert set(listed) == billed
    assert len(listed) == len(billed) > 5


@each_image
def test_every_file_comes_from_a_part_of_the_bill(name: str, tree_of: TreeOf) -> None:
    tree = tree_of(name)
    known = {f"usr/bin/{applet}" for applet in APPLETS.split()}
    lists = {
        path.name.removesuffix(".list").split(":")[0]: path for path in tree.glob("var/lib/dpkg/info/*.list")
    }
    assert set(lists) == {part["name"] for part in components(name, "deb")}
    for path in lists.values():
        known |= {line.removeprefix("/") for line in path.read_text().splitlines()}
    for record in tree.glob(f"{SITE}/*.dist-info/RECORD"):
        with record.open(newline="") as rows:
            known |= {os.path.normpath(f"{SITE}/{row[0]}") for row in csv.reader(rows)}
    strangers = [found for found in files_of(tree) if found not in known and not OWN.fullmatch(found)]
    assert not strangers


def test_wheels_are_those_of_the_lock(tree_of: TreeOf) -> None:
    lock = (BUILDER / "python.lock").read_text()
    pinned = dict(re.findall(r"^(\S+)==(\S+)", lock, flags=re.MULTILINE))
    billed = {part["name"]: part for part in components("python", "pypi")}
    installed = {path.name for path in (tree_of("python") / SITE).glob("*.dist-info")}
    assert {name: part["version"] for name, part in billed.items()} == pinned
    assert installed == {f"{name.replace('-', '_')}-{version}.dist-info" for name, version in pinned.items()}
    for part in billed.values():
        assert f"sha256:{part['hashes'][0]['content']}" in lock  # type: ignore[index]
        assert part["licenses"]
    assert "://" not in lock


@each_image
def test_the_bill_lies_inside_too(name: str, tree_of: TreeOf) -> None:
    assert (tree_of(name) / "usr/share/dpgate/sbom.json").read_bytes() == base_sbom(name).read_bytes()


@each_image
def test_no_library_is_missing(name: str, tree_of: TreeOf) -> None:
    """Left out packages took with them only what nobody left needs. Asked of the image's own loader."""
    tree = tree_of(name)
    folders = [*(tree / "usr/lib").glob("*-linux-gnu"), tree / "usr/lib"]
    # R's starter, and the run paths of Octave and of the wheels, name folders that are not the system's
    folders += [
        tree / "usr/lib/R/lib",
        *(tree / "usr/lib").glob("*/octave/7*"),
        *(tree / SITE).glob("*.libs"),
    ]
    (loader,) = (tree / "usr").glob("lib*/ld-linux-*.so.*")
    listing = [str(loader), "--inhibit-cache", "--library-path", ":".join(map(str, folders)), "--list"]
    programs = list(programs_of(tree))
    assert len(programs) > 5
    missing = {}
    for program in programs:
        answer = subprocess.run([*listing, str(program)], capture_output=True, text=True, check=False)
        lost = [line.strip() for line in (answer.stdout + answer.stderr).splitlines() if "not found" in line]
        if lost or "cannot open" in answer.stderr:
            missing[program.relative_to(tree).as_posix()] = lost or answer.stderr
    assert not missing


@each_image
def test_nothing_inside_administers_or_gains_rights(name: str, tree_of: TreeOf) -> None:
    tree = tree_of(name)
    present = set(files_of(tree))
    unwanted = ("apt", "apt-get", "dpkg", "perl", "pip", "pip3", "su", "mount", "curl", "wget", "sudo")
    assert not [found for found in present if found in {f"usr/bin/{tool}" for tool in unwanted}]
    assert not [found for found in present if "/pip/" in found or found.startswith("usr/share/man/")]
    for path in tree.rglob("*"):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            assert mode & (stat.S_ISUID | stat.S_ISGID) == 0, path
            assert mode & stat.S_IROTH, path
        else:
            assert stat.S_ISLNK(mode), path


@each_image
def test_runs_can_mount_over_it(name: str, tree_of: TreeOf) -> None:
    assert [place for place in MOUNT_POINTS if not (tree_of(name) / place).is_dir()] == []


@each_image
def test_every_small_command_answers(name: str, tree_of: TreeOf) -> None:
    busybox = tree_of(name) / "usr/bin/busybox"
    listed = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    linked = [
        path.name
        for path in busybox.parent.iterdir()
        if path.is_symlink() and path.readlink().name == "busybox"
    ]
    assert len(linked) > 80
    assert set(linked) <= set(listed)


@pytest.mark.parametrize(
    ("name", "most_mib"), [("minimal", 12), ("python", 520), ("r", 170), ("octave", 200)]
)
def test_images_stay_small(name: str, most_mib: int, tree_of: TreeOf) -> None:
    tree = tree_of(name)
    assert sum((tree / found).lstat().st_size for found in files_of(tree)) < most_mib * 1024 * 1024
