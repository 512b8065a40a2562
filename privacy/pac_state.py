"""What PAC privacy remembers of a cohort: which world is the secret one, and what its releases told about it.

As secret as the data: whoever reads it knows who was analysed. It is stored sealed and shown to nobody, and
the text form of an object says nothing. Every release must start from the state that the last one left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from functools import cached_property

import numpy as np

from privacy.half_samples import WORLDS
from privacy.keystream import Keystream, process_keystream

LOG_BITS = 128
"""Log-weights are whole multiples of 2^-128 nat, because `Pac` draws noise whose 1/(2 variance) is one."""

WEIGHT_BITS = 128

_TAG = b"PAC\x01"
_LOG_BYTES = 32
PACKED_BYTES = len(_TAG) + 1 + WORLDS * _LOG_BYTES
_CONTEXT = Context(prec=70, rounding=ROUND_CEILING)


@dataclass(frozen=True, repr=False)
class PacState:
    """The secret world J, and for each world the exact logarithm of its posterior weight.

    `logs[j]` is ln(w_j / max w) in units of 2^-128 nat, a whole number from 0 down, where w is the posterior
    of somebody who knows the outputs of all 64 worlds and all releases so far. Raises ValueError otherwise.
    """

    secret: int
    logs: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 0 <= self.secret < WORLDS:
            raise ValueError("platform bug: the secret world is not one of the worlds.")
        if len(self.logs) != WORLDS or max(self.logs) != 0:
            raise ValueError("platform bug: a PAC state holds one log-weight per world, the largest 0.")

    def __repr__(self) -> str:
        return "PacState(secret)"

    @classmethod
    def draw(cls, *, keystream: Keystream | None = None) -> PacState:
        """The state before the first release: a secret world drawn uniformly, nothing known about it."""
        stream = keystream if keystream is not None else process_keystream()
        # 64 divides 256: every world is equally likely
        return cls(secret=int(stream.words(1, np.uint8)[0]) % WORLDS, logs=(0,) * WORLDS)

    def learned(self, log_likelihoods: Sequence[int]) -> PacState:
        """The state after a release: Bayes' rule, exactly. Logarithms are in units of 2^-128 nat."""
        logs = [log + more for log, more in zip(self.logs, log_likelihoods, strict=True)]
        largest = max(logs)
        return PacState(secret=self.secret, logs=tuple(log - largest for log in logs))

    @cached_property
    def weights(self) -> tuple[list[int], int]:
        """Upper bounds u_j >= w_j of the posterior, as whole numbers over one denominator.

        Let x_j = 2^128 w_j / max w, so that x = 2^128 for the largest, and E_j a whole number with
        x_j <= E_j <= x_j + 2, which is x itself for the largest. Then
            w_j = x_j / sum x <= E_j / (sum E - 2 * 63) = u_j:
        a numerator that is not too small over a denominator that is not too large. Where w_j > 2^-8, u_j is
        above it by a factor below 1 + 2^-116.
        """
        numerators = [_scaled_weight(log) for log in self.logs]
        return numerators, sum(numerators) - 2 * (WORLDS - 1)

    def pack(self) -> bytes:
        """A fixed number of bytes, so that the size of what is stored says nothing.

        One release moves a difference of log-weights by less than 2^74 nat: at most 20 outputs, worlds at
        most 2^21 steps apart, a release within 2^64 of both, 1/(2 variance) at most 2^-17. 256 bits hold
        2^128 nat, hence the log-weights of 2^54 releases.
        """
        return b"".join([_TAG, bytes([self.secret]), *((-log).to_bytes(_LOG_BYTES) for log in self.logs)])

    @classmethod
    def unpack(cls, packed: bytes) -> PacState:
        """The inverse of `pack`. Raises ValueError for bytes that it cannot have made."""
        if len(packed) != PACKED_BYTES or not packed.startswith(_TAG):
            raise ValueError("platform bug: these bytes are no PAC state.")
        secret, rest = packed[len(_TAG)], packed[len(_TAG) + 1 :]
        parts = (rest[start : start + _LOG_BYTES] for start in range(0, len(rest), _LOG_BYTES))
        return cls(secret=secret, logs=tuple(-int.from_bytes(part) for part in parts))


def _scaled_weight(log: int) -> int:
    """An integer from x to x + 2, where x = 2^128 exp(log / 2^128); exactly x for log = 0.

    70 digits are 31 more than 2^128 has. The logarithm is rounded up, exp to nearest (Decimal knows no other
    way), and one part in 10^60 is added for that; the result exceeds x by less than 2^128 10^-59 < 2^-60
    before it is rounded up to a whole number. Below -100 nat, x < 2^-16 and the answer is 1.
    """
    if log == 0:
        return 1 << WEIGHT_BITS
    if log < -100 * 2**LOG_BITS:
        return 1
    with localcontext(_CONTEXT):
        nats = Decimal(log) / Decimal(2**LOG_BITS)
        weight = Decimal(2**WEIGHT_BITS) * nats.exp() * (1 + Decimal(10) ** -60)
        return int(weight.to_integral_value())
