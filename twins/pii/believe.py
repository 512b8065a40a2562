"""Whether the values of a column could be what its header says: a word alone flags nothing."""

from __future__ import annotations

from collections.abc import Callable

from domain.identifier_kind import Kind
from twins.pii.dates import year_of_serial
from twins.pii.tally import PERSON, Tally
from twins.pii.verdict import CLASS_OF, NOUNS, Verdict, verdict

BY_HEADER = 0.8


UNLIKE = 0.1
"""The model's mean below which values are no names at all, such as those of electrodes."""

PLAIN_NAME, KNOWN_NAMES = 0.6, 0.4
"""The model's mean, or the share of words that people are called by, from which on a `name` is of people."""


def by_header(kind: Kind, tally: Tally, *, is_plain_name: bool = False) -> Verdict | None:
    """The verdict that a header asks for, if the values allow it. None where they speak against it.

    `is_plain_name`: it says `name` and not whose, as columns of towns, shops and courses are called too.
    """
    if not _COULD_BE.get(kind, _varied)(tally):
        return None
    if kind is Kind.PERSON and is_plain_name and not _are_called_so(tally):
        return None
    if kind is Kind.DATE_OF_BIRTH and not _is_date(tally):
        return verdict(Kind.AGE, 0.7, "The header speaks of a birth, the values of years.", "header")
    if kind is Kind.FREE_TEXT and tally.words_each < 2 and tally.different < 0.5:
        return None
    return verdict(
        kind, BY_HEADER, f"The header says that it holds {NOUNS[kind]}, and the values allow it.", "header"
    )


def is_direct(kind: Kind) -> bool:
    return kind not in CLASS_OF


def _varied(tally: Tally) -> bool:
    """More than a few codes such as yes and no."""
    return tally.distinct.count > 2 or tally.present <= 3


def _letters(tally: Tally) -> bool:
    return tally.of_present(tally.with_letters) >= 0.5 and _varied(tally)


def _no_sentences(tally: Tally) -> bool:
    return _letters(tally) and tally.of_present(tally.sentences) < 0.5 and tally.words_each < 8


def _person(tally: Tally) -> bool:
    """Names of electrodes and of months are names as well: the model has to see at least a few of people."""
    unlike = (
        tally.scored and tally.mean(*PERSON) < UNLIKE and tally.share("full name form", "name form") < 0.5
    )
    return _no_sentences(tally) and not unlike


def _are_called_so(tally: Tally) -> bool:
    """Of scripts without capitals the model and the list know too little to speak against a header."""
    if not tally.scored or tally.of_present(tally.cased) < 0.5:
        return True
    if tally.share("organisation") >= 0.5:
        return False
    return tally.mean(*PERSON) >= PLAIN_NAME or tally.known_share >= KNOWN_NAMES


def _long_numbers(tally: Tally) -> bool:
    """Not small numbers, measurements or years: six digits or more, or letters among digits."""
    small = sum(count for length, count in tally.numbers.lengths.items() if length < 6)
    measured = tally.numbers.count - tally.numbers.whole
    return (
        _varied(tally)
        and tally.of_present(small + measured) < 0.5
        and tally.of_present(tally.sentences) < 0.5
    )


def _card(tally: Tally) -> bool:
    return tally.share("card, spreadsheet") >= 0.5 or _long_numbers(tally)


def _phone(tally: Tally) -> bool:
    return _long_numbers(tally) and tally.of_present(tally.with_letters) < 0.5


def _identifier(tally: Tally) -> bool:
    measured = tally.numbers.count - tally.numbers.whole
    return _varied(tally) and tally.of_present(measured) < 0.5 and tally.words_each < 3


def _is_date(tally: Tally) -> bool:
    if tally.of_present(sum(tally.years.values())) >= 0.5:
        return True
    # a spreadsheet's serial numbers: days since 1899 that fall into the lifetimes of people now alive
    numbers = tally.numbers
    serial = (
        tally.of_present(numbers.count) >= 0.9
        and year_of_serial(max(numbers.low, 0)) >= 1900
        and numbers.low >= 2500
    )
    return serial and numbers.high < 80_000


def _date_or_year(tally: Tally) -> bool:
    return _is_date(tally) or _years(tally)


def _years(tally: Tally) -> bool:
    return (
        tally.of_present(tally.numbers.whole) >= 0.9
        and tally.numbers.low >= 1850
        and tally.numbers.high <= 2150
    )


def _age(tally: Tally) -> bool:
    numeric = (
        tally.of_present(tally.numbers.count) >= 0.5 and tally.numbers.low >= 0 and tally.numbers.high <= 130
    )
    return (
        numeric or _years(tally) or (tally.present > 0 and tally.words_each < 3 and tally.distinct.count > 1)
    )


def _coordinate(tally: Tally) -> bool:
    numbers = tally.numbers
    if tally.share("has coordinates", "degrees") >= 0.5:
        return True
    fractional = tally.of_present(numbers.count - numbers.whole) >= 0.5
    return (
        fractional and numbers.low >= -180 and numbers.high <= 180 and tally.of_present(numbers.count) >= 0.9
    )


def _email(tally: Tally) -> bool:
    return tally.share("has email", "whole email") >= 0.2 or (
        tally.different > 0.5 and tally.of_present(tally.with_letters) > 0.5
    )


def _plate(tally: Tally) -> bool:
    return _letters(tally) and tally.share("plate", "mixed") >= 0.5


def _few_words(tally: Tally) -> bool:
    return tally.words_each < 8


def _place(tally: Tally) -> bool:
    return _letters(tally) and tally.words_each < 6


def _web(tally: Tally) -> bool:
    return tally.share("url") >= 0.5


def _machine(tally: Tally) -> bool:
    return tally.share("ip 4", "ip 6") >= 0.5


_COULD_BE: dict[Kind, Callable[[Tally], bool]] = {
    Kind.EMAIL: _email,
    Kind.PERSON: _person,
    Kind.USERNAME: _letters,
    Kind.PHONE: _phone,
    Kind.CARD: _card,
    Kind.IBAN: _long_numbers,
    Kind.NATIONAL_ID: _long_numbers,
    Kind.PASSPORT: _long_numbers,
    Kind.ADDRESS: _letters,
    Kind.DRIVING_LICENCE: _long_numbers,
    Kind.LICENCE_PLATE: _plate,
    Kind.DATE_OF_BIRTH: _date_or_year,
    Kind.COORDINATE: _coordinate,
    Kind.RECORD_ID: _identifier,
    Kind.POSTCODE: _identifier,
    Kind.IP: _machine,
    Kind.URL: _web,
    Kind.AGE: _age,
    Kind.DATE: _is_date,
    Kind.SEX: _few_words,
    Kind.DEMOGRAPHIC: _few_words,
    Kind.BELIEF: _few_words,
    Kind.HEALTH: _few_words,
    Kind.PLACE: _place,
    Kind.OCCUPATION: _letters,
}
