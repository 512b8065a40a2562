import copy
import os
import pickle
import threading
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import pytest

from privacy import keystream
from privacy.keystream import Keystream, process_keystream

# A forked child only draws and writes to a pipe, so other threads do not matter to it (Python 3.12 warns).
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def in_child(draw: Callable[[], bytes]) -> bytes:
    """What `draw` returns in a forked child."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        # the child leaves here whatever happens: it must not run the rest of the test session
        try:
            os.write(writer, draw())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        result = pipe.read()
    assert os.waitpid(pid, 0)[1] == 0
    return result


def test_words_have_the_size_and_type_asked_for(subtests):
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
        for n in (0, 1, 7, 100_000):
            with subtests.test(dtype=dtype, n=n):
                words = Keystream().words(n, dtype)
                assert words.shape == (n,)
                assert words.dtype == dtype


def test_words_are_uniform_over_several_refills():
    bits = np.unpackbits(Keystream().words(1_000_000, np.uint8))
    assert abs(bits.mean() - 0.5) < 5 / (2 * bits.size**0.5)


def test_words_must_be_unsigned():
    with pytest.raises(ValueError, match="unsigned"):
        Keystream().words(1, np.int64)


def test_below_stays_below(subtests):
    for n in (1, 2, 3, 255, 256, 257, 10**40):
        with subtests.test(n=n):
            stream = Keystream()
            drawn = [stream.below(n) for _ in range(300)]
            assert all(0 <= integer < n for integer in drawn)
            assert len(set(drawn)) >= min(n, 100)


def test_below_uses_the_top_bits_of_whole_bytes_and_draws_again():
    class Scripted(Keystream):
        given: ClassVar = [b"\xff\xff", b"\x80\x40", b"\x12\x3f"]

        def words(self, n, dtype):
            assert (n, dtype) == (2, np.uint8)
            return np.frombuffer(self.given.pop(0), np.uint8)

    # ten bits: 1023 and 513 are not below 513, 72 is
    assert Scripted().below(513) == 0x123F >> 6


@pytest.mark.parametrize("n", [0, -5])
def test_below_needs_a_bound(n):
    with pytest.raises(ValueError, match="bound under 1"):
        Keystream().below(n)


def test_nothing_repeats_within_or_between_streams():
    one, other = Keystream(), Keystream()
    drawn = [one.words(4, np.uint64).tobytes() for _ in range(100)]
    drawn += [other.words(4, np.uint64).tobytes() for _ in range(100)]
    assert len(set(drawn)) == 200


def test_new_key_after_the_stated_amount(monkeypatch):
    monkeypatch.setattr(keystream, "REKEY_AFTER_BYTES", 2**17)
    stream = Keystream()
    first = stream._segment
    stream.words(2**17, np.uint8)
    assert stream._segment is first
    stream.words(1, np.uint8)
    assert stream._segment is not first


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, pickle.dumps, lambda stream: pickle.dumps({"nested": [stream]})]
)
def test_a_stream_cannot_be_duplicated(duplicate):
    with pytest.raises(TypeError, match="repeat its noise"):
        duplicate(Keystream())


@pytest.mark.needs(process=True)
def test_process_stream_is_shared_and_forgotten_by_a_child():
    parent = process_keystream()
    assert process_keystream() is parent
    assert in_child(lambda: str(process_keystream() is parent).encode()) == b"False"


def test_what_runs_in_a_forked_child_starts_a_new_key():
    stream = process_keystream()
    first = stream._segment
    keystream._forget_after_fork()
    assert process_keystream() is not stream
    stream.words(1, np.uint8)
    assert stream._segment is not first


@pytest.mark.needs(process=True)
@pytest.mark.parametrize("make", [Keystream, process_keystream])
def test_parent_and_children_draw_different_words(make):
    stream = make()
    stream.words(1, np.uint8)

    def draw() -> bytes:
        return stream.words(4, np.uint64).tobytes()

    drawn = [in_child(draw), in_child(draw), draw(), in_child(lambda: in_child(draw))]
    assert all(len(words) == 32 for words in drawn)
    assert len(set(drawn)) == 4


def test_pid_alone_starts_a_new_key(monkeypatch):
    """A fork that Python's hooks do not see, in C code, is still noticed."""
    stream = Keystream()
    first = stream._segment
    monkeypatch.setattr(os, "getpid", lambda: -1)
    stream.words(1, np.uint8)
    assert stream._segment is not first


@pytest.mark.needs(process=True)
def test_a_lock_held_at_the_fork_does_not_block_the_child():
    stream = Keystream()
    with stream._segment._lock:
        assert len(in_child(lambda: stream.words(1, np.uint64).tobytes())) == 8


def test_threads_never_get_the_same_words():
    stream, drawn = Keystream(), []

    def draw() -> None:
        drawn.extend(stream.words(2, np.uint64).tobytes() for _ in range(500))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 2000
