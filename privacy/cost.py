"""What a release takes from an account: exact integers, one for each currency, never added across currencies.

Each guarantee class has a currency of its own, so that an "epsilon left" never counts something that is no
epsilon. Losses are rounded up and noise scales never down: an account may overstate a loss, not understate
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from privacy.loss import MAX_MICRO_EPSILON, MICRO

PICO = 10**12
ATTO = 10**18


class Currency(StrEnum):
    """What one account counts, in whole units of `1 / per_one`."""

    EPSILON = "epsilon"  # pure and approximate differential privacy
    DELTA = "delta"  # approximate differential privacy, beside epsilon
    RHO = "rho"  # zero-concentrated differential privacy, instead of epsilon and delta
    NATS = "nats"  # PAC privacy: mutual information
    RELEASES = "releases"  # empirical: no loss is known, so releases are counted

    @property
    def per_one(self) -> int:
        """Integer units that make one of this currency: micro-epsilon, atto-delta, pico-rho, micro-nats."""
        return _PER_ONE[self]

    @property
    def largest(self) -> int:
        """The most, in units, that one release may take."""
        return _LARGEST[self]


_PER_ONE = {
    Currency.EPSILON: MICRO,
    Currency.DELTA: ATTO,
    Currency.RHO: PICO,
    Currency.NATS: MICRO,
    Currency.RELEASES: 1,
}
_LARGEST = {
    Currency.EPSILON: MAX_MICRO_EPSILON,
    Currency.DELTA: ATTO // 100,  # a delta above 1 % is refused everywhere
    Currency.RHO: 500_000 * PICO,  # of epsilon 1000
    Currency.NATS: 4_158_883,  # ln 64: the secret world holds no more
    Currency.RELEASES: 1,
}


@dataclass(frozen=True)
class Cost:
    """Positive integer units per currency, in a fixed order. Raises ValueError for anything else."""

    amounts: tuple[tuple[Currency, int], ...]

    @classmethod
    def of(cls, amounts: Mapping[Currency, int]) -> Cost:
        return cls(tuple(sorted(amounts.items())))

    def __post_init__(self) -> None:
        if not self.amounts:
            raise ValueError("a release costs something in at least one currency.")
        if [currency for currency, _ in self.amounts] != sorted({currency for currency, _ in self.amounts}):
            raise ValueError("a cost names each currency once, in order.")
        for currency, amount in self.amounts:
            check_amount(currency, amount)

    def __iter__(self) -> Iterator[tuple[Currency, int]]:
        return iter(self.amounts)

    def __getitem__(self, currency: Currency) -> int:
        """Units of this currency; 0 where nothing of it is taken."""
        return dict(self.amounts).get(currency, 0)


def check_amount(currency: Currency, amount: int) -> None:
    """Raise ValueError unless `amount` is a positive int that one release may take of this currency."""
    # a negative amount would refill an account: that bug has been shipped elsewhere
    if isinstance(amount, bool) or not isinstance(amount, int) or not 0 < amount <= currency.largest:
        raise ValueError(
            f"an amount of {currency} is a positive whole number of units, at most {currency.largest}."
        )


def format_amount(currency: Currency, amount: int) -> str:
    """Units as the shortest exact decimal text of the currency itself: 1_500_000 of epsilon gives "1.5"."""
    places = len(str(currency.per_one)) - 1
    whole, rest = divmod(abs(amount), currency.per_one)
    text = f"{'-' if amount < 0 else ''}{whole}"
    return f"{text}.{rest:0{places}d}".rstrip("0").rstrip(".") if rest else text


def exact(currency: Currency, amount: int) -> Fraction:
    """Units as an exact fraction of the currency itself."""
    return Fraction(amount, currency.per_one)
