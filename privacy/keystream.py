"""The only source of randomness in this package: an AES-256-CTR keystream keyed by the operating system.

It must never be seeded by a caller, copied, pickled, or carried on after a fork: two holders of one state
would draw the same noise, and the difference of their releases would be exact.
"""

from __future__ import annotations

import os
import threading
from typing import Any, NoReturn, TypeVar

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

_Word = TypeVar("_Word", np.uint8, np.uint16, np.uint32, np.uint64)

REKEY_AFTER_BYTES = 2**30
"""About how much is drawn under one key. Output of q = 2^26 AES blocks in CTR mode is told from random bits
with advantage at most q^2 / 2^129 = 2^-77 beyond what AES itself gives away (PRP/PRF switching lemma). The
next key is fresh entropy, not derived from this one."""

_AES_BLOCK_BYTES = 16
_ZEROS = bytes(2**16)

# Counts forks, because a process id alone may repeat: a child in a new pid namespace can be pid 1 as well.
_forks = 0
_process_stream: Keystream | None = None


class Keystream:
    """Uniform random words; safe to share between threads of one process and across forks."""

    def __init__(self) -> None:
        self._segment = _Segment()

    def words(self, n: int, dtype: type[_Word]) -> NDArray[_Word]:
        """A fresh array of n independent uniform words of an unsigned integer dtype."""
        if np.dtype(dtype).kind != "u":
            raise ValueError("keystream words are unsigned integers.")
        size_bytes = n * np.dtype(dtype).itemsize
        # The cipher asks for one spare block behind its output.
        buffer = np.empty(size_bytes + _AES_BLOCK_BYTES, np.uint8)
        view = buffer.data
        for start in range(0, size_bytes, len(_ZEROS)):
            self._fill(view[start:], size_bytes=min(len(_ZEROS), size_bytes - start))
        return buffer[:size_bytes].view(dtype)

    def below(self, n: int) -> int:
        """One integer, uniform over 0..n-1, for n of any size.

        The bits that n - 1 needs are drawn, and drawn again until they are below n: rejection leaves every
        integer equally likely, and stops after less than two rounds on average.
        """
        if n < 1:
            raise ValueError("there is no integer from 0 to below a bound under 1.")
        bits = (n - 1).bit_length()
        size_bytes = -(-bits // 8)
        while True:
            drawn = int.from_bytes(self.words(size_bytes, np.uint8).tobytes(), "big") >> (
                8 * size_bytes - bits
            )
            if drawn < n:
                return drawn

    def _fill(self, out: memoryview, *, size_bytes: int) -> None:
        segment = self._segment
        # Replaced as a whole, lock included: after a fork the lock may belong to a thread that does not
        # exist here, and two threads that both replace the segment each go on with a key of their own.
        if segment.process != _this_process() or segment.exhausted:
            segment = self._segment = _Segment()
        segment.fill(out, size_bytes=size_bytes)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a keystream cannot be pickled: a copy would repeat its noise.")

    def __copy__(self) -> NoReturn:
        raise TypeError("a keystream cannot be copied: a copy would repeat its noise.")

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        raise TypeError("a keystream cannot be copied: a copy would repeat its noise.")


class _Segment:
    """The keystream under one key, which belongs to one process."""

    def __init__(self) -> None:
        self.process = _this_process()
        self._lock = threading.Lock()
        self._drawn_bytes = 0
        self._encryptor = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()

    @property
    def exhausted(self) -> bool:
        return self._drawn_bytes >= REKEY_AFTER_BYTES

    def fill(self, out: memoryview, *, size_bytes: int) -> None:
        with self._lock:
            self._encryptor.update_into(memoryview(_ZEROS)[:size_bytes], out)
            self._drawn_bytes += size_bytes


def process_keystream() -> Keystream:
    """The keystream shared by this process, made on first use. A forked child makes its own."""
    global _process_stream
    if _process_stream is None:
        # Two threads may both get here; each then holds a stream of its own, which is harmless.
        _process_stream = Keystream()
    return _process_stream


def _this_process() -> tuple[int, int]:
    return os.getpid(), _forks


def _forget_after_fork() -> None:
    global _forks, _process_stream
    _forks += 1
    _process_stream = None


os.register_at_fork(after_in_child=_forget_after_fork)
