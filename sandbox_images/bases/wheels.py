"""Python wheels by hash, unpacked into the image's site folder, compiled by the image's own interpreter."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path

from sandbox_images.bases.command import Argv, CannotBuild, run, run_all
from sandbox_images.bases.trim import trim_wheels

PYTHON = "3.11"
SITE = f"usr/local/lib/python{PYTHON}/dist-packages"
LIBRARY = f"usr/lib/python{PYTHON}"
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
GLIBC = (36, 35, 34, 31, 28, 27, 26, 24, 17)  # minor versions that the suite's C library can serve
COMPILERS = 2


@dataclass(frozen=True)
class Wheel:
    """One wheel as it was fetched."""

    name: str
    version: str
    sha256: str
    licence: str | None  # as the wheel states it


def install(root: Path, lock: Path, architecture: str, scratch: Path) -> list[Wheel]:
    """Put the wheels of a lock file into the image, sorted by name. No pip comes with them.

    Raises:
        CannotBuild: pip is missing here, the index cannot be reached, or a hash is wrong.
    """
    pip = (sys.executable, "-m", "pip")
    run([*pip, "--version"], f"{sys.executable} has no pip: build from a Python that has it.")
    site, report = root / SITE, scratch / "report.json"
    machine = MACHINES[architecture]
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in GLIBC] + [f"manylinux2014_{machine}"]
    target = [part for name in platforms for part in ("--platform", name)]
    interpreter = ["--python-version", PYTHON, "--implementation", "cp", "--abi", "cp311", "--abi", "abi3"]
    run(
        [
            *(*pip, "install", "--quiet", "--require-hashes", "--no-deps", "--no-compile", "--no-cache-dir"),
            *("--only-binary", ":all:", "--report", report, "--target", site),
            *target,
            *interpreter,
            *("--requirement", lock),
        ],
        f"pip cannot fetch the wheels of {lock.name}: check the network and pip's index.",
        {"TMPDIR": str(scratch)},
    )
    wheels = _reported(report, site)
    trim_wheels(site)
    return wheels


def compile_all(root: Path, architecture: str, scratch: Path) -> None:
    """Bytecode for every module, valid whatever the files' times: no run can write into its image.

    The image's interpreter is started through the image's own loader: no chroot, so no root. Each process
    compiles a fixed share of the files in a fixed order: bytecode depends on what a process compiled before.
    """
    files = [path for folder in (LIBRARY, "usr/lib/python3", SITE) for path in (root / folder).rglob("*.py")]
    if not files:
        raise CannotBuild(f"The packages hold no Python {PYTHON}: the recipe does not fit this suite.")
    lists = []
    for share in range(COMPILERS):
        part = scratch / f"compile-{share}"
        part.write_text("".join(f"{path}\n" for path in sorted(files)[share::COMPILERS]))
        lists.append(part)
    _compile(root, architecture, lists)


def _compile(root: Path, architecture: str, lists: Sequence[Path]) -> None:
    libraries = root / f"usr/lib/{MACHINES[architecture]}-linux-gnu"
    (loader,) = (root / "usr").glob("lib*/ld-linux-*.so.*")
    python: list[str | Path] = [loader, "--library-path", libraries, root / f"usr/bin/python{PYTHON}"]
    compiler: list[str | Path] = [
        *python,
        "-S",
        "-m",
        "compileall",
        "-q",
        "--invalidation-mode",
        "unchecked-hash",
    ]
    place: list[str | Path] = [
        "-s",
        root,
        "-p",
        "/",
    ]  # the files' names in tracebacks are those inside the image
    environment = {"PYTHONHOME": str(root / "usr"), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    shares: list[Argv] = [[*compiler, *place, "-i", part] for part in lists]
    run_all(shares, "The image's Python cannot compile its modules.", environment)


def _reported(report: Path, site: Path) -> list[Wheel]:
    licences = {}
    for metadata in site.glob("*.dist-info/METADATA"):
        described = Parser().parsestr(metadata.read_text(encoding="utf-8"))
        licences[described["Name"], described["Version"]] = _licence(described)
    found = []
    for entry in json.loads(report.read_text())["install"]:
        name, version = entry["metadata"]["name"], entry["metadata"]["version"]
        sha256 = entry["download_info"]["archive_info"]["hashes"]["sha256"]
        found.append(Wheel(_normalized(name), version, sha256, licences.get((name, version))))
    return sorted(found, key=lambda wheel: wheel.name)


def _normalized(name: str) -> str:
    """As the lock and package URLs write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _licence(described: Message) -> str | None:
    """The expression, else the classifier, else the free text where that is not the whole licence."""
    if expression := described["License-Expression"]:
        return str(expression)
    kinds = [
        line.split(" :: ")[-1] for line in described.get_all("Classifier", []) if line.startswith("License")
    ]
    text = str(described["License"] or "")
    return " and ".join(kinds) or (text if "\n" not in text else "") or None
