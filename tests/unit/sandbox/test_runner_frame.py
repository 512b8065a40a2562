"""The worker's reading of the runner's message: exactly what was ordered, or broken."""

from dataclasses import replace

import pytest

from sandbox_images import runner
from sandbox_images.output_tree import framed
from worker.sandbox.frame import HELLO, BrokenFrame, longest_frame, parse_frame
from worker.sandbox.protocol import Audience, Cause, Limits, SlotOrder

ORDER = SlotOrder(
    image=None,
    code={},
    command=("x",),
    levels=("participant", "group"),
    outputs=("a", "b/c"),
    limits=Limits(1, 1, 1, file_bytes=8),
    audience=Audience.ORIGINAL,
)
FILES = b"\0\0\0\2" + b"\0\0\0\1" + b"x" + b"\0\0\0\0"
GOOD = HELLO + runner.report(runner.COMPLETED, 1, 0) + FILES


def test_good_message():
    frame = parse_frame(GOOD, ORDER)
    assert (frame.cause, frame.level, frame.outputs) == (Cause.COMPLETED, "group", {"a": b"x", "b/c": b""})


@pytest.mark.parametrize(
    ("outcome", "cause"),
    [
        (runner.EXIT, Cause.EXIT),
        (runner.SIGNAL, Cause.SIGNAL),
        (runner.START, Cause.START),
        (runner.OUTPUT, Cause.OUTPUT),
    ],
)
def test_failures_carry_no_outputs(outcome, cause):
    frame = parse_frame(HELLO + runner.report(outcome, 0, -9), ORDER)
    assert (frame.cause, frame.exit_code, frame.outputs) == (cause, -9, None)


def test_every_truncation_is_broken(subtests):
    for length in range(len(GOOD)):
        with subtests.test(length=length), pytest.raises(BrokenFrame):
            parse_frame(GOOD[:length], ORDER)


REPORT = HELLO + runner.report(runner.COMPLETED, 1, 0)


ANYTHING_ELSE_IS_BROKEN = (
    GOOD + b"\0",
    b"dpgate0\n" + GOOD[8:],
    HELLO + runner.report(5, 0, 0),
    HELLO + runner.report(runner.EXIT, 2, 1),  # there is no third level
    HELLO + runner.report(runner.EXIT, 0, 1) + FILES,
    REPORT + b"\0\0\0\1" + b"\0\0\0\0",  # one file too few
    REPORT + b"\0\0\0\3" + 3 * b"\0\0\0\0",
    REPORT + b"\0\0\0\2" + b"\0\0\0\x09" + b"123456789" + b"\0\0\0\0",  # over the cap
    REPORT + b"\0\0\0\2" + b"\xff\xff\xff\xff",
)


def test_anything_else_is_broken(subtests):
    for message in ANYTHING_ELSE_IS_BROKEN:
        with subtests.test(message=message), pytest.raises(BrokenFrame):
            parse_frame(message, ORDER)


def test_longest_message_has_room_for_full_outputs():
    full = b"\0\0\0\2" + 2 * (b"\0\0\0\x08" + b"12345678")
    message = HELLO + runner.report(runner.COMPLETED, 0, 0) + full
    assert len(message) == longest_frame(ORDER)
    assert parse_frame(message, ORDER).outputs == {"a": b"12345678", "b/c": b"12345678"}


def test_both_sides_say_the_same_hello():
    assert runner.HELLO == HELLO


def test_a_tree_is_framed_with_its_paths():
    order = replace(ORDER, outputs=(), tree=True, limits=Limits(1, 1, 1, output_bytes=8, inodes=3))
    good = runner.report(runner.COMPLETED, 0, 0)
    message = HELLO + good + b"".join(framed({"a": b"1", "b/c": b"23"}))
    assert parse_frame(message, order).outputs == {"a": b"1", "b/c": b"23"}
    assert len(message) < longest_frame(order)
    with pytest.raises(BrokenFrame):
        parse_frame(HELLO + good + b"".join(framed({"a": b"1", "b/c": b"2345"})), order)
    with pytest.raises(BrokenFrame):
        parse_frame(message, ORDER)  # of an order with named outputs
