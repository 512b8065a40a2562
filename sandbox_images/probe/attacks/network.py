"""Ways out over a network. Everything they address is on loopback, or is not sent at all."""

# ruff: noqa: ARG001 - attacks take one kind of argument
import os
import socket
import struct

from face import any_of, check, lacks, libc  # type: ignore[import-not-found]

_FAR_AWAY = ("169.254.169.254", "192.0.2.1", "198.51.100.7", "8.8.8.8", "10.0.0.1")


def net_tcp4(target):
    socket.create_connection(("127.0.0.1", target["tcp4"]), 2).close()
    return True


def net_tcp6(target):
    if target["bare"] and target["tcp6"] == 1:  # nothing of this host could listen there
        raise lacks("a host with IPv6")
    socket.create_connection(("::1", target["tcp6"]), 2).close()
    return True


def net_udp4(target):
    with socket.socket(type=socket.SOCK_DGRAM) as sender:
        return sender.sendto(b"a name to look up", ("127.0.0.1", target["udp4"])) > 0


def net_route(target):
    """connect() of a datagram socket only asks for a route; nothing is sent."""

    def has_route(address):
        with socket.socket(type=socket.SOCK_DGRAM) as asker:
            asker.connect((address, 9))
            return True

    addresses = (*_FAR_AWAY, "127.0.0.1") if target["bare"] else _FAR_AWAY
    return any_of([lambda address=address: has_route(address) for address in addresses])


def net_ifaces(target):
    """Names and addresses of interfaces, by netlink and by /proc."""
    with open("/proc/net/dev", encoding="ascii") as file:
        if len(file.readlines()) > 3:
            return True
    return any(name != "lo" for _, name in socket.if_nameindex())


def net_unix_paths(target):
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(target["unix_path"])
        return True


def net_unix_abstract(target):
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect("\0" + target["unix_abstract"])
        return True


def net_vsock(target):
    """To the hypervisor: not divided by network namespaces."""
    with socket.socket(40, socket.SOCK_STREAM):
        return True


def net_packet_raw(target):
    """A bare process asks from a namespace of its own, where it may."""
    if target["bare"]:
        libc.unshare(0x50000000)
    return any_of(
        [
            lambda: socket.socket(17, socket.SOCK_RAW, socket.htons(3)),
            lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 255),
        ]
    )


def net_exotic(target):
    """Families that few know: AX25, X.25, key, LLC, CAN, TIPC, Bluetooth, RxRPC, kernel crypto, KCM, QRTR,
    SMC, XDP.
    """
    families = (3, 9, 15, 26, 29, 30, 31, 33, 38, 41, 42, 43, 44)
    kinds = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)

    def opens(family, kind):
        with socket.socket(family, kind, 0):
            return True

    return any_of([lambda f=family, k=kind: opens(f, k) for family in families for kind in kinds])


def net_netlink(target):
    """Routes, sockets of others, audit: the kernel's own message bus."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as bus:
        bus.bind((0, 0))
        return True


def net_socketpair(target):
    """Descriptors in flight are counted per host user."""
    for end in socket.socketpair():
        end.close()
    return True


def net_listen(target):
    """Wait to be called: a server for a later run."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        return True


def net_nameservers(target):
    """Which resolvers and search domains the host uses."""
    with open("/etc/resolv.conf", encoding="ascii") as file:
        return file.read() != ""


def net_sysfs(target):
    """Hardware addresses, counters of interfaces."""
    return any(name != "lo" for name in os.listdir("/sys/class/net"))


def net_ioctl(target):
    """SIOCGIFCONF needs no socket of its own if some descriptor takes it."""
    request = struct.pack("iP", 0, 0)
    for fd in (0, 1, 2):
        if libc.ioctl(fd, 0x8912, request) == 0:
            return True
    with socket.socket(type=socket.SOCK_DGRAM) as asker:
        check(libc.ioctl(asker.fileno(), 0x8912, struct.pack("iiP", 0, 0, 0)), "ioctl")
        return True
