"""Redis, gateway and workers as children of this process, on bubblewrap and on SQLite or a given database."""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx

from dpgate.client import Client
from dpgate.credentials import Login
from dpgate.embedded.home import Home
from dpgate.embedded.interrupts import heard
from dpgate.embedded.operator_token import operator_of
from dpgate.embedded.processes import Child, Keeper, python, start
from dpgate.embedded.redis_binary import find_redis_server
from dpgate.errors import PlatformStopped
from store.database import Database
from store.keys import create_keys, load_keys, new_message_key
from worker.certificate import key_id_of
from worker.sandbox.core.scratch import default_scratch_root

START_TIMEOUT_S = 120
# a run in padded mode lasts as long as it may; a job that is cut off here goes on after the next start
END_PATIENCE_S = 3
_HTTP = ("--http", "gateway.connections:Connection")
Say = Callable[[str], None]
# a part, and how one sees that it is ready
Started = tuple[Child, Callable[[], bool]]


class Stack:
    """One embedded platform. Start it, use `url` and `operator_token`, stop it; or use a `with` block.

    `settings` are the worker's, `gateway_settings` the gateway's. `throwaway` is a folder that is removed at
    the end, however the end comes.
    """

    def __init__(
        self,
        home: Home,
        *,
        port: int = 0,
        slots: int | None = None,
        python_env: Path | None = None,
        database_url: str | None = None,
        settings: dict[str, str] | None = None,
        gateway_settings: dict[str, str] | None = None,
        throwaway: Path | None = None,
        say: Say = lambda _text: None,
    ) -> None:
        self.home = home
        self.database_url = database_url or home.database_url
        self.slots = slots or os.cpu_count() or 1
        self.url = self.operator_token = ""
        self._port, self._python_env = port, python_env
        self._settings, self._gateway_settings = settings or {}, dict(gateway_settings or {})
        self._say, self._message_key = say, new_message_key()
        self._children: list[Child] = []
        self._temporary = [throwaway] if throwaway else []
        self._keeper: Keeper | None = None
        self._redis_socket = home.run / "redis.sock"
        self._starts = {
            "redis": self._start_redis,
            "gateway": self._start_gateway,
            "worker": self._start_worker,
        }

    def __enter__(self) -> Stack:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Raises DpgateError with the last words of the part that did not start."""
        try:
            self._claim()
            self._prepare()
            self._wait(self._start_redis())
            # beside each other: both spend most of it on their imports
            self._wait(self._start_gateway(), self._start_worker())
            self._approve_image()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End every child, newest first, and leave nothing running and nothing temporary."""
        heard()
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        try:
            for child in reversed(self._children):
                child.end(patience_s=END_PATIENCE_S)
                keeper.tell("end", child.process.pid)
            self._children.clear()
        finally:
            keeper.close()

    def keep_on(self) -> None:
        """Another keeper where one was killed: without it no part starts again, and the home is anybody's.
        Raises DpgateError where somebody has taken it."""
        before = self._keeper
        if before is not None and not before.is_running():
            self._keep()
            before.close()

    def stopped_parts(self) -> list[Child]:
        """Those that have ended by themselves."""
        return [child for child in self._children if not child.is_running()]

    def start_again(self, child: Child) -> None:
        """One that has ended, at its old place; what it left running ends first."""
        assert self._keeper is not None
        child.end(patience_s=0)
        self._starts[child.name]()
        self._keeper.tell("end", child.process.pid)
        # ended in the order in which they were started first
        self._children[self._children.index(child)] = self._children.pop()

    def client(self, token: str | None = None) -> Client:
        return Client(Login(self.url, token or self.operator_token))

    @property
    def broker_url(self) -> str:
        return f"redis+socket://{self._redis_socket}"

    def _claim(self) -> None:
        self._say("preparing the home folder and the database")
        self.home.make()
        self._keep()
        self.home.facts.unlink(missing_ok=True)
        self._redis_socket = self.home.redis_socket()
        if (own := self._redis_socket.parent) != self.home.run:
            self._temporary.append(own)
        self._tell_all()

    def _keep(self) -> None:
        lock = self.home.claim()
        try:
            self._keeper = Keeper(lock=lock)
        finally:
            os.close(lock)
        self._tell_all()

    def _tell_all(self) -> None:
        assert self._keeper is not None
        for folder in self._temporary:
            self._keeper.tell("remove", folder)
        for child in filter(Child.is_running, self._children):
            self._keeper.tell("start", child.process.pid)

    def _prepare(self) -> None:
        with _private_files():
            master = self.home.worker_zone / "master.key"
            is_new = not master.exists()
            create_keys(master)
            self._gateway_settings["DPGATE_CERTIFICATE_KEY"] = key_id_of(load_keys(master).signing)
            with closing(Database(self.database_url)) as database:
                database.migrate()
                from worker.catching_up import take_up

                take_up(self.home.worker_zone, database, is_new=is_new)
                self.operator_token = operator_of(database, self.home.operator_token)
            self.home.keep_database_url(self.database_url)

    def _start_redis(self) -> Started:
        self._say("starting Redis (messages carry ids only)")
        self._redis_socket.unlink(missing_ok=True)
        arguments = ["--port", "0", "--unixsocket", str(self._redis_socket), "--unixsocketperm", "700"]
        arguments += ["--save", "", "--appendonly", "no", "--dir", str(self.home.run), "--daemonize", "no"]
        return self._child("redis", [str(find_redis_server()), *arguments]), self._redis_answers

    def _start_gateway(self) -> Started:
        self._say("starting the gateway")
        listener = _listen(self._port)
        try:
            self._port = listener.getsockname()[1]
            self.url = f"http://127.0.0.1:{self._port}"
            arguments = python("gateway.app", "uvicorn", "gateway.app:create_app", "--factory", *_HTTP)
            arguments += ["--fd", str(listener.fileno()), "--no-server-header", "--no-access-log"]
            # longer than a proxy keeps a connection: closing first loses a request
            arguments += ["--timeout-keep-alive", "75", "--log-level", "warning"]
            settings = self._gateway_settings | self._common()
            child = self._child("gateway", arguments, settings, pass_fds=(listener.fileno(),))
        finally:
            listener.close()
        return child, self._gateway_answers

    def _start_worker(self) -> Started:
        self._say(f"starting {self.slots} worker slots (checking isolation)")
        ready = self.home.run / "worker.ready"
        ready.unlink(missing_ok=True)
        arguments = python("worker.app", "celery", "-A", "worker.app", "worker", "--pool", "prefork")
        arguments += ["--loglevel", "warning", "--without-gossip", "--without-mingle"]
        settings = self._common() | {
            "DPGATE_ZONE_FOLDER": str(self.home.worker_zone),
            "DPGATE_IMAGES_FOLDER": str(self.home.images),
            "DPGATE_SCRATCH_FOLDER": str(default_scratch_root()),
            "DPGATE_SLOTS": str(self.slots),
            "DPGATE_READY_FILE": str(ready),
        }
        if self._python_env:
            settings["DPGATE_PYTHON_ENV"] = str(self._python_env.absolute())
        return self._child("worker", arguments, settings | self._settings), ready.exists

    def _approve_image(self) -> None:
        # on one machine the person who starts the platform is its operator
        with self.client() as operator:
            for image in operator.images():
                # what was imported, a person approves by its digest
                if image["kind"] == "host" and image["approved_at"] is None:
                    operator.approve_image(image["digest"], warm=True)
                    self._say(f"approved the image {image['name']} ({image['digest'][:19]}...)")

    def _common(self) -> dict[str, str]:
        places = {"DPGATE_DATABASE_URL": self.database_url, "DPGATE_BROKER_URL": self.broker_url}
        return places | {"DPGATE_MESSAGE_KEY": self._message_key}

    def _child(
        self,
        name: str,
        command: list[str],
        settings: dict[str, str] | None = None,
        pass_fds: tuple[int, ...] = (),
    ) -> Child:
        assert self._keeper is not None
        child = start(
            name,
            command,
            log=self.home.logs / f"{name}.log",
            folder=self.home.run,
            keeper=self._keeper,
            settings=settings,
            pass_fds=pass_fds,
        )
        self._children.append(child)
        return child

    def _wait(self, *started: Started) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        pending = list(started)
        while pending := [(child, is_ready) for child, is_ready in pending if not is_ready()]:
            for child, _ in pending:
                if not child.is_running():
                    raise PlatformStopped(f"the {child.name} did not start:\n{child.last_words()}")
            if time.monotonic() > deadline:
                child = pending[0][0]
                raise PlatformStopped(
                    f"the {child.name} did not answer within {START_TIMEOUT_S} s; see {child.log}"
                )
            time.sleep(0.05)

    def _redis_answers(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(self._redis_socket))
                probe.sendall(b"PING\r\n")
                return probe.recv(16).startswith(b"+PONG")
            except OSError:
                return False

    def _gateway_answers(self) -> bool:
        try:
            # no TLS there, and to read the host's authorities takes longer than the request
            none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            return httpx.get(f"{self.url}/api/v1/health", timeout=2, verify=none).is_success
        except httpx.TransportError:
            return False


def _listen(port: int) -> socket.socket:
    try:
        listener = socket.create_server(("127.0.0.1", port))
        # uvicorn takes a handed-over socket for a unix one and leaves this off: 40 ms a request
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        raise PlatformStopped(
            f"port {port} on 127.0.0.1 cannot be used ({error.strerror}); choose another with --port"
        ) from None


@contextmanager
def _private_files() -> Iterator[None]:
    """New files are for their owner alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
