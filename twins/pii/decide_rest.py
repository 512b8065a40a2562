"""The last steps of a decision: coordinates, text, rare names, and keys."""

from __future__ import annotations

from collections.abc import Sequence

from domain.identifier_kind import Kind
from twins.pii.finding import Action, Class, Finding
from twins.pii.remains import FEWEST, MOSTLY, SOME, code_of
from twins.pii.tally import Tally
from twins.pii.verdict import NOUNS, Verdict, verdict

REGION = 6
"""Degrees within which numbers of many decimals may be places: means of anything lie further apart."""


GAP, FEWEST_OF_AN_OFFICE = 0.02, 50
"""Share of numbers of one length that counts as a length, and how many values show that one is left out."""

FEWEST_IN_A_ROW = 50
"""Values, of which none has a group with 0 in front, that show that the groups are amounts."""

KEY = 0.95
"""Different values for each value, from which on a column tells people apart."""


def by_parts(tally: Tally, within: Sequence[Finding]) -> Verdict | None:
    """JSON and paths are what the worst of their parts is."""
    is_json = tally.share("json") >= MOSTLY
    if not within or not (is_json or tally.share("path") >= MOSTLY):
        return None
    worst = next((part for part in within if part.classification is Class.DIRECT), None)
    if worst is not None:
        inside = "fields" if is_json else "names of files and folders"
        kind = Kind.FREE_TEXT if is_json else worst.kind
        return verdict(kind, min(0.8, worst.confidence), f"Among its {inside} are {NOUNS[worst.kind]}.")
    if not is_json:
        unknown = any(part.proposed is not Action.KEEP for part in within)
        why = "Names of files; nobody has said yet whom or what their words mean."
        return verdict(Kind.TEXT, 0.4, why, "path") if unknown else None
    if all(part.proposed is Action.KEEP for part in within):
        return verdict(
            Kind.CODE, 0.7, "Structured values (JSON), in whose fields nothing was recognised.", "json"
        )
    return verdict(
        Kind.TEXT, 0.5, "Structured values (JSON); nobody has said yet what some of its fields hold.", "json"
    )


def has_code_of(tally: Tally) -> Verdict | None:
    """Codes of catalogues, where most values are of one kind that nothing else is written like."""
    rule, share = code_of(tally, specific=True)
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
    width, far = numbers.high - numbers.low, max(abs(numbers.low), abs(numbers.high))
    # means and logarithms lie near each other as well, often with more decimals than anybody measures
    if far > 180:
        return None
    if tally.of_present(numbers.computed) >= 0.1:
        near = abs(numbers.mean) >= 20 and width <= REGION and tally.of_present(numbers.computed) >= MOSTLY
        why = "Numbers with many decimals, all near each other: means, or places that a program worked out."
        return verdict(Kind.TEXT, 0.4, why) if near else None
    if abs(numbers.mean) >= 20 and width <= 12:
        why = "Numbers with four decimals or more, all near each other: perhaps coordinates."
        return verdict(Kind.COORDINATE, 0.5, why)
    if abs(numbers.mean) >= 3 and width <= 1.5:
        why = "Numbers with four decimals or more, all near each other: logarithms, or perhaps coordinates."
        return verdict(Kind.TEXT, 0.4, why)
    if numbers.low * numbers.high > 0 and min(abs(numbers.low), abs(numbers.high)) >= 20:
        why = "Numbers with four decimals or more between 20 and 180: measurements, or places of a continent."
        return verdict(Kind.TEXT, 0.4, why)
    return None


def by_text(tally: Tally) -> Verdict | None:
    """Sentences, unless they are the same few: answers of a questionnaire."""
    few = tally.distinct.count <= max(12, 0.02 * tally.present)
    if few and tally.different < 0.5 and not tally.long:
        return None
    if tally.of_present(tally.sentences + tally.long) >= 0.3 or tally.words_each >= 8:
        return verdict(Kind.FREE_TEXT, 0.85, "Sentences in people's own words, which can name anybody.")
    return None


def by_rare(tally: Tally, *, doubtful: bool) -> Verdict | None:
    """Names that come seldom among a few common words, such as the one assistant beside many `other`."""
    rare = [] if tally.few.is_over else tally.few.rare()
    if not rare or doubtful or tally.different >= SOME or tally.of_present(tally.with_letters) < 0.5:
        return None
    any_name = sum(name.any_name for name in rare) / len(rare)
    full_name = sum(name.full_name for name in rare if name.has_form) / len(rare)
    # a single one may be any category, such as a day or a state, that looks like a name
    if full_name >= (0.4 if len(rare) > 1 else 0.6) or (len(rare) > 1 and any_name >= 0.85):
        return verdict(Kind.PERSON, 0.6, "Values that come seldom look like people's names.")
    formed = sum(name.has_form for name in rare) >= 0.5 * len(rare)
    if full_name >= 0.4 or formed or any_name >= 0.25 or max(name.any_name for name in rare) >= 0.6:
        return verdict(
            Kind.TEXT, 0.4, "Categories of which one or more that come seldom may be a person's name."
        )
    return None


def of_a_thing(tally: Tally) -> Verdict | None:
    """Samples, grants and files have codes of their own, which tell no people apart."""
    if tally.share("mixed", "grouped") < MOSTLY:
        return None
    return verdict(
        Kind.CODE, 0.5, "The header speaks of things, of which each has a code of its own.", "header"
    )


def by_key(tally: Tally) -> Verdict | None:
    """A value of its own for everybody tells people apart, whatever it is called."""
    if tally.present < FEWEST or tally.different < KEY:
        return None
    codes = code_of(tally, specific=False)[1]
    if tally.share("mixed") >= MOSTLY and tally.share("thing inside") >= MOSTLY:
        why = "Codes of plates, tubes or the like behind other signs, which may number people."
        return verdict(Kind.TEXT, 0.4, why, "thing inside")
    if tally.share("short digest") >= MOSTLY:
        why = "Seven hexadecimal signs: digests cut short, of files and changes or of numbers of people."
        return verdict(Kind.TEXT, 0.4, why, "short digest")
    numbered = sum(count for digits, count in tally.numbers.lengths.items() if digits >= 7)
    mixed = tally.of_present(tally.marks["mixed"] + numbered) if tally.share("mixed") >= 0.2 else 0.0
    if mixed >= MOSTLY and codes < MOSTLY:
        return verdict(
            Kind.RECORD_ID, 0.7, "Letters and digits, another in every row: it tells people apart.", "mixed"
        )
    if _are_rows_of_amounts(tally):
        return None
    all_digits = tally.of_present(tally.marks["grouped"] + numbered)
    if tally.share("grouped") >= 0.2 and all_digits >= MOSTLY and codes < MOSTLY:
        return verdict(
            Kind.RECORD_ID, 0.6, "Groups of digits, another in every row: it tells people apart.", "grouped"
        )
    lengths, whole = tally.numbers.lengths, tally.numbers.whole
    if whole < KEY * tally.present or codes >= MOSTLY or not lengths:
        return None
    length, most = lengths.most_common(1)[0]
    if most >= KEY * tally.present and length in (5, 6) and tally.numbers.leading_zero:
        return verdict(
            Kind.POSTCODE, 0.4, "Five or six digits, some with a zero in front: perhaps postcodes."
        )
    # shorter ones of several lengths are counts and measurements as well
    long = sum(count for digits, count in lengths.items() if digits >= 10)
    if most >= KEY * tally.present and 7 <= length <= 9 and _is_quantity(tally):
        why = "Long whole numbers of one magnitude: counts and amounts, or perhaps identifiers."
        return verdict(Kind.TEXT, 0.4, why)
    is_long = (most >= KEY * tally.present and 7 <= length <= 20) or long >= KEY * tally.present
    if is_long or _skip_a_length(tally):
        return verdict(Kind.RECORD_ID, 0.5, "Long whole numbers, another in every row: perhaps identifiers.")
    return None


def _are_rows_of_amounts(tally: Tally) -> bool:
    """Of identifiers in four groups or more, one group in ten begins with 0; no amount does."""
    rows = tally.marks["in a row"]
    return rows >= FEWEST_IN_A_ROW and rows >= tally.marks["grouped"]


def _skip_a_length(tally: Tally) -> bool:
    """Ten digits, and eight, but not nine: a quantity passes all lengths between, and numbers that an office
    began to give anew do not."""
    lengths = tally.numbers.lengths
    found = [digits for digits, count in lengths.items() if count >= GAP * tally.present]
    if tally.present < FEWEST_OF_AN_OFFICE or not found or min(found) < 7 or max(found) > 20:
        return False
    between = range(min(found) + 1, max(found))
    return any(lengths[digits] <= GAP / 10 * tally.present for digits in between)


def _is_quantity(tally: Tally) -> bool:
    """Numbers that are drawn begin with any digit, and those in a row lie close: amounts do neither."""
    low, high = tally.numbers.low, tally.numbers.high
    return high < 5 * low and high - low > 100 * tally.present
