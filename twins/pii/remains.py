"""What a column is of which no rule knows anything: numbers and categories stay, and text does not."""

from __future__ import annotations

from domain.identifier_kind import Kind
from twins.pii.codes import UNSPECIFIC
from twins.pii.tally import PERSON, Tally
from twins.pii.verdict import Verdict, verdict

MOSTLY, SOME = 0.8, 0.5
FEWEST = 5

LONG = 7
"""Digits of whole numbers, from which on they may be telephones and numbers of people."""

ONE_LENGTH, HUGE = 0.95, 15
"""Share of long numbers of one length, and digits of one number, from which on numbers are keys."""

SHORT, FEWEST_DRAWN, SELDOM_TWICE = 5, 50, 0.95
"""Digits of numbers that may be drawn for people, and how many values, and different ones, show it."""

PADDED = 0.02
"""Share of fractions with a zero too many in front, from which on they are no measurements."""


def by_moments(tally: Tally, *, says_time: bool) -> Verdict | None:
    """Ten digits that begin with 1, or thirteen: seconds since 1970, or thousandths, as a header has to say.
    Offices number people so, too: physicians of the United States, citizens of Colombia and Romania."""
    if tally.share("code: unix time") < MOSTLY or tally.of_present(tally.numbers.whole) < MOSTLY:
        return None
    if says_time:
        why = "Moments, in seconds; that of an event can single somebody out."
        return verdict(Kind.DATE, 0.7, why, "code: unix time")
    why = "Ten digits or thirteen that begin with 1: moments, or numbers of people."
    return verdict(Kind.TEXT, 0.4, why, "code: unix time")


def what_remains(tally: Tally) -> Verdict:
    """Numbers and categories stay. Text that nobody knows does not, until somebody says what it is."""
    if tally.share("fraction behind zeros") >= PADDED:
        why = "Fractions of which some begin with zeros, as numbers of people do and measurements do not."
        return verdict(Kind.TEXT, 0.4, why, "fraction behind zeros")
    if _are_longer_than_amounts(tally):
        why = "Long whole numbers of one length, or longer than any amount: keys, perhaps of people."
        return verdict(Kind.TEXT, 0.4, why)
    if _are_long_and_seldom_repeat(tally):
        why = "Long whole numbers that seldom repeat: amounts, or telephones and numbers of people."
        return verdict(Kind.TEXT, 0.4, why)
    if _fill_their_length(tally):
        why = "Whole numbers of one length, evenly from its least to its most: drawn, perhaps for people."
        return verdict(Kind.TEXT, 0.4, why)
    if tally.of_present(tally.numbers.count) >= MOSTLY:
        return verdict(Kind.NUMBER, 0.7, "Numbers in which nothing was recognised.")
    rule, share = code_of(tally, specific=False)
    if share >= MOSTLY:
        return verdict(Kind.CODE, 0.6, "Short codes in which nothing was recognised.", rule)
    if _are_codes_that_repeat(tally):
        why = "Codes of letters and digits that repeat: people with several rows, or things."
        return verdict(Kind.TEXT, 0.4, why, "mixed")
    if _is_category(tally):
        if _may_be_names(tally):
            return verdict(Kind.TEXT, 0.4, "A few categories that repeat; some may be people's names.")
        if tally.mean("ADDRESS") >= 0.6:
            return verdict(Kind.TEXT, 0.4, "A few categories that repeat; some may be addresses.")
        return verdict(Kind.CATEGORY, 0.6, "A few categories that repeat.")
    return verdict(Kind.TEXT, 0.4, "Text with many different values; nobody has said yet what it holds.")


def _are_long_and_seldom_repeat(tally: Tally) -> bool:
    long = sum(count for digits, count in tally.numbers.lengths.items() if digits >= LONG)
    return tally.present >= FEWEST and tally.different >= SOME and tally.of_present(long) >= MOSTLY


def _are_codes_that_repeat(tally: Tally) -> bool:
    return tally.share("mixed") >= MOSTLY and tally.distinct.count >= FEWEST


def _fill_their_length(tally: Tally) -> bool:
    """All between 10 000 and 99 999, say, hardly one twice, and as many below the middle as above it: amounts
    are more often small, or pass into another length."""
    numbers = tally.numbers
    if len(numbers.lengths) != 1 or tally.present < FEWEST_DRAWN or tally.different < SELDOM_TWICE:
        return False
    [(length, cells)] = numbers.lengths.items()
    middle = 5.5 * 10 ** (length - 1)
    is_even = abs(numbers.mean - middle) <= 0.15 * middle
    return cells == tally.present and length >= SHORT and numbers.high >= 8 * numbers.low and is_even


def _are_longer_than_amounts(tally: Tally) -> bool:
    """However often they repeat: amounts have several lengths, and few have a dozen digits."""
    numbers = tally.numbers
    if tally.distinct.count < FEWEST or tally.of_present(numbers.whole) < MOSTLY or tally.years:
        return False
    length, cells = max(numbers.lengths.items(), key=lambda each: each[1], default=(0, 0))
    return (length >= LONG and tally.of_present(cells) >= ONE_LENGTH) or numbers.high >= 10**HUGE


def _is_category(tally: Tally) -> bool:
    """A few values that come more than once. Where nearly each is another, they may be anything."""
    if tally.distinct.count > max(50, 0.01 * tally.present):
        return False
    is_short = tally.distinct.count <= 12 and (tally.different < MOSTLY or tally.present < FEWEST)
    return tally.different <= SOME or is_short


def _may_be_names(tally: Tally) -> bool:
    person = tally.mean(*PERSON)
    are_known = tally.known_share >= MOSTLY and tally.distinct.count >= FEWEST
    return person >= 0.4 or tally.share("full name form") >= MOSTLY or (are_known and person >= 0.15)


def code_of(tally: Tally, *, specific: bool) -> tuple[str, float]:
    shares = {
        mark: tally.share(mark)
        for mark in tally.marks
        if mark.startswith("code: ") and not (specific and mark.removeprefix("code: ") in UNSPECIFIC)
    }
    best = max(shares, key=lambda mark: (shares[mark], mark), default="")
    return best, shares.get(best, 0.0)
