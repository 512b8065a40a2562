"""Connections to the hosts that pipelines come from, and never to this machine or its link.

An operator names hosts, and may name one of their own network. What a name resolves to is decided elsewhere:
one that leads to this machine, or to the metadata service of a cloud, is refused. A name is resolved once,
and the connection goes to the address that was looked at: an answer that changes (DNS rebinding) is no use.
"""

from __future__ import annotations

import ipaddress
import socket

from urllib3.connection import HTTPSConnection
from urllib3.connectionpool import HTTPSConnectionPool
from urllib3.exceptions import NameResolutionError, NewConnectionError

from gateway.notices.addresses import IP

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
