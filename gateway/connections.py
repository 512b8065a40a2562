"""Connections to the port of the gateway: each has so long to say what it wants, and so many are open.

Uvicorn waits without end for the head of a request, for its body and for who does not read an answer. Here
each has a deadline, and where too many connections are open those give way that wait for their client: first
of addresses from which nobody ever came in, there of the address that has most of them, the oldest first.
Behind a proxy all come from one address.

Of an answer that is not read the kernel would keep megabytes for each connection, of a memory that all
connections of this machine share.
"""

from __future__ import annotations

import asyncio
import heapq
import resource
import socket
from collections import deque
from collections.abc import Iterable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import DEFAULT_MAX_INCOMPLETE_EVENT_SIZE, H11Protocol

MOST_OPEN = 512
# to look for who gives way takes time for all that are open: not for each new one
MORE_AT_ONCE = 32
# a whole crowd may be taken at one go, and is read only after that: what a new connection says is heard
# before it gives way
ROUNDS_UNHEARD = 2
HEAD_S = 10.0
BODY_S = 20.0
# a body must come as fast as this, beyond the first BODY_S seconds
LEAST_BYTES_S = 16 * 1024
# and an answer be read on at least so often
READ_S = 60.0
# so much of it that is not on its way yet lies in the kernel, and a quarter of that here before we wait
UNSENT_BYTES = 64 * 1024


# a body may come in so many pieces, and in more if they hold so much each on the average
MOST_PIECES = 512
LEAST_PIECE = 64

# the queue of the kernel can be as long as uvicorn asks for, and all of it may be taken at one go
OPEN_FILES = 4096
# the state of the application, by this name: who came in from where
LINE = "login_line"


def allow_open_files() -> None:
    """Where this process may have fewer files open than are needed here, and more on request."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, hard), hard))


class Pieces(h11.Connection):
    """The state of one connection; refuses a body of very many chunks of a byte. All that has come is read
    at one go, for as long as it takes, and nobody else is served meanwhile."""

    _pieces = 0
    _bytes = 0

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Data):
            self._pieces, self._bytes = self._pieces + 1, self._bytes + len(event.data)
            if self._pieces > MOST_PIECES and self._bytes < self._pieces * LEAST_PIECE:
                raise h11.RemoteProtocolError("the body comes in very small pieces")
        elif isinstance(event, h11.Request):
            self._pieces = self._bytes = 0
        return event


class Connection(H11Protocol):
    """One connection, for `uvicorn --http gateway.connections:Connection`."""

    made_at = 0.0
    is_given_up = False
    is_heard = False
    _due: float | None = None
    _timer: asyncio.TimerHandle | None = None
    _began_at: float | None = None
    _received = 0
    _is_unread = False

    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **fields)
        largest = self.config.h11_max_incomplete_event_size
        self.conn = Pieces(h11.SERVER, DEFAULT_MAX_INCOMPLETE_EVENT_SIZE if largest is None else largest)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=UNSENT_BYTES // 4)
        taken: socket.socket | None = transport.get_extra_info("socket")
        if taken is not None and _family(taken) in (socket.AF_INET, socket.AF_INET6):
            taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        self.made_at = self.loop.time()
        self._expect(self.made_at + HEAD_S)
        self.loop.call_soon(self._settle, ROUNDS_UNHEARD - 1)

    def _settle(self, rounds: int) -> None:
        """Heard after so many more rounds of the loop, and then one of those who may give way."""
        if rounds:
            self.loop.call_soon(self._settle, rounds - 1)
            return
        self.is_heard = True
        if len(self.connections) > MOST_OPEN + min(MORE_AT_ONCE, MOST_OPEN // 16):
            give_way((each for each in self.connections if isinstance(each, Connection)), most=MOST_OPEN)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.waits_for_client:
            self._began_at, self._received = None, 0
            if not self._is_unread:
                self._due = None
            return
        if self._began_at is None:
            self._began_at = self.loop.time()
        self._received += len(data)
        in_body = self.conn.their_state is h11.SEND_BODY
        within_s = BODY_S + self._received / LEAST_BYTES_S if in_body else HEAD_S
        self._expect(self._began_at + within_s)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._is_unread = True
        self._expect(self.loop.time() + READ_S)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._is_unread = False
        if not self.waits_for_client:
            self._due = None

    @property
    def waits_for_client(self) -> bool:
        """Whether nothing of ours is under way: head or body of a request are still to come."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    @property
    def may_give_way(self) -> bool:
        """Also one whose client does not read what we have answered."""
        return self.is_heard and (self.waits_for_client or self._is_unread) and not self.is_given_up

    @property
    def is_of_a_stranger(self) -> bool:
        """Whether nobody ever came in from there, as far as this process knows."""
        line = self.app_state.get(LINE)
        return line is None or not line.is_home(self.address)

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    def give_up(self) -> None:
        self.is_given_up = True
        # it is lost in the next round of the loop only, and counts as open until then
        self.connections.discard(self)
        self.transport.abort()

    def _expect(self, due: float) -> None:
        self._due = due
        if self._timer is None:
            self._timer = self.loop.call_at(due, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._due is None or self.is_given_up:
            return
        if self.flow.read_paused and not self._is_unread:
            self._due = self.loop.time() + HEAD_S  # it is we who do not read
        if self._due <= self.loop.time():
            self.give_up()
        else:
            self._timer = self.loop.call_at(self._due, self._look)


def _family(taken: socket.socket) -> int:
    """By the kernel's word: uvicorn calls each that it was handed one of UNIX."""
    return taken.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN)


def give_way(connections: Iterable[Connection], *, most: int) -> None:
    """End those that wait for their client until `most` are open. What else an address has open counts too:
    else who has nothing but a connection that was just made would be among the first."""
    opened = [each for each in connections if not each.is_given_up]
    held: dict[str, list[Connection]] = {}
    for each in opened:
        held.setdefault(each.address, []).append(each)
    waiting = []
    for address, theirs in held.items():
        may = deque(sorted((each for each in theirs if each.may_give_way), key=lambda each: each.made_at))
        if may:
            waiting.append((not may[0].is_of_a_stranger, -len(theirs), may[0].made_at, address, may))
    heapq.heapify(waiting)
    # who is heard in the next round of the loop goes before those who come from where people came in
    are_coming = any(not each.is_heard and each.is_of_a_stranger for each in opened)
    for _ in range(len(opened) - most):
        if not waiting:
            return
        is_home, minus_held, _, address, may = waiting[0]
        if is_home and are_coming:
            return
        may.popleft().give_up()
        if may:
            heapq.heapreplace(waiting, (is_home, minus_held + 1, may[0].made_at, address, may))
        else:
            heapq.heappop(waiting)
