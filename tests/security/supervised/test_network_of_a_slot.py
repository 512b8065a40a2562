"""Runs under the strict filter share their slot's network namespace. Nobody can use it."""

import os

import pytest
from sandbox_harness import SLOT
from supervisors import supervisor_of

from sandbox_images.seccomp.policy import STRICT, Policy, Verdict
from sandbox_images.seccomp.standard import STANDARD
from worker.sandbox.protocol import Syscalls

# whatever makes a socket, or does something with one
SOCKET_CALLS = {
    *("socket", "socketpair", "connect", "accept", "accept4", "bind", "listen", "shutdown"),
    *("sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg"),
    *("getsockname", "getpeername", "setsockopt", "getsockopt"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("setns", "unshare", "pidfd_getfd", "bpf"),  # or gets at one in another way
}
WITH_PROC = ("confine.py", lambda source: source.replace("if procfs:", "if True:"))  # where a number stands
NUMBER = "import os; open('/out/verdict', 'w').write(os.readlink('/proc/self/ns/net'))"


def allowed(policy: Policy) -> set[str]:
    """With some arguments at least."""
    found = {call for group in policy.groups if group.verdict is Verdict.ALLOW for call in group.calls}
    for rule in policy.rules:
        if Verdict.ALLOW in {rule.otherwise, *(case.verdict for case in rule.cases)}:
            found.add(rule.call)
    return found


def test_the_premise_the_strict_filter_allows_nothing_that_uses_a_socket():
    assert not SOCKET_CALLS & allowed(STRICT)
    assert {"socketpair", "getsockopt"} <= allowed(STANDARD)


@pytest.mark.parametrize(("syscalls", "is_shared"), [(Syscalls.STRICT, True), (Syscalls.STANDARD, False)])
def test_a_namespace_for_each_run_where_some_socket_can_be_made(
    syscalls, is_shared, supervised, ask, doctored
):
    """The kernel gives the number of one that is gone to the next, so they are held against the slot's."""
    doctored(*WITH_PROC)
    with supervised.open_slot(ask(NUMBER, syscalls=syscalls), slot=SLOT) as slot:
        of_slot = os.readlink(f"/proc/{supervisor_of(slot)}/ns/net")
        numbers = [slot.run({}).outputs["verdict"].decode() for _ in range(3)]
    assert [number == of_slot for number in numbers] == [is_shared] * 3
    assert os.readlink("/proc/self/ns/net") not in numbers


def test_no_two_slots_share_one(supervised, ask, doctored):
    doctored(*WITH_PROC)
    with (
        supervised.open_slot(ask(NUMBER), slot=SLOT) as one,
        supervised.open_slot(ask(NUMBER), slot=SLOT) as other,
    ):
        assert one.run({}).outputs != other.run({}).outputs


# A connection over loopback, ended by the side that listened: the port stays taken for a minute after both
# ends, and their processes, are gone. The next run asks for that port, and for an abstract name.
LEFT_BEHIND = """
import socket, time
seen = []
def tried(step, *arguments):
    try:
        return step(*arguments)
    except OSError as error:
        seen.append(type(error).__name__ + " " + str(error.errno))
server = tried(socket.socket)
if server is not None:
    tried(server.bind, ("", 4711))
    tried(server.listen)
    if open("/in/a").read() == "leave":
        client = socket.socket()
        tried(client.connect, ("127.0.0.1", 4711))
        if not seen:
            served = server.accept()[0]
            served.close()
            client.recv(1)
            client.close()
        name = socket.socket(socket.AF_UNIX)
        tried(name.bind, "\\0left")
    else:
        name = socket.socket(socket.AF_UNIX)
        seen.append(name.connect_ex("\\0left"))
open("/out/verdict", "w").write(repr(seen))
"""
NO_FILTER = (
    "confine.py",
    lambda source: source.replace('        steps.call("filter", ', '        (lambda *_: None)("filter", '),
)
NO_LANDLOCK = ("confine.py", lambda source: source.replace("        restrict(steps, _WRITABLE)\n", ""))
LOOPBACK = ("main.py", lambda source: source.replace("    kernel.unshare(kernel.NEWNET)", "    str()"))
CLEAN = b"[111]"  # ECONNREFUSED: nobody has the abstract name; and the port was free
UNREACHABLE = b"['OSError 101']"


def left_and_found(supervised, ask) -> list[bytes]:
    with supervised.open_slot(ask(LEFT_BEHIND), slot=SLOT) as slot:
        return [slot.run({"a": block}).outputs["verdict"] for block in (b"look", b"leave", b"look")]


def test_under_the_filter_there_is_no_socket_to_begin_with(supervised, ask):
    assert left_and_found(supervised, ask) == [b"['OSError 97']"] * 3  # EAFNOSUPPORT


def test_without_filter_and_landlock_nothing_stays_either_because_nothing_can_be_sent(
    supervised, ask, doctored
):
    doctored(*NO_FILTER)
    doctored(*NO_LANDLOCK)
    assert left_and_found(supervised, ask) == [CLEAN, UNREACHABLE, CLEAN]


def test_where_loopback_is_up_as_well_a_run_finds_what_another_left(supervised, ask, doctored):
    """The control: with all three walls gone, the attack works."""
    for change in (NO_FILTER, NO_LANDLOCK, LOOPBACK):
        doctored(*change)
    before, leaving, after = left_and_found(supervised, ask)
    assert (before, leaving) == (CLEAN, b"[]")
    assert after == b"['OSError 98', 111]"  # EADDRINUSE
