"""The calls that the backend makes to the daemon: these, and no others. None of them fetches an image.

The daemon's own failure is SandboxUnavailable, with the daemon's words. One engine per slot and thread.
"""

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import docker  # type: ignore[import-untyped]
from docker.errors import APIError, DockerException, ImageNotFound, NotFound  # type: ignore[import-untyped]

from worker.sandbox.protocol import SandboxUnavailable

from .settings import DockerSettings
from .stream import Stream

_ANSWER_S = 60  # a busy daemon creates or starts a container within some seconds
_OLDEST = (1, 41)  # Docker 20.10
# Set by the daemon where the command, not the daemon, is why a container does not start.
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127


class CannotStart(Exception):
    """The command of a container cannot be started: the pipeline's fault."""


class Engine:
    def __init__(self, settings: DockerSettings) -> None:
        with _talking("be reached"):
            self._client = docker.APIClient(
                base_url=f"unix://{settings.socket}", version="auto", timeout=_ANSWER_S
            )
        if (version := _version(self._client)) < _OLDEST:
            self.close()
            raise SandboxUnavailable(
                f"the Docker daemon speaks version {version[0]}.{version[1]}; 20.10 or newer is needed"
            )

    def close(self) -> None:
        self._client.close()

    # --- the daemon

    def info(self) -> dict[str, Any]:
        with _talking("describe itself"):
            return dict(self._client.info())

    def version(self) -> str:
        with _talking("tell its version"):
            return str(self._client.version()["Version"])

    def image(self, digest: str) -> dict[str, Any] | None:
        """What the daemon knows of it; None: not there."""
        with _talking("look up an image"):
            try:
                return dict(self._client.inspect_image(digest))
            except ImageNotFound:
                return None

    # --- one container

    def create(self, body: Mapping[str, Any]) -> str:
        with _talking("create a container"):
            made = self._client.create_container_from_config(body)
        # A limit that this daemon or kernel cannot keep is only warned of. Those of swap, the probe reports.
        dropped = [text for text in made.get("Warnings") or () if "swap" not in text.lower()]
        if dropped:
            self.remove(made["Id"])
            raise SandboxUnavailable(f"the Docker daemon does not keep a limit: {' '.join(dropped)}")
        return str(made["Id"])

    def attach(self, container: str, *, stdin: bool) -> Stream:
        """Before the start, so that nothing is missed."""
        wanted = {"stdin": int(stdin), "stdout": 1, "stderr": 1, "stream": 1}
        with _talking("attach to a container"):
            theirs = self._client.attach_socket(container, params=wanted)
            # The SDK's own object cannot be written to, and its parts do not close in any order.
            ours = socket.socket(fileno=os.dup(theirs.fileno()))
            theirs._response.close()
            ours.settimeout(_ANSWER_S)
            return Stream(ours)

    def start(self, container: str) -> None:
        with _talking("start a container"):
            try:
                self._client.start(container)
            except APIError as error:
                if error.response.status_code != HTTPStatus.BAD_REQUEST:
                    raise
                if self.state(container)["ExitCode"] not in (_NOT_EXECUTABLE, _NOT_FOUND):
                    raise
                raise CannotStart(str(error.explanation)) from error

    def wait(self, container: str, *, until: float) -> int | None:
        """The exit code once nobody lives in it; None if that takes past `until` (of the monotonic clock)."""
        left_s = until - time.monotonic()
        if left_s <= 0:
            return None
        with _talking("wait for a container"):
            try:
                answer = self._client.wait(container, timeout=left_s)
            except OSError:  # what the SDK's timeouts are, among others
                if time.monotonic() < until:
                    raise
                return None
        if answer.get("Error"):
            raise SandboxUnavailable(f"the Docker daemon lost a container: {answer['Error']}")
        return int(answer["StatusCode"])

    def kill(self, container: str) -> None:
        with _talking("kill a container"):
            try:
                self._client.kill(container, signal="SIGKILL")
            except APIError as error:  # it has just ended by itself, or is removed already
                if error.response.status_code not in (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND):
                    raise

    def state(self, container: str) -> dict[str, Any]:
        with _talking("look up a container"):
            return dict(self._client.inspect_container(container)["State"])

    def remove(self, container: str) -> None:
        """Kills it if need be. Gone already is fine."""
        with _talking("remove a container"):
            try:
                self._client.remove_container(container, force=True)
            except NotFound:
                return

    # --- volumes, and what is left

    def remove_volume(self, name: str) -> None:
        with _talking("remove a volume"):
            try:
                self._client.remove_volume(name)
            except NotFound:
                return

    def containers(self, label: str) -> list[tuple[str, dict[str, str]]]:
        """Identifier and labels of all containers, running or not, that have this label (name=value)."""
        with _talking("list containers"):
            found = self._client.containers(all=True, filters={"label": [label]})
        return [(each["Id"], each["Labels"] or {}) for each in found]

    def volumes(self, label: str) -> list[tuple[str, dict[str, str]]]:
        with _talking("list volumes"):
            found = self._client.volumes(filters={"label": [label]})["Volumes"] or []
        return [(each["Name"], each["Labels"] or {}) for each in found]


@contextmanager
def _talking(what: str) -> Iterator[None]:
    try:
        yield
    except APIError as error:
        raise SandboxUnavailable(f"the Docker daemon could not {what}: {error.explanation}") from error
    except (DockerException, OSError, json.JSONDecodeError) as error:
        raise SandboxUnavailable(f"the Docker daemon could not {what}: {error}") from error


def _version(client: docker.APIClient) -> tuple[int, int]:
    major, _, minor = str(client.api_version).partition(".")
    return int(major), int(minor)
