"""Columns that nobody had looked at when rules were last written: datafaker's, and those of Chinook, a shop.

    DPGATE_DATAFAKER=datafaker DPGATE_FAKER_RUBY=faker DPGATE_CHINOOK=Chinook_Sqlite.sql \\
        python benchmarks/pii_fresh.py

Clones of https://github.com/datafaker-net/datafaker (Apache 2.0) and https://github.com/faker-ruby/faker
(MIT), and a file of https://github.com/lerocha/chinook-database (MIT). Of datafaker the locales whose
languages faker-ruby has not, and English lists of things in sections that it has not: both share their
lists. Made at commits d315482b7632 and 7f67772503d7.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import yaml
from pii_ruby import locales

from twins.pii import Action, Class
from twins.pii.column import ColumnScan
from worker.pii_model import load

FEWEST, ROWS, MOST_ROWS = 12, (40, 80, 200), 2000
DIRECT = {
    ("name", f"{sort}{which}_name") for sort in ("", "male_", "female_") for which in ("first", "last")
}  # fmt: skip
HARMLESS = {
    ("address", "city_name"), ("address", "city"), ("address", "country"), ("address", "state"),
    ("address", "default_country"), ("company", "name"), ("company", "industry"), ("color", "name"),
    ("lorem", "words"), ("animal", "name"), ("job", "title"), ("job", "field"), ("commerce", "department"),
    ("name", "title"),
}  # fmt: skip
# lists that may hold people, or what is called after them
_ARGUABLE = re.compile(
    "character|name|person|actor|player|hero|author|artist|quote|user|member|people|director|champion|driver|"
    "band|coach|king|god|address|phone|title"
)
_IN_A_SHOP = {"FirstName", "LastName", "Address", "BillingAddress", "Phone", "Fax", "Email"}
_ARGUABLE_IN_A_SHOP = {"Composer", "BirthDate", "HireDate", "InvoiceDate"}


class Fresh(NamedTuple):
    source: str
    is_direct: bool
    values: tuple[str, ...]


def datafaker(root: Path, ruby: Mapping[str, Any]) -> Iterator[Fresh]:
    known = {locale.split("-")[0].lower() for locale in ruby}
    folder = root / "src" / "main" / "resources"
    for path in sorted(folder.glob("*.yml")):
        for locale, sections in _sections(path):
            if locale.split("-")[0].lower() in known:
                continue
            for section, field, values in _lists(sections):
                if (section, field) in DIRECT | HARMLESS:
                    yield from _drawn("locales", (section, field) in DIRECT, locale, field, values)
            yield from _full_names(sections.get("name"))
    for path in sorted((folder / "en").glob("*.yml")):
        for _, sections in _sections(path):
            for section, field, values in _lists(sections):
                if section not in ruby["en"] and not _ARGUABLE.search(field + section):
                    yield from _drawn("things", False, section, field, values)


def _sections(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for locale, held in yaml.safe_load(path.read_text("utf-8").replace("\t", " ")).items():
        yield locale, (held or {}).get("faker") or {}


def _lists(sections: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    for section, fields in sections.items():
        for field, values in fields.items() if isinstance(fields, dict) else ():
            if _is_plain(values):
                yield section, field, values


def _is_plain(values: object) -> bool:
    is_list = isinstance(values, list) and bool(values) and all(isinstance(each, str) for each in values)
    return is_list and not any("#" in each for each in values)  # type: ignore[attr-defined]


def _drawn(source: str, is_direct: bool, table: str, field: str, values: list[str]) -> Iterator[Fresh]:
    draw = random.Random(zlib.crc32((table + field).encode()))
    rows = ROWS[zlib.crc32(field.encode() + table.encode()) % 3]
    if len(set(values)) >= FEWEST:
        yield Fresh(source, is_direct, tuple(draw.choice(values) for _ in range(rows)))


def _full_names(names: object) -> Iterator[Fresh]:
    if not isinstance(names, dict):
        return
    firsts = ("first_name", "male_first_name", "female_first_name")
    first = next((names[key] for key in firsts if isinstance(names.get(key), list)), None)
    lasts = ("last_name", "male_last_name")
    last = next((names[key] for key in lasts if isinstance(names.get(key), list)), None)
    if _is_plain(first) and _is_plain(last):
        draw = random.Random(7)
        made = (f"{draw.choice(first)} {draw.choice(last)}" for _ in range(200))  # type: ignore[arg-type]
        yield Fresh("locales", True, tuple(made))


def chinook(script: Path) -> Iterator[Fresh]:
    shop = sqlite3.connect(":memory:")
    shop.executescript(script.read_text("utf-8-sig"))
    for (table,) in shop.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        found = shop.execute(f'SELECT * FROM "{table}" LIMIT {MOST_ROWS}')
        rows = found.fetchall()
        for at, (column, *_) in enumerate(found.description if len(rows) >= 8 else ()):
            if column in _ARGUABLE_IN_A_SHOP or (table, column) == ("Artist", "Name"):
                continue
            cells = tuple("" if row[at] is None else str(row[at]) for row in rows)
            yield Fresh("chinook", column in _IN_A_SHOP, cells)


def main() -> None:
    """Of each source: identifying columns found, harmless ones called, identifying ones kept."""
    columns = [
        *datafaker(Path(os.environ["DPGATE_DATAFAKER"]), locales(Path(os.environ["DPGATE_FAKER_RUBY"]))),
        *chinook(Path(os.environ["DPGATE_CHINOOK"])),
    ]
    counted: Counter[tuple[str, bool, bool]] = Counter()
    kept: Counter[str] = Counter()
    for source, is_direct, values in columns:
        scan = ColumnScan(None, model=load())
        scan.add(values)
        found = scan.finish()
        counted[source, is_direct, found.classification is Class.DIRECT] += 1
        kept[source] += is_direct and found.proposed is Action.KEEP
    for source in sorted({each.source for each in columns}):
        direct, harmless = ([counted[source, of, called] for called in (True, False)] for of in (True, False))
        found = f"found {direct[0]}/{sum(direct)}, called {harmless[0]}/{sum(harmless)}"
        print(f"{source}: {found}, kept {kept[source]}")


if __name__ == "__main__":
    main()
