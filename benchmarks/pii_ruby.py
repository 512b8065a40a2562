"""Columns of a third maker: lists and forms of faker-ruby (MIT), of which no model was made.

Asked where `DPGATE_FAKER_RUBY` names a clone of https://github.com/faker-ruby/faker. Made at commit
9b0780388e6333ec2baaa75d5546c88d4fe05d81. Every second locale was looked at while rules were written.
Some of its lists of names have the same origin as those of Faker.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

Lists = Mapping[str, Any]
_HOLE = re.compile(r"#\{(?:([A-Za-z]+)\.)?([a-z_0-9]+)\}")
_SECTIONS = {"Name": "name", "Address": "address", "PhoneNumber": "phone_number", "Company": "company"}
DIRECT = (
    ("name", "first_name"), ("name", "last_name"), ("name", "name"), ("address", "street_address"),
    ("phone_number", "formats"), ("cell_phone", "formats"),
)  # fmt: skip
HARMLESS = (
    ("address", "city"), ("address", "country"), ("address", "state"), ("company", "name"), ("color", "name"),
    ("lorem", "words"), ("animal", "name"), ("job", "title"), ("commerce", "product_name"),
)  # fmt: skip
# English lists of things: no characters of stories, whose names are names
THINGS = (
    "airport", "animal", "appliance", "artist", "beer", "bird", "blood", "camera", "chess", "coffee", "coin",
    "color", "commerce", "compass", "computer", "construction", "currency", "dessert", "device", "drone",
    "educator", "electrical_components", "emotion", "food", "hacker", "hobby", "horse", "house",
    "industry_segments", "job", "marketing", "measurement", "military", "mountain", "mountaineering", "music",
    "nation", "programming_language", "relationship", "science", "space", "sport", "subscription", "tea",
    "vehicle", "verbs", "dog", "cat", "cannabis", "slack_emoji", "adjective", "demographic", "gender",
)  # fmt: skip
# lists of people in these sections
PEOPLE = {
    ("artist", "names"), ("chess", "players"), ("science", "scientist"), ("mountaineering", "mountaineer"),
    ("computer", "person"), ("programming_language", "creator"),
}  # fmt: skip
FEWEST = 12


def locales(root: Path) -> dict[str, Lists]:
    """Each locale with its lists, of those that have names of their own."""
    found: dict[str, dict[str, Any]] = {}
    folder = root / "lib" / "locales"
    for path in sorted((*folder.glob("*.yml"), *folder.glob("[a-z][a-z]*/*.yml"))):
        text = path.read_text("utf-8").replace("\t", " ")
        for locale, held in yaml.safe_load(text).items():
            for section, fields in (held.get("faker") or {}).items():
                if isinstance(fields, dict):
                    found.setdefault(locale, {}).setdefault(section, {}).update(fields)
    return found


def columns(root: Path, rows: tuple[int, ...]) -> Iterator[tuple[bool, str, str, str, tuple[str, ...]]]:
    """Whether it is of the half that was looked at; the locale, the header, what it is, the values."""
    held = locales(root)
    named = sorted(name for name, lists in held.items() if len(_leaves(lists, "name", "last_name")) >= 20)
    for at, locale in enumerate(named):
        for expected, fields in (("direct", DIRECT), ("none", HARMLESS)):
            for section, field in fields:
                made = _column(held[locale], f"{locale} {section} {field}", section, field, rows)
                if made is not None:
                    yield at % 2 == 0, locale, _header(section, field), expected, made
    for section in THINGS:
        for field in sorted(held["en"].get(section, {})):
            made = _column(held["en"], f"en {section} {field}", section, field, rows)
            if made is not None:
                expected = "direct" if (section, field) in PEOPLE else "none"
                is_seen = bool(zlib.crc32(f"{section} {field}".encode()) % 2)
                yield is_seen, "en", _header(section, field), expected, made


def _header(section: str, field: str) -> str:
    """As a table would call it: a list of names of things, or of forms of numbers, by what they are of."""
    return section if field in ("name", "names", "formats") else field


def _column(
    lists: Lists, title: str, section: str, field: str, rows: tuple[int, ...]
) -> tuple[str, ...] | None:
    seed = zlib.crc32(title.encode())
    draw = random.Random(seed)
    values = _leaves(lists, section, field)
    is_form = any("#" in value for value in values)
    if not values or (not is_form and len(set(values)) < FEWEST):
        return None
    made = tuple(_filled(lists, draw.choice(values), section, draw) for _ in range(rows[seed % len(rows)]))
    return made if all(made) and not any("#{" in value for value in made) else None


def _leaves(lists: Lists, section: str, field: str) -> list[str]:
    """The values of a list; of names of men and women both."""
    fields = lists.get(section, {})
    found = fields.get(field)
    if found is None:
        ends = ("", "_name")
        kinds = [
            fields.get(f"{kind}{end}")
            for kind in (f"male_{field}", f"female_{field}", f"men_{field}", f"women_{field}")
            for end in ends
        ]
        found = [each for kind in kinds for each in (kind or [])]
    if isinstance(found, str):
        found = [found]
    if not isinstance(found, list):
        return []
    return [str(each) for each in found if isinstance(each, (str, int)) and "/^" not in str(each)]


def _filled(lists: Lists, form: str, section: str, draw: random.Random, deep: int = 0) -> str:
    """A form with its holes filled and its signs made digits; empty where a list is missing."""
    text, start = [], 0
    for hole in _HOLE.finditer(form):
        inner = _SECTIONS.get(hole[1], hole[1].lower()) if hole[1] else section
        values = _leaves(lists, inner, hole[2])
        if not values or deep > 6:
            return ""
        filled = _filled(lists, draw.choice(values), inner, draw, deep + 1)
        if not filled:
            return ""
        text += [form[start : hole.start()], filled]
        start = hole.end()
    rest = "".join([*text, form[start:]])
    return re.sub("#", lambda _: str(draw.randrange(10)), rest)
