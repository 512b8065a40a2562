"""A Docker daemon of the tests' own: containerd and dockerd below one temporary folder, ended with it.

It shares nothing with a daemon that the host may run: own sockets, images, volumes and processes. It makes
no bridge and no firewall rule, so no container of it ever has a network. Needs root and the two programs.

    with daemon() as socket: docker.APIClient(base_url=f"unix://{socket}")
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from waiting import PATIENCE_S, wait_until

_END_S = 40
# Images of many hundred MB are unpacked and layered here: in memory that takes half the time
_MEMORY, _ROOM = Path("/dev/shm"), 4 << 30
_CONTAINERD = """version = 2
root = "{folder}/containerd"
state = "{folder}/containerd-state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
address = "{folder}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
path = "{folder}/opt"
"""


class DockerDaemon:
    """Start it, stop it, kill it, start it again: images and volumes live as long as its folder."""

    def __init__(self, folder: Path, options: Sequence[str] = ()) -> None:
        self.folder, self._options = folder, tuple(options)
        self.socket = folder / "docker.sock"
        self._containerd: subprocess.Popen[bytes] | None = None
        self._dockerd: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if self._containerd is None:
            configuration = self.folder / "containerd.toml"
            configuration.write_text(_CONTAINERD.format(folder=self.folder))
            (self.folder / "daemon.json").write_text("{}")  # not the host's
            self._containerd = self._spawn("containerd", "--config", str(configuration))
            self._wait_for(lambda: (self.folder / "containerd.sock").exists(), self._containerd)
        (self.folder / "docker.pid").unlink(missing_ok=True)  # a killed daemon's number may be somebody's now
        self._dockerd = self._spawn(
            "dockerd",
            *("--host", f"unix://{self.socket}", "--containerd", f"{self.folder}/containerd.sock"),
            *("--data-root", f"{self.folder}/data", "--exec-root", f"{self.folder}/exec"),
            *("--pidfile", f"{self.folder}/docker.pid", "--config-file", f"{self.folder}/daemon.json"),
            *("--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false"),
            *self._options,
        )
        self._wait_for(self.answers, self._dockerd)

    def stop(self) -> None:
        """As a service manager does: containers are stopped, mounts undone."""
        self._dockerd = _end(self._dockerd, signal.SIGTERM)

    def kill(self) -> None:
        """As a crash does: containers live on under containerd."""
        self._dockerd = _end(self._dockerd, signal.SIGKILL)

    def close(self) -> None:
        self._end_containers()
        self.stop()
        self._containerd = _end(self._containerd, signal.SIGTERM)
        self._kill_strays()
        for path in sorted(self.mounts(), key=len, reverse=True):
            subprocess.run(["umount", "--lazy", path], check=False, capture_output=True)

    def load(self, archive: Path) -> str:
        """`docker load`; the image's digest, as `docker create` takes it."""
        said = self.docker("load", "--quiet", "--input", str(archive))
        return self.digest(said.split(": ", 1)[1].strip())

    def import_tree(self, tree: Path, *changes: str) -> str:
        """`docker import` of a root file system with Dockerfile instructions; the image's digest."""
        options = [part for change in changes for part in ("--change", change)]
        packed = subprocess.Popen(["tar", "--create", "--directory", str(tree), "."], stdout=subprocess.PIPE)
        try:
            return self.docker("import", *options, "-", stdin=packed.stdout).strip()
        finally:
            packed.stdout.close()
            packed.wait()

    def import_bytes(self, archive: bytes, *changes: str) -> str:
        """`docker import` of a tar archive in memory."""
        options = [part for change in changes for part in ("--change", change)]
        with tempfile.TemporaryFile() as packed:
            packed.write(archive)
            packed.seek(0)
            return self.docker("import", *options, "-", stdin=packed).strip()

    def digest(self, name: str) -> str:
        return self.docker("image", "inspect", "--format", "{{.Id}}", name).strip()

    def containers(self, *, running: bool = False) -> list[str]:
        """Their ids: of all, or of those that run."""
        return [each["Id"] for each in self._ask("GET", f"/containers/json?all={int(not running)}")]

    def volumes(self) -> list[str]:
        """Their names."""
        return [each["Name"] for each in self._ask("GET", "/volumes")["Volumes"] or ()]

    def clear(self, *, kept: Sequence[str] = ()) -> None:
        """Remove all containers, whatever runs in them, and all volumes, but not the kept ones' own."""
        for container in set(self.containers()) - set(kept):
            self._ask("DELETE", f"/containers/{container}?force=1&v=1")
        found = [self._ask("GET", f"/containers/{container}/json")["Mounts"] for container in kept]
        theirs = {mount.get("Name") for mounts in found for mount in mounts}
        for volume in set(self.volumes()) - theirs:
            self._ask("DELETE", f"/volumes/{volume}")

    def docker(
        self, *arguments: str, stdin=subprocess.DEVNULL, environment: Mapping[str, str] | None = None
    ) -> str:
        """The plain command-line client, for arranging and for looking on."""
        done = subprocess.run(
            ["docker", "--host", f"unix://{self.socket}", *arguments],
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **(environment or {})},
        )
        if done.returncode:
            raise RuntimeError(f"docker {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def _ask(self, method: str, target: str) -> Any:
        """Without the command-line client, whose start costs more than most answers."""
        connection = UnixConnection(self.socket)
        try:
            connection.request(method, f"/v1.41{target}")
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status >= http.client.BAD_REQUEST:
            raise RuntimeError(
                f"docker {method} {target}: {answer.status} {content.decode(errors='replace')}"
            )
        return json.loads(content) if content else None

    def log(self) -> str:
        return (self.folder / "dockerd.log").read_text(errors="replace")

    def _spawn(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        with open(self.folder / f"{program}.log", "ab") as log:
            return subprocess.Popen(
                [program, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/"
            )

    def answers(self) -> bool:
        connection = UnixConnection(self.socket)
        try:
            connection.request("GET", "/_ping")
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()

    def _wait_for(self, ready, process: subprocess.Popen[bytes]) -> None:
        program = str(process.args[0])
        wait_until(
            ready,
            unless=lambda: process.poll() is not None and self._last_words(program),
            said=f"the start of {program}",
        )

    def _last_words(self, program: str) -> str:
        return (self.folder / f"{program}.log").read_text(errors="replace")[-2000:]

    def _end_containers(self) -> None:
        with suppress(RuntimeError):  # no daemon: nothing to ask
            alive = self.docker("ps", "--quiet", "--no-trunc").split()
            if alive:
                self.docker("rm", "--force", *alive)

    def _kill_strays(self) -> None:
        """What a killed daemon has left running: its containers, by their control group, and their shims."""
        containers = self.folder / "data/containers"
        ours = (str(self.folder), *(path.name for path in containers.glob("*")))
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                words = Path(f"/proc/{name}/cgroup").read_text() + Path(f"/proc/{name}/cmdline").read_text()
                contained = "containerd-shim" in words or "/docker/" in words
                if contained and any(each in words for each in ours):
                    os.kill(int(name), signal.SIGKILL)

    def mounts(self) -> list[str]:
        lines = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
        return [path for line in lines if (path := line.split()[4]).startswith(f"{self.folder}/")]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=PATIENCE_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect(str(self._path))
        except OSError:
            self.sock.close()
            raise


def _end(process: subprocess.Popen[bytes] | None, number: signal.Signals) -> None:
    if process is None:
        return
    process.send_signal(number)
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def running_daemon(*options: str) -> Iterator[DockerDaemon]:
    """The daemon with its controls. `options` are further flags of dockerd."""
    if os.getuid() != 0:
        raise RuntimeError("these tests start a Docker daemon and so need root: run them as CI does, as root")
    missing = [name for name in ("dockerd", "containerd", "runc", "docker") if shutil.which(name) is None]
    if missing:
        raise RuntimeError(f"install {', '.join(missing)} (the package docker.io), then run the tests again")
    roomy = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM
    folder = Path(tempfile.mkdtemp(prefix="dpg-docker-", dir=_MEMORY if roomy else "/tmp"))
    ours = DockerDaemon(folder, options)
    try:
        ours.start()
        yield ours
    finally:
        ours.close()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def daemon(*options: str) -> Iterator[Path]:
    """The daemon's socket."""
    with running_daemon(*options) as ours:
        yield ours.socket
