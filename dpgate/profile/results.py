"""What a profile leaves behind: report, `profile.json`, and a draft of `dataset.yaml`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from domain.model import canonical
from domain.profile.document import ProfileDocument, ProfiledTable
from domain.profile.draft import DraftTable, write_draft
from domain.profile.proposals import DictionaryEntry, Proposal, propose
from dpgate.profile.report import render
from dpgate.profile.run import write_private

Dictionaries = Mapping[str, Mapping[str, DictionaryEntry]]
"""What sidecars say of columns, by table and column."""


def write_results(
    document: ProfileDocument, dictionaries: Dictionaries, folder: Path, draft: Path, *, name: str
) -> str:
    """The digest of the profile, which the draft carries; `name` is a beginning for the data set's. No draft
    where nothing can be declared."""
    content = _without_hashes(document)
    written = canonical(content.model_dump(mode="json"))
    digest = "sha256:" + hashlib.sha256(written).hexdigest()
    proposals = _proposals(document, dictionaries)
    write_private(folder / "profile.json", written)
    write_private(folder / "report.html", render(content, proposals, digest=digest).encode())
    if text := _draft(document, proposals, digest=digest, file=draft.name, name=_slug(name)):
        write_private(draft, text.encode())
    return digest


def _without_hashes(document: ProfileDocument) -> ProfileDocument:
    """Digests of people's names have no key: they served to find the same people, and end here."""
    tables: list[ProfiledTable] = []
    for table in document.tables:
        if table.found is not None:
            bare = tuple(people.model_copy(update={"hashes": ()}) for people in table.found.people)
            table = table.model_copy(update={"found": table.found.model_copy(update={"people": bare})})
        tables.append(table)
    return document.model_copy(update={"tables": tuple(tables)})


def _proposals(document: ProfileDocument, dictionaries: Dictionaries) -> Mapping[str, Sequence[Proposal]]:
    return {
        table.name: propose(
            table.found,
            person=table.person,
            dictionary=dictionaries.get(table.name, {}),
            is_bids=document.layout == "bids",
        )
        for table in document.tables
        if table.found is not None
    }


def _draft(
    document: ProfileDocument,
    proposals: Mapping[str, Sequence[Proposal]],
    *,
    digest: str,
    file: str,
    name: str,
) -> str:
    left_out: dict[str, str] = {}
    tables: list[DraftTable] = []
    for table in document.tables:
        if table.found is None:
            left_out[table.name] = f"not read: {table.refused}"
        elif table.is_many:
            left_out[table.name] = "files of people: see person_files in the reference of dataset.yaml"
        elif document.unit is not None and table.person is None:
            left_out[table.name] = "no column of people that the other tables have was found"
        elif document.unit is not None or not tables:
            people = table.found.people_of(table.person)
            is_one = people is None or people.rows_per_person[-1:] in ((), (1,))
            tables.append(DraftTable(table.name, table.found, proposals[table.name], is_one))
        else:
            left_out[table.name] = "no column of people was found in any table; see --person"
    if not tables:
        return ""
    return write_draft(
        tables,
        name=name,
        layout=document.layout,
        unit=document.unit or tables[0].path,
        digest=digest,
        file=file,
        left_out=left_out,
    )


def _slug(name: str) -> str:
    stem = re.sub(r"\.(csv|tsv|parquet)$", "", name.casefold())
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:60].strip("-") or "ASK"
