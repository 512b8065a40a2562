"""The tables of a folder: each by itself, and in a BIDS tree each person's small tables as one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twins.profile.proposals import DictionaryEntry
from twins.profile.table import NoTable

MOST_TABLES = 200
TABLES = (".csv", ".tsv", ".parquet")
_NOT_READ = (
    ".xlsx",
    ".xls",
    ".ods",
    ".sav",
    ".dta",
    ".sas7bdat",
    ".rds",
    ".csv.gz",
    ".tsv.gz",
    ".db",
    ".sqlite",
)
_PERSON, _SESSION = re.compile(r"^sub-[A-Za-z0-9+]+$"), re.compile(r"_?(?:ses|run)-[A-Za-z0-9]+")
_OF_PEOPLE = ("events", "beh", "scans", "sessions")
_NOT_ENTERED = {"derivatives", "sourcedata", "code", "stimuli", "__pycache__"}
_MOST_DICTIONARY = 4 * 2**20
_MOST_LEVELS = 2000


@dataclass(frozen=True)
class Source:
    """One table to be profiled: a file, or files of one kind that people have (`is_many`)."""

    name: str
    paths: tuple[Path, ...]
    is_many: bool = False

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.paths)

    @property
    def reads_as(self) -> str:
        """A name whose ending says how to read it."""
        return self.paths[0].name


@dataclass(frozen=True)
class Found:
    """What a folder holds."""

    root: Path
    is_bids: bool
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()


def find_tables(place: Path) -> Found:
    """Of a folder, or the one file. Raises NoTable where there is no table, or far too many."""
    if place.is_file():
        if not place.name.endswith(TABLES):
            raise NoTable(f"{place} is no table: its name must end in {', '.join(TABLES)}")
        return Found(place.parent, False, (Source(place.name, (place,)),))
    if not place.is_dir():
        raise NoTable(f"there is no file or folder {place}")
    is_bids = (place / "dataset_description.json").is_file()
    groups: dict[str, list[Path]] = {}
    passed: list[str] = []
    for path in _files(place, is_bids=is_bids):
        name = path.relative_to(place).as_posix()
        if name.endswith(TABLES):
            key = _kind_of(name) if is_bids and _is_of_person(name) else name
            if key is not None:
                groups.setdefault(key, []).append(path)
        elif name.endswith(_NOT_READ):
            passed.append(name)
    if not groups:
        raise NoTable(f"{place} holds no table that ends in {', '.join(TABLES)}" + _shown(passed))
    if len(groups) > MOST_TABLES:
        raise NoTable(f"{place} holds {len(groups)} tables, more than {MOST_TABLES}; profile folders of it")
    sources = (Source(name, tuple(paths), is_many="*" in name) for name, paths in sorted(groups.items()))
    notes = (f"Not read, convert them to .csv or .parquet{_shown(passed)}",) if passed else ()
    return Found(place, is_bids, tuple(sources), notes)


def _shown(names: list[str]) -> str:
    return f": {', '.join(sorted(names)[:5])}{', ...' if len(names) > 5 else ''}" if names else ""


def _files(root: Path, *, is_bids: bool) -> Iterator[Path]:
    """Plain files, in order; links and hidden folders are passed over."""
    for folder, folders, names in os.walk(root):
        left_out = _NOT_ENTERED if is_bids else {"__pycache__"}
        folders[:] = sorted(name for name in folders if name not in left_out and not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink() and not name.startswith("."):
                yield path


def _is_of_person(name: str) -> bool:
    return _PERSON.match(name.split("/")[0]) is not None


def _kind_of(name: str) -> str | None:
    """`sub-01/ses-2/func/sub-01_ses-2_task-rest_events.tsv` as `sub-*_task-rest_events.tsv`; None for tables
    about devices rather than people."""
    file = name.rsplit("/", 1)[-1]
    stem, ending = file.rsplit(".", 1)
    if stem.rsplit("_", 1)[-1] not in _OF_PEOPLE:
        return None
    return f"sub-*{_SESSION.sub('', stem[stem.find('_') :])}.{ending}"


def read_dictionary(source: Source) -> dict[str, DictionaryEntry]:
    """What a sidecar beside the table says of its columns; nothing where it says it in another way."""
    first = source.paths[0]
    sidecar = first.with_name(first.name.rsplit(".", 1)[0] + ".json")
    if not sidecar.is_file() or sidecar.stat().st_size > _MOST_DICTIONARY:
        return {}
    try:
        content = json.loads(sidecar.read_bytes())
    except (ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {name: _entry(value) for name, value in content.items() if isinstance(value, Mapping)}


def _entry(said: Mapping[str, Any]) -> DictionaryEntry:
    levels = said.get("Levels")
    named = [str(level) for level in levels] if isinstance(levels, Mapping | list) else []
    is_usable = len(named) <= _MOST_LEVELS and all(_is_category(level) for level in named)
    return DictionaryEntry(
        description=_words(said.get("Description", said.get("LongName", ""))),
        levels=tuple(dict.fromkeys(named)) if is_usable else (),
        units=_words(said.get("Units", "")),
    )


def _is_category(level: str) -> bool:
    return 0 < len(level) <= 200 and not any(mark in level for mark in "\t\r\n\0")


def _words(said: object) -> str:
    return " ".join(said.split())[:500] if isinstance(said, str) else ""
