"""Where a webhook may lead: a host that the operator allows, at an address of the open internet.

A name is resolved once, right before a notice is sent, and the connection goes to the address that was looked
at: a name that answers differently the second time (DNS rebinding) leads nowhere.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from domain.errors import Conflict, InvalidRequest, RequestError
from domain.notice import SendProblem

LONGEST_URL = 500
PORTS = {"https": 443, "http": 80}
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
_LOOPBACK_NAMES = {"localhost", "127.0.0.1", "::1"}
# addresses in which another one is hidden, and who takes a packet to it cannot be told from here
_WRAPPING = tuple(
    ipaddress.ip_network(net) for net in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")
)
# not of the open internet either, though the standard library of Python 3.11 takes them for it: site-local
# (RFC 3879), protocol assignments (RFC 6890), 6to4 relays (RFC 7526), documentation (RFC 9637)
_INSIDE = tuple(
    ipaddress.ip_network(net) for net in ("fec0::/10", "192.0.0.0/24", "192.88.99.0/24", "3fff::/20")
)
# not link-local, and yet where clouds keep credentials: Amazon, Google, Oracle (IPv6), Alibaba, Azure
_OF_CLOUDS = tuple(
    ipaddress.ip_network(net)
    for net in ("fd00:ec2::/32", "fd20:ce::/32", "fd00:c1::/32", "100.100.100.200/32", "168.63.129.16/32")
)
# RFC 1918, RFC 6598 and RFC 4193: networks of an organisation's own
_PRIVATE = tuple(
    ipaddress.ip_network(net)
    for net in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
IP = ipaddress.IPv4Address | ipaddress.IPv6Address


def check_network(text: str) -> Network:
    """A private network that the operator opens for webhooks. Raises ValueError.

    This machine, what is linked to it (where clouds keep credentials) and whole ranges of several kinds stay
    closed, whoever lists them.
    """
    network = ipaddress.ip_network(text)
    inside = (one for one in _PRIVATE if one.version == network.version)
    if not any(network.network_address in one and network.broadcast_address in one for one in inside):
        raise ValueError(f"{text} is no part of a private network such as 10.0.0.0/8 or fd00::/8")
    return network


class NotSent(Exception):
    """An attempt has failed; the word is all that is kept of it."""

    def __init__(self, problem: SendProblem) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True)
class Rules:
    """What the operator allows. `hosts` are names, or `name:port` where it is not the usual one."""

    hosts: frozenset[str]
    # for tests: http and addresses of this machine
    loopback: bool = False
    # private networks in which a receiver may be, beside the open internet
    networks: tuple[Network, ...] = ()

    @classmethod
    def of(cls, hosts: Collection[str], *, loopback: bool, networks: Collection[str] = ()) -> Rules:
        return cls(
            frozenset(host.lower() for host in hosts), loopback, tuple(check_network(one) for one in networks)
        )

    def allow(self, address: IP) -> bool:
        """May a connection go there?"""
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            return self.allow(address.ipv4_mapped)
        if self.loopback and address.is_loopback:
            return True
        if any(address in net for net in _OF_CLOUDS):
            return False
        return is_open(address) or any(address in network for network in self.networks)

    @property
    def allow_any(self) -> bool:
        return bool(self.hosts)


@dataclass(frozen=True)
class Target:
    """A webhook's address, taken apart. `target` is path and query, as they were typed."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """As the header Host and the list of allowed hosts have it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def url_at(self, address: IP) -> str:
        host = f"[{address}]" if address.version == 6 else str(address)
        return f"{self.scheme}://{host}:{self.port}{self.target}"


def check_url(url: str, rules: Rules) -> Target:
    """A webhook address that may be kept. Nothing is resolved yet.

    Raises InvalidRequest, or Conflict where the operator allows no host at all.
    """
    if not rules.allow_any:
        raise Conflict("url", "webhooks are off on this platform.", "Ask the operator to allow a host.")
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or set(url) & set(' \\"<>^`{|}'):
        raise InvalidRequest("url", "is no address.", f"Use at most {LONGEST_URL} plain letters, no spaces.")
    try:
        parts = urlsplit(url)
        target = _taken_apart(parts)
    except ValueError:
        raise InvalidRequest("url", "is no address.", "Write it as https://hooks.example.org/path.") from None
    is_local = rules.loopback and target.host in _LOOPBACK_NAMES
    if target.scheme != "https" and not is_local:
        raise InvalidRequest("url", "must start with https://.", "Notices are not sent in the clear.")
    if parts.username or parts.password or parts.fragment:
        raise InvalidRequest("url", "has a name, password or fragment.", "Leave it out.")
    if target.authority not in rules.hosts:
        raise InvalidRequest(
            "url", "leads to a host that is not allowed here.", "Ask the operator to add it to the list."
        )
    return target


def allowed(url: str, rules: Rules) -> Target:
    """The same before each attempt: the operator's list may have changed. Raises NotSent."""
    try:
        return check_url(url, rules)
    except RequestError:
        raise NotSent(SendProblem.SWITCHED_OFF) from None


def resolve(target: Target, rules: Rules) -> IP:
    """The address to connect to. Raises NotSent when any address of the name is not of the open internet."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NotSent(SendProblem.UNKNOWN_HOST) from None
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    if not addresses:
        raise NotSent(SendProblem.UNKNOWN_HOST)
    # a name with one address inside and one outside is somebody's trick
    if not all(rules.allow(address) for address in addresses):
        raise NotSent(SendProblem.FORBIDDEN_ADDRESS)
    return addresses[0]


def is_open(address: IP) -> bool:
    """Is it of the open internet: not private, loopback, link-local, shared, multicast or reserved?"""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_open(address.ipv4_mapped)
        if any(address in net for net in _WRAPPING):
            return False
    if any(address in net for net in (*_INSIDE, *_OF_CLOUDS)):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified or address.is_link_local
    )


def _taken_apart(parts: SplitResult) -> Target:
    """Raises ValueError for what is no address with a host."""
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in PORTS or not (_HOST.fullmatch(host) or _is_address(host)):
        raise ValueError("no address of a host")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, parts.port or PORTS[parts.scheme], target)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
