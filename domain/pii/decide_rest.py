"""The last steps of a decision: coordinates, text, the character model, keys, and what nobody knows."""

from __future__ import annotations

from domain.pii.codes import UNSPECIFIC
from domain.pii.finding import Kind
from domain.pii.tally import Tally
from domain.pii.verdict import Verdict, verdict

MOSTLY = 0.8
LIKELY, SURELY = 0.42, 0.75
"""The model's mean probability of a name that a column of many, or of few, different values needs."""

KEY = 0.95
"""Different values for each value, from which on a column tells people apart."""

FEWEST = 5
PERSON = ("GIVEN", "FAMILY", "FULL_NAME")


def has_code_of(tally: Tally) -> Verdict | None:
    """Codes of catalogues, where most values are of one kind that nothing else is written like."""
    rule, share = _code(tally, specific=True)
    if share < MOSTLY:
        return None
    return verdict(
        Kind.CODE, 0.8, "Codes of a catalogue, measurements or versions: nothing about one person.", rule
    )


def by_coordinates(tally: Tally) -> Verdict | None:
    """Of fine resolution and of one region: homes, perhaps. Others cannot be told from measurements."""
    numbers = tally.numbers
    if (
        numbers.count < MOSTLY * tally.present
        or tally.of_present(numbers.precise) < MOSTLY
        or tally.distinct.count < FEWEST
    ):
        return None
    is_regional = numbers.high - numbers.low <= 12 and abs(numbers.low) <= 180 and abs(numbers.high) <= 180
    if is_regional and abs(numbers.mean) >= 3 and numbers.high - numbers.low < abs(numbers.mean):
        return verdict(
            Kind.COORDINATE,
            0.5,
            "Numbers with four decimals or more, all near each other: perhaps coordinates.",
        )
    return None


def by_text(tally: Tally) -> Verdict | None:
    """Sentences, unless they are the same few: answers of a questionnaire."""
    few = tally.distinct.count <= max(12, 0.02 * tally.present)
    if few and tally.different < 0.5 and not tally.long:
        return None
    if tally.of_present(tally.sentences + tally.long) >= 0.3 or tally.words_each >= 8:
        return verdict(Kind.FREE_TEXT, 0.85, "Sentences in people's own words, which can name anybody.")
    return None


def by_model(tally: Tally, *, doubtful: bool) -> Verdict | None:
    """What the character model sees in the different values, where no rule knows.

    `doubtful` where the header speaks of a thing: then only what surely looks like names is.
    """
    if tally.scored < 3 or tally.of_present(tally.with_letters) < MOSTLY:
        return None
    if _code(tally, specific=False)[1] >= MOSTLY:
        return None
    is_category = tally.distinct.count <= 12 and tally.different < 0.2
    person, needed = tally.mean(*PERSON), SURELY if is_category or doubtful else LIKELY
    others = max(tally.mean("TERM", "CODE"), tally.mean("PLACE"), tally.mean("ORGANISATION"))
    if tally.mean("ADDRESS") >= 0.6 and tally.share("house number") >= MOSTLY:
        return verdict(Kind.ADDRESS, 0.6, "Most values look like postal addresses.")
    if (person >= needed and person > others) or (tally.share("comma name") >= MOSTLY and person >= 0.3):
        return verdict(Kind.PERSON, min(0.9, person), "Most values look like people's names.", "comma name")
    if tally.mean("USERNAME") >= 0.6 and tally.different >= 0.7 and not is_category:
        return verdict(Kind.USERNAME, 0.6, "Most values look like user names.")
    if tally.mean("PLACE") >= 0.6:
        return verdict(Kind.PLACE, 0.5, "Most values look like places.")
    return None


def by_key(tally: Tally) -> Verdict | None:
    """A value of its own for everybody tells people apart, whatever it is called."""
    if tally.present < FEWEST or tally.different < KEY:
        return None
    codes = _code(tally, specific=False)[1]
    if tally.share("mixed") >= MOSTLY and codes < MOSTLY and tally.of_present(tally.spaced) < 0.1:
        return verdict(
            Kind.RECORD_ID, 0.7, "Letters and digits, another in every row: it tells people apart.", "mixed"
        )
    lengths, whole = tally.numbers.lengths, tally.numbers.whole
    if whole < KEY * tally.present or codes >= MOSTLY or not lengths:
        return None
    length, most = lengths.most_common(1)[0]
    padded = tally.of_present(tally.numbers.leading_zero) > 0.02 and length >= 5
    if most >= KEY * tally.present and (7 <= length <= 12 or padded):
        return verdict(
            Kind.RECORD_ID, 0.5, "Whole numbers of one length, another in every row: perhaps identifiers."
        )
    return None


def what_remains(tally: Tally) -> Verdict:
    """Numbers and categories stay. Text that nobody knows does not, until somebody says what it is."""
    if tally.of_present(tally.numbers.count) >= MOSTLY:
        return verdict(Kind.NUMBER, 0.7, "Numbers in which nothing was recognised.")
    rule, share = _code(tally, specific=False)
    if share >= MOSTLY:
        return verdict(Kind.CODE, 0.6, "Short codes in which nothing was recognised.", rule)
    if tally.distinct.count <= max(50, 0.01 * tally.present) and (
        tally.different <= 0.5 or tally.distinct.count <= 12
    ):
        return verdict(Kind.CATEGORY, 0.6, "A few categories that repeat.")
    return verdict(Kind.TEXT, 0.4, "Text with many different values; nobody has said yet what it holds.")


def _code(tally: Tally, *, specific: bool) -> tuple[str, float]:
    shares = {
        mark: tally.share(mark)
        for mark in tally.marks
        if mark.startswith("code: ") and not (specific and mark.removeprefix("code: ") in UNSPECIFIC)
    }
    best = max(shares, key=lambda mark: (shares[mark], mark), default="")
    return best, shares.get(best, 0.0)
