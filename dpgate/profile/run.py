"""Profile all tables of a folder, one after the other; those that are done are kept for when it goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from domain.errors import InvalidRequest
from domain.model import canonical, parse
from dpgate.errors import DpgateError
from dpgate.profile.places import Found, Source
from twins.profile.document import WARNING, ProfileDocument, ProfiledTable
from twins.profile.unit import find_unit
from worker.pii_model import model_bytes
from worker.profile.tables import profile_source, profile_source_here
from worker.sandbox.protocol import SandboxUnavailable

_RULES = 4
"""Raised when a table would be profiled otherwise: what was kept is then made anew."""

Step = Callable[[str, int, int], None]
"""Called with the table's name and how many bytes of how many were read."""


@dataclass(frozen=True)
class Options:
    """How to profile."""

    without_sandbox: bool = False
    people: Mapping[str, str] | None = None  # the column of people by table


def profile_all(found: Found, folder: Path, options: Options, step: Step) -> ProfileDocument:
    """The document. What each table gave is kept in `folder`, so that the next call goes on from there.

    Raises DpgateError where nothing can be isolated and nobody said that this is all right.
    """
    check_folder(found, folder)
    parts = folder / "parts"
    parts.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted = dict(options.people or {})
    if unknown := set(wanted) - {source.name for source in found.sources}:
        raise DpgateError(f"there is no table {min(unknown)}; there are {_names(found)}")
    tables = [_one(source, parts, options, step) for source in found.sources]
    unit = find_unit({table.name: table.found for table in tables if table.found is not None}, wanted)
    return ProfileDocument(
        warning=WARNING,
        layout="bids" if found.is_bids else "tables",
        unit=unit.table,
        sandboxed=not options.without_sandbox,
        tables=tuple(table.model_copy(update={"person": unit.people.get(table.name)}) for table in tables),
        notes=found.notes,
    )


def check_folder(found: Found, folder: Path) -> None:
    """Raises DpgateError for an output folder that would be delivered with the data."""
    if len(found.sources) and folder.resolve().is_relative_to(found.root.resolve()) and found.root.is_dir():
        raise DpgateError(
            f"{folder} lies inside the data: it would be delivered with them; name another one with --out"
        )


def _names(found: Found) -> str:
    return ", ".join(source.name for source in found.sources[:10])


def _one(source: Source, parts: Path, options: Options, step: Step) -> ProfiledTable:
    """From what was kept, if the files are as they were; else from the files."""
    person = (options.people or {}).get(source.name)
    key = hashlib.sha256(canonical(_fingerprint(source, options, person))).hexdigest()
    kept = parts / f"{key}.json"
    if kept.is_file():
        try:
            return parse(ProfiledTable, json.loads(kept.read_bytes()))
        except (ValueError, InvalidRequest):
            kept.unlink()  # cut off, or of another version
    table = _profiled(source, options, person, step)
    unfinished = kept.with_suffix(".unfinished")
    write_private(unfinished, canonical(table.model_dump(mode="json")))
    unfinished.rename(kept)
    return table


def _fingerprint(source: Source, options: Options, person: str | None) -> dict[str, object]:
    states = [(path, path.stat()) for path in source.paths]
    return {
        "rules": _RULES,
        "name": source.name,
        "person": person,
        "sandboxed": not options.without_sandbox,
        "model": hashlib.sha256(model_bytes()).hexdigest(),
        "files": [[str(path.absolute()), state.st_size, state.st_mtime_ns] for path, state in states],
    }


def _profiled(source: Source, options: Options, person: str | None, step: Step) -> ProfiledTable:
    try:
        if options.without_sandbox:
            return profile_source_here(source, person=person)
        return profile_source(
            source, person=person, progress=lambda position, size: step(source.name, position, size)
        )
    except SandboxUnavailable as error:
        raise DpgateError(
            f"tables are read in a sandbox, and there is none here: {error}. With --without-sandbox they "
            "are read in this process: only for files that you trust"
        ) from None


def write_private(path: Path, content: bytes) -> None:
    """For its owner alone."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_bytes(content)
