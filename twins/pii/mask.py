"""Made-up values from reserved ranges, so that none can be somebody's. Generated, never derived from a value.

Equal numbers give equal fakes. Where a range is smaller than the numbers asked for, fakes repeat: telephone
numbers after 80,000, addresses of devices after 256.
"""

from __future__ import annotations

from collections.abc import Callable

from domain.identifier_kind import Kind
from twins.pii.check_digits import bsn, luhn, rest97

_AREAS = 800
_OPEN_SEA = (-48_500_000, 500_000)
"""Both as latitude and as longitude: 48.5 to 49 degrees south and west is open South Atlantic."""


def masks(kind: str, number: int, *, valid_checksum: bool = False) -> str:
    """The fake with this number (0 or more) for a kind of finding.

    Check digits are wrong on purpose; `valid_checksum` makes those of cards, IBANs and identity numbers hold,
    for pipelines that verify them, still in a range that nobody issues from. Raises ValueError for a negative
    number and for an unknown kind.
    """
    if number < 0:
        raise ValueError("number must be 0 or more")
    try:
        known = Kind(kind)
    except ValueError:
        raise ValueError(f"{kind!r} is no kind of finding; use one of {', '.join(Kind)}") from None
    if known in _CHECKED:
        return _CHECKED[known](number, valid_checksum)
    if known in _PLAIN:
        return _PLAIN[known](number)
    return f"{known} {number:04d}"


def _phone(number: int) -> str:
    # 555-0100 to 555-0199 is kept for fiction in every area (ATIS-0300115)
    area, line = divmod(number % (100 * _AREAS), 100)
    return f"+1-{200 + area}-555-01{line:02d}"


def _network(number: int) -> str:
    # RFC 5737 and RFC 3849: for documentation
    if number < 256:
        return f"192.0.2.{number}"
    return f"2001:db8::{number >> 16 & 0xFFFF:x}:{number & 0xFFFF:x}"


def _device(number: int) -> str:
    # RFC 7042, section 2.1.2: for documentation
    return f"00:00:5e:00:53:{number % 256:02x}"


def _sea(number: int) -> str:
    start, width = _OPEN_SEA
    # 7919 has no factor in common with the width: all places are used before one repeats
    return f"{(start - number * 7919 % width) / 1e6:.6f}"


def _date(number: int) -> str:
    return f"{1930 + number % 70}-01-01"


def _postcode(number: int) -> str:
    # no place of the United States has a code that begins with 000
    return f"000{number % 100:02d}"


def _identity(number: int, valid: bool) -> str:
    # no US number has area 000 (SSA, POMS RM 10201.035); no Dutch one is below 10,000,000
    if not valid:
        return f"000-{1 + number // 9999 % 99:02d}-{1 + number % 9999:04d}"
    return (
        _first(f"000{number % 100_000:05d}", bsn) or _first(f"0009{number % 10_000:04d}", bsn) or "000000012"
    )


def _card(number: int, valid: bool) -> str:
    # ISO/IEC 7812-1: 9 is for national use, and 999 is no country of ISO 3166-1
    front = f"9999{number % 10**11:011d}"
    right = _first(front, luhn)
    return right if valid else right[:-1] + str((int(right[-1]) + 5) % 10)


def _iban(number: int, valid: bool) -> str:
    # no Dutch bank is called XXXX; of the check digits 02 to 98 exactly one is right
    account = f"XXXX{number % 10**10:010d}"
    right = 98 - rest97(f"NL00{account}")
    return f"NL{right if valid else 2 + (right - 1) % 97:02d}{account}"


def _first(front: str, holds: Callable[[str], bool]) -> str:
    """With the check digit that holds, or nothing where none does."""
    return next((f"{front}{digit}" for digit in range(10) if holds(f"{front}{digit}")), "")


_CHECKED: dict[Kind, Callable[[int, bool], str]] = {
    Kind.NATIONAL_ID: _identity,
    Kind.CARD: _card,
    Kind.IBAN: _iban,
}
_PLAIN: dict[Kind, Callable[[int], str]] = {
    Kind.EMAIL: lambda number: f"person{number:04d}@example.org",
    Kind.PERSON: lambda number: f"Person {number:04d}",
    Kind.USERNAME: lambda number: f"user{number:04d}",
    Kind.PHONE: _phone,
    Kind.ADDRESS: lambda number: f"{number} Example Street",
    Kind.DATE_OF_BIRTH: _date,
    Kind.DATE: _date,
    Kind.COORDINATE: _sea,
    Kind.RECORD_ID: lambda number: f"record-{number:04d}",
    Kind.FREE_TEXT: lambda number: f"Text {number:04d} was removed.",
    Kind.IP: _network,
    Kind.MAC: _device,
    Kind.URL: lambda number: f"https://example.org/{number:04d}",
    Kind.PASSPORT: lambda number: f"XX{number:07d}",
    Kind.DRIVING_LICENCE: lambda number: f"XX{number:08d}",
    Kind.LICENCE_PLATE: lambda number: f"XX-{number:04d}",
    Kind.POSTCODE: _postcode,
    Kind.PLACE: lambda number: f"Place {number:04d}",
}
