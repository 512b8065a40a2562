"""Steps of a decision that look at a column as one list: running numbers, a plan, frequent names."""

from __future__ import annotations

from domain.identifier_kind import Kind
from twins.pii.phones import FEWEST_BARE, MOST_ASKED, NEARLY_ALL
from twins.pii.remains import FEWEST, MOSTLY, SOME
from twins.pii.tally import MOST_LETTERS, Tally
from twins.pii.verdict import Verdict, verdict

FEWEST_REPEATED, LEAST_DIFFERENT = 100, 0.2
"""Different values and their share, of which names need one: a few that repeat are shops and stations."""

FREQUENT = 0.1
"""Share of values with a frequent family name, from which on a column holds names of Japan."""

SPREAD = 400
"""Of all numbers of a length, telephones of one country cover more than one part in so many."""

NUMBERED = 10
"""Different numbers behind one letter, from which on they may be those of people."""


def by_phones(tally: Tally) -> Verdict | None:
    """Numbers as they are written at home, nearly all of which one country's plan has."""
    asked = tally.phones.asked
    if asked < FEWEST or tally.different < 0.5 or tally.phones.share < NEARLY_ALL:
        return None
    if asked < SOME * min(MOST_ASKED, tally.distinct.count):
        return None  # a few postcodes with a line have the digits of a telephone
    if tally.of_present(tally.with_letters) >= 0.2 or sum(tally.years.values()) >= 0.5 * tally.present:
        return None
    if (
        tally.numbers.count >= MOSTLY * tally.present
        and not tally.numbers.leading_zero
        and _are_amounts(tally)
    ):
        return None
    return verdict(Kind.PHONE, 0.7, "Nearly all values are telephone numbers of one country's plan.")


def _are_amounts(tally: Tally) -> bool:
    """Numbers in a row, amounts or moments: telephones of a plan are of one length and lie far apart."""
    [(length, cells)] = tally.numbers.lengths.most_common(1) or [(0, 0)]
    is_far = SPREAD * (tally.numbers.high - tally.numbers.low) >= 10**length
    is_telephone = cells >= NEARLY_ALL * tally.present and length >= FEWEST_BARE and is_far
    return not is_telephone or tally.share("code: unix time") >= MOSTLY


def by_numbered(tally: Tally) -> Verdict | None:
    """Letters and a number of one width, of which hardly any is left out, as people on a list have."""
    different = tally.distinct.count
    if tally.share("code: accession", "code: rs number", "code: specimen", "code: grant") >= SOME:
        return None
    if tally.numbered.are_listed(tally.present, different):
        why = "The same letters with a running number of one width: who lists people numbers them so."
        return verdict(Kind.RECORD_ID, 0.6, why)
    if tally.numbered.may_be_listed(tally.present, different) and tally.share("code: icd-10") < MOSTLY:
        return verdict(
            Kind.TEXT, 0.4, "One letter with a running number: people who are numbered, or questions."
        )
    return None


def by_letter(tally: Tally) -> Verdict | None:
    """`X01`, `Y01` and so on: codes of a few chapters of a catalogue, or people who are numbered."""
    if len(tally.firsts) > MOST_LETTERS or tally.distinct.count < NUMBERED or set(tally.shapes) != {"A9***"}:
        return None
    if tally.share("code: icd-10") < MOSTLY:
        return None
    why = "Numbers behind a letter: codes of a few chapters of a catalogue, or people who are numbered."
    return verdict(Kind.TEXT, 0.4, why, "code: icd-10")


def by_japan(tally: Tally) -> Verdict | None:
    """Where so many values begin with frequent family names of Japan, the rest have rarer ones."""
    if tally.share("name of japan") < FREQUENT or tally.distinct.count < NUMBERED:
        return None
    if tally.different < LEAST_DIFFERENT and tally.distinct.count < FEWEST_REPEATED:
        return None
    return verdict(
        Kind.PERSON, 0.7, "Many values begin with frequent family names of Japan.", "name of japan"
    )
