"""Where an embedded platform keeps its things: one folder that it owns, with one part per trust zone."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dpgate.credentials import LOGINS
from dpgate.errors import DpgateError

# a unix socket's path must fit into sun_path (108 bytes on Linux)
LONGEST_SOCKET_PATH = 100
# after a kill, this is how long the rest of the former platform may take to end
LONGEST_END_S = 20.0
# and this is how long the killed process itself may take: the kernel takes its memory away first
_LONGEST_DEATH_S = 2.0
_PASSABLE = 0o711
_SQLITE = "sqlite:///"
_HOME_OF_ROOT = Path("/var/lib/dpgate")


@dataclass(frozen=True)
class Home:
    """All paths of an embedded platform."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "database" / "dpgate.sqlite"

    @property
    def database_url(self) -> str:
        """The one that `dpgate up` was last given; without any, SQLite in this folder."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return self._address.read_text(encoding="utf-8", errors="replace").strip()
        return _SQLITE + str(self.database)

    @property
    def has_database(self) -> bool:
        return self._address.exists() or self.database.exists()

    @property
    def is_ours(self) -> bool:
        """Files that another user leaves beside a SQLite database would lock its owner out."""
        place = self.database if self.database.exists() else self.database.parent
        return place.stat().st_uid == os.geteuid()

    def keep_database_url(self, url: str) -> None:
        """For the next start and for commands; it may hold a password. The last word counts."""
        if url.startswith(_SQLITE):  # wherever the next start is typed
            url = _SQLITE + str(Path(url.removeprefix(_SQLITE)).absolute())
        if url == _SQLITE + str(self.database):
            self._address.unlink(missing_ok=True)  # it goes with the folder, should that be moved
            return
        self.database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = self._address.with_suffix(".new")
        new.unlink(missing_ok=True)  # of one that died here
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(url)
        new.replace(self._address)

    @property
    def worker_zone(self) -> Path:
        """Keys, snapshots, deliveries. The gateway is never told this path."""
        return self.root / "worker"

    @property
    def deliveries(self) -> Path:
        return self.worker_zone / "deliveries"

    @property
    def images(self) -> Path:
        """Imported images, unpacked."""
        return self.root / "images"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def run(self) -> Path:
        """Lock and sockets."""
        return self.root / "run"

    @property
    def operator_token(self) -> Path:
        return self.root / "operator.token"

    @property
    def facts(self) -> Path:
        """What `dpgate up` says about itself once everything is up."""
        return self.run / "up.json"

    def make(self) -> None:
        """Create the folders, for their owner alone. Raises DpgateError for a folder that is not ours."""
        private = (self.database.parent, self.worker_zone, self.deliveries, self.logs, self.run)
        folders = (self.root, *private, self.images)
        if self.root.exists():
            self._check_ours({folder.name for folder in folders} | {self.operator_token.name, LOGINS})
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # a worker that is root runs slots as users of their own: they must get to the images
            passable = os.geteuid() == 0 and folder in (self.root, self.images)
            folder.chmod(_PASSABLE if passable else 0o700)

    def claim(self) -> int:
        """The lock that one platform holds on its home, as an open descriptor. Raises DpgateError."""
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
        began = time.monotonic()
        while not _try_lock(descriptor):
            waited = time.monotonic() - began
            if waited > LONGEST_END_S or (waited > _LONGEST_DEATH_S and self.owner() is not None):
                os.close(descriptor)
                raise DpgateError(f"a dpgate is up already in {self.root}; end it with: dpgate down")
            time.sleep(0.1)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        return descriptor

    def owner(self) -> int | None:
        """The living process that holds the lock."""
        if not self.is_claimed():
            return None
        with suppress(ValueError, OSError):
            pid = int(self._lock.read_text())
            return pid if _is_alive(pid) else None
        return None

    def is_claimed(self) -> bool:
        """Whether a platform, or what is left of one, still uses this home."""
        try:
            descriptor = os.open(self._lock, os.O_RDWR)
        except (FileNotFoundError, NotADirectoryError):
            return False
        try:
            return not _try_lock(descriptor)
        finally:
            os.close(descriptor)

    def redis_socket(self) -> Path:
        """In the run folder, or in a short temporary one where that path would not fit."""
        path = self.run / "redis.sock"
        if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
            return path
        return Path(tempfile.mkdtemp(prefix="dpgate-", dir="/tmp")) / "redis.sock"

    @property
    def _lock(self) -> Path:
        return self.run / "lock"

    @property
    def _address(self) -> Path:
        return self.database.parent / "url"

    def _check_ours(self, known: set[str]) -> None:
        if not self.root.is_dir():
            raise DpgateError(f"{self.root} is not a folder; name another with --home")
        if self.root.stat().st_uid != os.geteuid():
            raise DpgateError(f"{self.root} belongs to another user; name a folder of your own with --home")
        # its mode will be changed, so it must not be somebody's home or /tmp
        if others := sorted({entry.name for entry in self.root.iterdir()} - known):
            raise DpgateError(
                f"{self.root} holds other things ({others[0]}); name a new or empty folder with --home"
            )


def default_home() -> Home:
    """DPGATE_HOME, or the user's data folder. Root's own folders are closed to the users of its slots."""
    if named := os.environ.get("DPGATE_HOME"):
        return Home(Path(named).resolve())
    if named := os.environ.get("XDG_DATA_HOME"):
        return Home(Path(named) / "dpgate")
    home = Home(Path.home() / ".local" / "share" / "dpgate")
    return Home(_HOME_OF_ROOT) if os.geteuid() == 0 and not home.root.exists() else home


def image_store() -> Path:
    """DPGATE_IMAGES_FOLDER, or `images` of the default home: where commands look for imported images."""
    if named := os.environ.get("DPGATE_IMAGES_FOLDER"):
        return Path(named)
    return default_home().images


def _is_alive(pid: int) -> bool:
    """Raises OSError if there is none. One that has ended stays listed until its parent asks about it."""
    state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    return state not in {"Z", "X"}


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
