"""A decision on a column before it is put into words; what is proposed for each kind."""

from __future__ import annotations

from dataclasses import dataclass

from domain.identifier_kind import Kind
from twins.pii.finding import Action, Class


@dataclass(frozen=True)
class Verdict:
    """`rules` name the counts that are shown as evidence."""

    kind: Kind
    classification: Class
    confidence: float
    why: str
    rules: tuple[str, ...] = ()


CLASS_OF = {
    Kind.POSTCODE: Class.QUASI, Kind.PLACE: Class.QUASI, Kind.DATE: Class.QUASI, Kind.AGE: Class.QUASI,
    Kind.SEX: Class.QUASI,
    Kind.DEMOGRAPHIC: Class.QUASI, Kind.OCCUPATION: Class.QUASI, Kind.HEALTH: Class.SENSITIVE,
    Kind.BELIEF: Class.SENSITIVE,
    Kind.CODE: Class.NONE, Kind.TEXT: Class.NONE, Kind.CATEGORY: Class.NONE, Kind.NUMBER: Class.NONE,
    Kind.EMPTY: Class.NONE,
}  # fmt: skip
"""Every other kind is a direct identifier."""

PROPOSED = {
    Kind.RECORD_ID: Action.PSEUDONYMISE, Kind.FREE_TEXT: Action.DROP, Kind.TEXT: Action.DROP,
    Kind.URL: Action.DROP,
    Kind.DATE_OF_BIRTH: Action.GENERALISE, Kind.POSTCODE: Action.GENERALISE, Kind.PLACE: Action.GENERALISE,
    Kind.DATE: Action.GENERALISE, Kind.AGE: Action.GENERALISE, Kind.OCCUPATION: Action.GENERALISE,
    Kind.SEX: Action.KEEP, Kind.DEMOGRAPHIC: Action.KEEP, Kind.HEALTH: Action.KEEP, Kind.BELIEF: Action.DROP,
    Kind.CODE: Action.KEEP, Kind.CATEGORY: Action.KEEP, Kind.NUMBER: Action.KEEP, Kind.EMPTY: Action.KEEP,
}  # fmt: skip
"""Every other kind is masked: replaced by a made-up value of a reserved range."""

NOUNS = {
    Kind.EMAIL: "e-mail addresses", Kind.PERSON: "people's names", Kind.USERNAME: "user names",
    Kind.PHONE: "telephone numbers",
    Kind.IBAN: "bank accounts (IBAN)", Kind.BANK_ACCOUNT: "bank accounts",
    Kind.NATIONAL_ID: "national identity numbers",
    Kind.CARD: "card numbers", Kind.ADDRESS: "postal addresses", Kind.DATE_OF_BIRTH: "dates of birth",
    Kind.COORDINATE: "geographic coordinates", Kind.RECORD_ID: "identifiers of a person or record",
    Kind.FREE_TEXT: "free text",
    Kind.IP: "network addresses", Kind.MAC: "addresses of devices", Kind.URL: "web addresses",
    Kind.PASSPORT: "passport numbers",
    Kind.DRIVING_LICENCE: "driving licence numbers", Kind.LICENCE_PLATE: "licence plates",
    Kind.POSTCODE: "postcodes",
    Kind.PLACE: "places", Kind.DATE: "dates", Kind.AGE: "ages or years of birth", Kind.SEX: "sex or gender",
    Kind.DEMOGRAPHIC: "facts about people's background", Kind.OCCUPATION: "occupations or employers",
    Kind.HEALTH: "especially sensitive facts about health",
    Kind.BELIEF: "especially sensitive facts about people",
    Kind.CODE: "codes of a catalogue or measurement", Kind.TEXT: "text", Kind.CATEGORY: "categories",
    Kind.NUMBER: "numbers",
    Kind.EMPTY: "nothing",
}  # fmt: skip


def verdict(kind: Kind, confidence: float, why: str, *rules: str) -> Verdict:
    return Verdict(kind, CLASS_OF.get(kind, Class.DIRECT), confidence, why, rules)
