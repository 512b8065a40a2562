"""Packets between the worker and a supervisor: whole or not at all, and no descriptor is lost."""

import json
import os
import socket

import pytest
from open_files import nothing_stays_open

from sandbox_images.supervisor.channel import Channel, Closed


@pytest.fixture
def pair():
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ends[0], ends[1]:
        yield tuple(Channel(end) for end in ends)


def test_messages_arrive_one_by_one(pair):
    here, there = pair
    for number in range(3):
        here.send({"number": number, "text": "ü\n" * number})
    assert [there.receive() for _ in range(3)] == [
        ({"number": number, "text": "ü\n" * number}, []) for number in range(3)
    ]


def test_descriptors_arrive_in_order_as_the_same_files(pair):
    here, there = pair
    pipes = [os.pipe() for _ in range(3)]
    here.send({}, [reading for reading, _ in pipes])
    _, received = there.receive()
    for number, ((_, writing), fd) in enumerate(zip(pipes, received, strict=True)):
        os.write(writing, b"%d" % number)
        assert os.read(fd, 9) == b"%d" % number
    for fd in (*received, *(end for ends in pipes for end in ends)):
        os.close(fd)


def test_a_closed_end_is_told_apart_from_an_empty_one(pair):
    here, there = pair
    there.socket.close()
    with pytest.raises(Closed):
        here.send({})
    with pytest.raises(Closed):
        here.receive()


def test_what_was_sent_before_the_end_still_arrives(pair):
    here, there = pair
    here.send({"failed": "a reason"})
    here.socket.close()
    assert there.receive() == ({"failed": "a reason"}, [])
    with pytest.raises(Closed):
        there.receive()


@pytest.mark.parametrize("size", [64 * 1024, 1 << 20])
def test_what_is_too_long_is_not_sent(size, pair):
    here, there = pair
    with pytest.raises(ValueError, match="too much for one packet"):
        here.send({"text": "x" * size})
    here.send({"next": 1})
    assert there.receive() == ({"next": 1}, [])


def test_too_many_descriptors_are_not_sent(pair):
    here, _ = pair
    with pytest.raises(ValueError, match="too much for one packet"):
        here.send({}, [0] * 9)


def test_a_packet_that_was_cut_off_is_no_message_and_leaks_nothing(pair):
    """Nobody of ours sends one; half a message must not be taken for one."""
    here, there = pair
    with nothing_stays_open():
        socket.send_fds(here.socket, [json.dumps({"a": "x" * 70_000}).encode()], [0, 1])
        with pytest.raises(Closed):
            there.receive()


def test_a_packet_with_too_many_descriptors_is_no_message_and_leaks_nothing(pair):
    here, there = pair
    with nothing_stays_open():
        socket.send_fds(here.socket, [b"{}"], [0] * 20)
        with pytest.raises(Closed):
            there.receive()


def test_sending_keeps_the_senders_descriptors(pair):
    here, there = pair
    with nothing_stays_open():
        reading, writing = os.pipe()
        here.send({}, [reading])
        os.fstat(reading)
        os.close(reading)
        os.close(writing)
        _, (received,) = there.receive()
        os.close(received)
