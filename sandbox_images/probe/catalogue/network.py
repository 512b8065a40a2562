"""Ways out over a network."""

from functools import partial

from .model import Probe

_probe = partial(Probe, category="network", script="network")

NETWORK = (
    _probe("net_tcp4", tries="connect to a listener on the host's loopback", quick=True),
    _probe("net_tcp6", tries="the same over IPv6", quick=True, kernel=True),
    _probe("net_udp4", tries="send one datagram, as a name look-up would", quick=True),
    _probe("net_route", tries="find a route to metadata services, resolvers, anywhere", quick=True),
    _probe("net_ifaces", tries="list interfaces other than loopback", quick=True),
    _probe("net_unix_paths", tries="connect to a socket file that is open to all", quick=True),
    _probe("net_unix_abstract", tries="connect to an abstract socket of the host", quick=True),
    _probe("net_vsock", tries="open a socket to the hypervisor", quick=True, kernel=True),
    _probe("net_packet_raw", tries="open a raw or packet socket", quick=True),
    _probe("net_exotic", tries="open a socket of thirteen rare families", quick=True, kernel=True),
    _probe("net_netlink", tries="bind to the kernel's message bus", quick=True),
    _probe("net_socketpair", tries="make a pair of sockets", quick=True),
    _probe("net_listen", tries="listen on loopback", quick=True),
    _probe("net_nameservers", tries="read which resolvers the host uses", quick=True),
    _probe("net_sysfs", tries="list interfaces by /sys", quick=True),
    _probe("net_ioctl", tries="list interfaces by ioctl", quick=True),
)
