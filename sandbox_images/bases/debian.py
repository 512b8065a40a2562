"""Debian packages by name: chosen, fetched and verified by a private apt that shares nothing with the host's.

The host's own sources say which mirror to ask; signatures are checked against Debian's keyring. No package
is installed and no script of a package is run, so none of this needs root, and nothing of the host changes.
That is why not debootstrap: it needs root and mounts, takes one suite only, so without its security updates,
and does not resolve what R's packages provide to each other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

from sandbox_images.bases.command import CannotBuild, run
from sandbox_images.bases.recipe import SUITE

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SUITES = (SUITE, f"{SUITE}-updates", f"{SUITE}-security")
COMPONENT = "main"
_OFFLINE = (
    "The Debian mirror of this host's apt sources cannot be read: check the network and `apt-get update`."
)


@dataclass(frozen=True)
class Package:
    """One downloaded .deb file."""

    path: Path
    control: Mapping[str, str]  # its fields, Description and all
    sha256: str

    @property
    def name(self) -> str:
        return self.control["Package"]

    @property
    def version(self) -> str:
        return self.control["Version"]

    @property
    def architecture(self) -> str:
        return self.control["Architecture"]


class PrivateApt:
    """An apt with its own state, cache and configuration below one folder."""

    def __init__(self, folder: Path, without: Sequence[str] = ()) -> None:
        """Prepare the folder; nothing is fetched.

        Args:
            without: packages that count as installed.

        Raises:
            CannotBuild: this host knows no mirror of the suite, or lacks Debian's keyring.
        """
        self._folder = folder
        self.architecture = run(["dpkg", "--print-architecture"], "dpkg does not work on this host.").strip()
        for part in ("state/lists/partial", "cache/archives/partial", "parts", "debs"):
            (folder / part).mkdir(parents=True)
        (folder / "sources.list").write_text(self._sources())
        (folder / "state/status").write_text("".join(map(self._installed, without)))
        (folder / "apt.conf").write_text(self._configuration())

    def fetch(self, names: Sequence[str]) -> list[Package]:
        """These packages and all that they depend on, sorted by name.

        Raises:
            CannotBuild: the mirror cannot be read, does not have a package, or a signature or hash is wrong.
        """
        self._apt(["update", "--error-on=any"], _OFFLINE)
        chosen = self._resolve(names)
        files = self._download(chosen)
        return sorted(map(_read, files), key=lambda package: package.name)

    def _resolve(self, names: Sequence[str]) -> list[str]:
        """`name=version` of everything to fetch."""
        plan = self._apt(
            ["install", "--simulate", *names], f"{SUITE} does not have all of {', '.join(names)}."
        )
        found = re.findall(r"^Inst (\S+) \((\S+) ", plan, flags=re.MULTILINE)
        return sorted(f"{name}={version}" for name, version in found)

    def _download(self, chosen: Sequence[str]) -> list[Path]:
        debs = self._folder / "debs"
        self._apt(["download", *chosen], _OFFLINE, into=debs)
        files = sorted(debs.glob("*.deb"))
        if len(files) != len(chosen):
            raise CannotBuild(f"apt-get fetched {len(files)} of {len(chosen)} packages: try again.")
        return files

    def _apt(self, argv: Sequence[str], failure: str, into: Path | None = None) -> str:
        # `env -C`: apt-get downloads into its working folder
        command: list[str | Path] = ["env", "-C", into or self._folder, "apt-get", "-qq", "--yes", *argv]
        return run(
            command, failure, {"APT_CONFIG": str(self._folder / "apt.conf"), "TMPDIR": str(self._folder)}
        )

    def _sources(self) -> str:
        if not KEYRING.exists():
            raise CannotBuild(f"This host lacks {KEYRING.name} (package debian-archive-keyring).")
        wanted = ["$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
        listed = run(
            ["apt-get", "indextargets", "--no-release-info", "--format", *wanted],
            "apt-get cannot list this host's sources.",
        )
        found = {tuple(line.split(" ")) for line in listed.splitlines() if line.count(" ") == 2}
        lines = [
            f"deb [arch={self.architecture} signed-by={KEYRING}] {address} {suite} {component}\n"
            for address, suite, component in sorted(found)
            if suite in SUITES and component == COMPONENT
        ]
        if not any(f" {SUITE} {COMPONENT}" in line for line in lines):
            raise CannotBuild(
                f"This host's apt sources name no mirror of Debian {SUITE}: add one, or build on one."
            )
        return "".join(lines)

    def _installed(self, name: str) -> str:
        # a version above all others satisfies every dependency
        return (
            f"Package: {name}\nStatus: install ok installed\nArchitecture: {self.architecture}\n"
            "Multi-Arch: foreign\nMaintainer: none\nVersion: 9999:0\nDescription: left out\n\n"
        )

    def _configuration(self) -> str:
        folder = self._folder
        own = {
            "Dir::State": folder / "state",
            "Dir::State::status": folder / "state/status",
            "Dir::Cache": folder / "cache",
            "Dir::Etc": folder,
            "Dir::Etc::main": "none",
            "Dir::Etc::parts": folder / "parts",
            "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": folder / "parts",
            "Dir::Etc::preferencesparts": folder / "parts",
            "Dir::Etc::trustedparts": folder / "parts",
            "Dir::Log": folder,
            "APT::Architecture": self.architecture,
            "APT::Architectures": self.architecture,
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "root",  # `_apt` could not read a private folder
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
        }
        # a proxy or certificate that the host's apt needs, and nothing else of its configuration
        host = run(["apt-config", "dump", "Acquire"], "apt-config does not work on this host.")
        kept = [line for line in host.splitlines() if re.match(r"Acquire::https?::", line)]
        return "\n".join(kept + [f'{key} "{value}";' for key, value in own.items()]) + "\n"


def _read(path: Path) -> Package:
    fields = Parser().parsestr(run(["dpkg-deb", "--field", path], f"{path.name} is not a Debian package."))
    return Package(path, dict(fields.items()), hashlib.sha256(path.read_bytes()).hexdigest())
