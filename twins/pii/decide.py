"""From counts to one finding. The steps stand in the order in which they are believed.

Three ways to count. *Share*: half of the values meet a rule. *Weak share*: nine in ten meet a check that one
random number in ten meets. *Contained*: one e-mail address, account, identity number, card or telephone
number among all values is enough. Names by the character model come late, after everything that is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.identifier_kind import Kind
from twins.pii.believe import UNLIKE, by_header, is_direct
from twins.pii.decide_lists import by_japan, by_letter, by_numbered, by_phones
from twins.pii.decide_model import by_model
from twins.pii.decide_rest import (
    by_coordinates,
    by_key,
    by_parts,
    by_rare,
    by_text,
    has_code_of,
    of_a_thing,
)
from twins.pii.finding import Action, Finding
from twins.pii.header import (
    is_plain_name,
    speaks_of_a_thing,
    speaks_of_amounts,
    speaks_of_codes_of_things,
    speaks_of_time,
    words_of,
)
from twins.pii.remains import FEWEST, by_moments, what_remains
from twins.pii.tally import MOST_LETTERS, PERSON, Tally
from twins.pii.verdict import NOUNS, PROPOSED, Verdict, verdict

SHARE = 0.5
WEAK_SHARE = 0.9
CARDS = 0.6
"""Range and check digit of a card: one random number in thirty has both."""

BY_CHANCE = 0.05
"""Of whole numbers of one length one in a hundred begins with 00 by chance, as a number from abroad does."""

LOW = 0.03
"""Share of postcodes of Japan that begin with 0 or 1, from which on they are no telephones."""

FEWEST_WEAK = 8
"""Different values below which a weak check proves nothing."""

LIFETIME = 25
"""Years that the middle nine tenths of dates span, from which on they may be dates of birth."""

_CONTAINED = (
    ("has email", Kind.EMAIL),
    ("has iban", Kind.IBAN),
    ("has ssn", Kind.NATIONAL_ID),
    ("has card", Kind.CARD),
    ("has phone", Kind.PHONE),
    ("has coordinates", Kind.COORDINATE),
    ("home of somebody", Kind.USERNAME),
)
_SHARED = (
    ("mac", Kind.MAC),
    ("uuid", Kind.RECORD_ID),
    ("person code", Kind.RECORD_ID),
    ("ip 6", Kind.IP),
    ("degrees", Kind.COORDINATE),
    ("handle", Kind.USERNAME),
    ("name form", Kind.PERSON),
    ("address", Kind.ADDRESS),
    ("profile", Kind.URL),
)
_NEARLY_ALL = (
    ("plate", Kind.LICENCE_PLATE),
    ("phone, national", Kind.PHONE),
    ("phone, bare", Kind.PHONE),
    ("postcode", Kind.POSTCODE),
    ("passport", Kind.PASSPORT),
    ("token", Kind.RECORD_ID),
)


def decide(name: str | None, announced: Kind | None, tally: Tally, within: Sequence[Finding] = ()) -> Finding:
    """`announced` is what the header says, if anything; `within` are parts of the values, scanned alike."""
    said = _verdict(name, announced, tally, within)
    evidence = {rule: tally.marks[rule] for rule in said.rules if tally.marks[rule]}
    evidence |= {"values": tally.present, "missing": tally.missing, "different": tally.distinct.count}
    if "header" in said.rules:
        evidence["header"] = 1
    return Finding(
        column=name or "",
        kind=said.kind,
        classification=said.classification,
        confidence=round(said.confidence, 2),
        proposed=PROPOSED.get(said.kind, Action.MASK),
        why=said.why,
        masked_example=max(tally.shapes, key=lambda shape: (tally.shapes[shape], shape), default=""),
        evidence=evidence,
    )


def _verdict(name: str | None, announced: Kind | None, tally: Tally, within: Sequence[Finding]) -> Verdict:
    if not tally.present:
        why = "All values are missing; decide by what the column is meant for."
        return verdict(announced or Kind.EMPTY, 0.3 if announced else 1.0, why, "header" if announced else "")
    is_of_a_thing = name is not None and speaks_of_a_thing(name)
    steps: tuple[Callable[[], Verdict | None], ...] = (
        lambda: _contained(name, announced, tally),
        lambda: by_parts(tally, within),
        lambda: _strong_numbers(tally),
        lambda: _header(name, announced, tally, direct=True),
        lambda: _weak_numbers(tally),
        lambda: _dates(name, announced, tally),
        lambda: _shared(tally),
        lambda: _header(name, announced, tally, direct=False),
        lambda: by_letter(tally) if _is_opaque(name) else None,
        lambda: None if name is not None and speaks_of_codes_of_things(name) else by_numbered(tally),
        lambda: by_moments(tally, says_time=name is not None and speaks_of_time(name)),
        lambda: has_code_of(tally),
        lambda: of_a_thing(tally) if name is not None and speaks_of_codes_of_things(name) else None,
        lambda: _nearly_all(tally),
        lambda: by_coordinates(tally) if _is_opaque(name) else None,
        lambda: by_text(tally),
        lambda: by_japan(tally),
        lambda: by_phones(tally),
        lambda: by_model(tally, doubtful=is_of_a_thing),
        lambda: by_rare(tally, doubtful=is_of_a_thing),
        lambda: None if name is not None and speaks_of_amounts(name) else by_key(tally),
    )
    said = next((said for step in steps if (said := step()) is not None), what_remains(tally))
    if announced is Kind.PERSON and PROPOSED.get(said.kind) is Action.KEEP and tally.mean(*PERSON) >= UNLIKE:
        return verdict(
            Kind.TEXT, 0.4, "The header speaks of names; whose they are, nobody has said.", "header"
        )
    return said


def _contained(name: str | None, announced: Kind | None, tally: Tally) -> Verdict | None:
    """One is enough. In text it is the text that cannot stay, not only the address in it."""
    found = [(rule, kind) for rule, kind in _CONTAINED if tally.marks[rule]]
    if tally.share("has phone") <= BY_CHANCE and _are_numbers_of_one_length(tally):
        found = [(rule, kind) for rule, kind in found if rule != "has phone"]
    if not found:
        return None
    rule, kind = max(found, key=lambda each: tally.marks[each[0]])
    rules = tuple(each for each, _ in found)
    if tally.share(rule) >= SHARE and tally.of_present(tally.sentences) < SHARE:
        return verdict(kind, 0.99, f"Most values are {NOUNS[kind]}.", *rules)
    said = _header(name, announced, tally, direct=True)
    if said is not None:
        return verdict(said.kind, 0.9, said.why, "header", *rules)
    in_text = tally.of_present(tally.spaced) >= SHARE and tally.of_present(tally.with_letters) >= SHARE
    why = f"Some values contain {NOUNS[kind]}; one is enough to identify somebody."
    return verdict(Kind.FREE_TEXT if in_text else kind, 0.9, why, *rules)


def _are_numbers_of_one_length(tally: Tally) -> bool:
    lengths = tally.numbers.lengths
    return bool(lengths) and max(lengths.values()) >= WEAK_SHARE * tally.present


def _strong_numbers(tally: Tally) -> Verdict | None:
    rule, share = tally.largest("scheme: ")
    if share < SHARE or tally.share("code: locus", "code: accession") >= share:
        return None
    return verdict(
        Kind.NATIONAL_ID,
        0.95,
        f"Most values have the form and check digits of {NOUNS[Kind.NATIONAL_ID]}.",
        rule,
    )


def _weak_numbers(tally: Tally) -> Verdict | None:
    """Check digits that one number in ten has by chance, where nine in ten values have them."""
    if tally.distinct.count < FEWEST_WEAK:
        return None
    rule, share = tally.largest("weak scheme: ")
    code = tally.share("code: snomed", "code: loinc", "code: ean", "code: unix time")
    # of ten digits a book's number may end in X, and a health service's number may not
    code = max(code, tally.share("code: isbn") if tally.share("code: isbn") > share else 0.0)
    if share >= WEAK_SHARE and share > code:
        return verdict(
            Kind.NATIONAL_ID, 0.85, "Nearly all values pass the check digit of an identity number.", rule
        )
    if tally.share("card, bare", "card, spreadsheet") >= CARDS and code < WEAK_SHARE:
        why = "Most values have range and check digit of card numbers, or a spreadsheet's form."
        return verdict(Kind.CARD, 0.85, why, "card, bare", "card, spreadsheet")
    return None


def _header(name: str | None, announced: Kind | None, tally: Tally, *, direct: bool) -> Verdict | None:
    if announced is None or is_direct(announced) != direct:
        return None
    return by_header(announced, tally, is_plain_name=name is not None and is_plain_name(name))


def _dates(name: str | None, announced: Kind | None, tally: Tally) -> Verdict | None:
    """Days over a lifetime may be birthdays, unless a header in plain words says otherwise."""
    dated = sum(tally.years.values())
    if tally.of_present(dated) < 0.8 or tally.share("code: snomed", "code: ean") >= WEAK_SHARE:
        return None
    seldom = tally.of_present(tally.with_time) < 0.1
    if (
        announced is None
        and _is_opaque(name)
        and seldom
        and _span(tally) >= LIFETIME
        and not tally.is_in_order
    ):
        return verdict(
            Kind.DATE_OF_BIRTH, 0.6, "Dates without a time that span a lifetime: perhaps dates of birth."
        )
    return verdict(Kind.DATE, 0.8, "Dates; the day of an event can single somebody out.")


def _is_opaque(name: str | None) -> bool:
    """Whether a name says nothing: none, only short words such as `q17b` and `var_4`, or words in letters
    other than Latin ones, of which the tables know those for what names a person alone."""
    return name is None or all(len(word) < 4 or not word.isascii() for word in words_of(name))


def _span(tally: Tally) -> int:
    """Years between the 5th and the 95th hundredth of the dates."""
    total, passed = sum(tally.years.values()), 0
    inner: list[int] = []
    for year in sorted(tally.years):
        passed += tally.years[year]
        if passed >= 0.05 * total and (not inner or passed - tally.years[year] <= 0.95 * total):
            inner.append(year)
    return inner[-1] - inner[0]


def _shared(tally: Tally) -> Verdict | None:
    for rule, kind in _SHARED:
        if tally.share(rule) >= SHARE and (rule != "name form" or tally.distinct.count >= FEWEST):
            return verdict(kind, 0.9, f"Most values have the form of {NOUNS[kind]}.", rule)
    if tally.share("ip 4") >= SHARE and tally.marks["ip 4, large"] >= SHARE * tally.marks["ip 4"]:
        return verdict(Kind.IP, 0.9, f"Most values have the form of {NOUNS[Kind.IP]}.", "ip 4")
    if tally.share("url") >= SHARE and tally.different >= 0.5 and tally.share("vocabulary") < SHARE:
        return verdict(Kind.URL, 0.5, "Most values are web addresses, and most are different.", "url")
    if tally.share("url") >= SHARE and tally.share("vocabulary") < SHARE:
        return verdict(Kind.TEXT, 0.4, "Web addresses that repeat: pages of things, or of people.", "url")
    if tally.share("hex digest") >= SHARE:
        why = "Digests: of files they tell nothing, of names or numbers whoever has a list finds them out."
        return verdict(Kind.TEXT, 0.7, why, "hex digest")
    if tally.share("place") >= SHARE:
        return verdict(Kind.PLACE, 0.9, "Most values are names of countries or states.", "place")
    if tally.share("calendar") >= WEAK_SHARE:
        return verdict(Kind.CATEGORY, 0.9, "Nearly all values are months or days of the week.", "calendar")
    if tally.share("origin") >= SHARE:
        return verdict(Kind.DEMOGRAPHIC, 0.7, "Most values are nationalities or languages.", "origin")
    if (
        tally.share("sex") >= WEAK_SHARE
        and tally.share("sex of two") >= SHARE
        and 2 <= tally.distinct.count <= 6
    ):
        return verdict(Kind.SEX, 0.8, "The values are words for sex or gender.", "sex")
    return None


def _nearly_all(tally: Tally) -> Verdict | None:
    # no telephone within one town begins with 0 or 1, and the postcodes of a third of Japan do
    if tally.share("postcode, japan") >= WEAK_SHARE and tally.share("postcode, japan, low") >= LOW:
        return verdict(
            Kind.POSTCODE,
            0.7,
            f"Nearly all values have the form of {NOUNS[Kind.POSTCODE]}.",
            "postcode, japan",
        )
    for rule, kind in _NEARLY_ALL:
        if rule == "plate" and _are_of_few_letters(tally):
            continue
        if tally.share(rule) >= WEAK_SHARE and tally.distinct.count >= 3:
            return verdict(kind, 0.7, f"Nearly all values have the form of {NOUNS[kind]}.", rule)
    return None


def _are_of_few_letters(tally: Tally) -> bool:
    """`JAF-001` and `BEV-004` are numbers of articles: plates begin with many letters."""
    return len(tally.firsts) <= MOST_LETTERS and set(tally.shapes) == {"A***-9***"}
