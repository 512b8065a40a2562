"""The files of one commit, fetched over https from a host that the operator has named. Nothing is kept.

The server is not trusted: what it sends is bounded in size and time, is never written to a disk, and must
hash to the commit that was asked for. It cannot send us anywhere else.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import urllib3
from dulwich.client import HttpGitClient
from dulwich.objects import ObjectID
from dulwich.refs import Ref
from dulwich.repo import MemoryRepo
from urllib3.connection import HTTPSConnection
from urllib3.connectionpool import HTTPSConnectionPool
from urllib3.exceptions import NameResolutionError, NewConnectionError

from domain.errors import InvalidRequest, NotAllowed, TooLarge
from formats.git_pack import MAX_PACK_BYTES, PackRefused, files_of
from gateway.notices.addresses import IP

log = logging.getLogger(__name__)
COMMIT = re.compile(r"[0-9a-f]{40}")
_PATH = re.compile(r"(/[A-Za-z0-9][A-Za-z0-9._~-]*){1,8}/?")
_FOLDER = re.compile(r"([A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*){0,9})?")
LONGEST_S = 30.0


def fetch_commit(address: str, commit: str, *, folder: str, hosts: Sequence[str]) -> list[tuple[str, bytes]]:
    """Path and content of every file. Raises RequestError naming the field that is wrong."""
    check_address(address, hosts)
    commit = commit.lower()
    if not COMMIT.fullmatch(commit):
        raise InvalidRequest(
            "commit", "is not the full name of a commit.", "Give all 40 hex digits: git rev-parse HEAD."
        )
    if not _FOLDER.fullmatch(folder.strip("/")):
        raise InvalidRequest("folder", "is no folder of a repository.", "Write one such as analysis/mean.")
    return fetch_files(address, commit, folder=folder.strip("/"), pool=_pool())


def check_address(address: str, hosts: Sequence[str]) -> None:
    """Only https, only these hosts, nothing hidden in the address. Raises InvalidRequest or NotAllowed."""
    parts = urlsplit(address) if address.isascii() and address.isprintable() else urlsplit("")
    if parts.scheme != "https" or parts.query or parts.fragment or not _PATH.fullmatch(parts.path):
        raise InvalidRequest(
            "address", "is not the address of a repository.", "Write one such as https://HOST/group/name.git."
        )
    if "@" in parts.netloc or parts.netloc.lower() not in {host.lower() for host in hosts}:
        named = ", ".join(hosts)
        raise NotAllowed(
            "address",
            "this platform does not fetch from that host.",
            f"It fetches from {named}." if named else "The operator has named none; upload the files.",
        )


def fetch_files(
    address: str, commit: str, *, folder: str, pool: urllib3.PoolManager
) -> list[tuple[str, bytes]]:
    """The same without a look at the address."""
    pack = bytearray()

    def wanted(refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
        del refs, depth  # the one commit, whatever the server would offer
        return [ObjectID(commit.encode())]

    client = _Bounded(address, pool_manager=pool, quiet=True)
    try:
        client.fetch_pack(
            "",
            wanted,
            MemoryRepo().get_graph_walker(),
            lambda data: _kept(pack, data),
            depth=1,
        )
        return files_of(bytes(pack), commit, folder=folder)
    except PackRefused as error:
        raise InvalidRequest("commit", f"{error}.", "Choose another commit or folder.") from None
    except TooLarge:
        raise
    except Exception as error:  # a hostile server makes a parser raise anything
        log.info("a commit could not be fetched: %s", type(error).__name__)
        raise InvalidRequest(
            "commit",
            "cannot be fetched from there.",
            "Check the address, and that the commit is on a branch that everybody may read.",
        ) from None
    finally:
        for answer in client.answers:
            answer.close()


class _Bounded(HttpGitClient):
    """Reads at most so many bytes, for at most so long."""

    _left = 2 * MAX_PACK_BYTES
    _until = 0.0

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.answers: list[Any] = []

    def _get_url(self, path: str | bytes) -> str:
        del path  # the whole address is the base
        return str(self._base_url).rstrip("/") + "/"

    def _http_request(self, *given: Any, **named: Any) -> tuple[Any, Callable[[int], bytes]]:
        self._until = self._until or time.monotonic() + LONGEST_S
        # whatever it answers is ours to close
        answer, read = super()._http_request(*given, **{**named, "raise_for_status": False})
        self.answers.append(answer)
        if answer.status != 200:
            raise ConnectionError(f"the server answers {answer.status}")

        def bounded(size: int = -1) -> bytes:
            content: bytes = read(size if 0 <= size <= self._left else self._left + 1)
            self._left -= len(content)
            if self._left < 0:
                raise _too_large()
            if time.monotonic() > self._until:
                raise TimeoutError
            return content

        return answer, bounded


def _kept(pack: bytearray, data: bytes) -> int:
    pack.extend(data)
    if len(pack) > MAX_PACK_BYTES:
        raise _too_large()
    return len(data)


def _too_large() -> TooLarge:
    return TooLarge(
        "commit",
        f"it has more than {MAX_PACK_BYTES >> 20} MiB.",
        "Keep the pipeline in a repository of its own.",
    )


def _pool() -> urllib3.PoolManager:
    """No redirects: a named host must not send us to another one. No proxy, no credentials of ours."""
    pool = urllib3.PoolManager(
        retries=urllib3.Retry(total=0, redirect=0, raise_on_redirect=True),
        timeout=urllib3.Timeout(connect=5, read=15),
    )
    pool.pool_classes_by_scheme = {**pool.pool_classes_by_scheme, "https": ElsewherePool}
    return pool


# Connections to the hosts that pipelines come from, and never to this machine or its link. An operator
# names hosts, and may name one of their own network. What a name resolves to is decided elsewhere: one
# that leads to this machine, or to the metadata service of a cloud, is refused. A name is resolved once,
# and the connection goes to the address that was looked at: an answer that changes (DNS rebinding) is no
# use.

# IPv4 within IPv6: who takes a packet to it cannot be told from here
_WRAPPING = tuple(ipaddress.ip_network(net) for net in ("64:ff9b::/96", "2002::/16", "2001::/32"))


class _ElsewhereConnection(HTTPSConnection):
    """The certificate is checked for the name, as always; only where the packets go is decided here."""

    def _new_conn(self) -> socket.socket:
        address = self._resolved()
        try:
            return socket.create_connection((str(address), self.port or 443), timeout=self.timeout)
        except OSError as error:
            raise NewConnectionError(self, f"no connection: {type(error).__name__}") from None

    def _resolved(self) -> IP:
        try:
            found = socket.getaddrinfo(self.host.strip("[]"), self.port or 443, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise NameResolutionError(self.host, self, socket.gaierror("unknown")) from None
        addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
        # a name with one address here and one elsewhere is somebody's trick
        if not addresses or not all(map(is_elsewhere, addresses)):
            raise NewConnectionError(self, "the name leads to this machine or its link")
        return addresses[0]


class ElsewherePool(HTTPSConnectionPool):
    """For `urllib3.PoolManager.pool_classes_by_scheme`."""

    ConnectionCls = _ElsewhereConnection


def is_elsewhere(address: IP) -> bool:
    """Is it another machine's: not loopback, link-local, unspecified, multicast or reserved?"""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_elsewhere(address.ipv4_mapped)
        if any(address in net for net in _WRAPPING):
            return False
    return not (
        address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or address.is_multicast
        or address.is_reserved
    )
