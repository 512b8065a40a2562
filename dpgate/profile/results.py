"""What a profile leaves behind: report, `profile.json`, and a draft of `dataset.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from domain.model import canonical
from dpgate.profile.report import render
from dpgate.profile.run import write_private
from twins.profile.document import ProfileDocument, ProfiledTable
from twins.profile.draft import DraftTable, write_draft
from twins.profile.proposals import DictionaryEntry, Proposal, propose

Dictionaries = Mapping[str, Mapping[str, DictionaryEntry]]
"""What sidecars say of columns, by table and column."""


def write_results(
    document: ProfileDocument,
    dictionaries: Dictionaries,
    folder: Path,
    draft: Path,
    *,
    profile_id: str,
    name: str,
) -> None:
    """All three carry `profile_id`, which must be random; `name` is a beginning for the data set's. No draft
    where nothing can be declared."""
    content = _without_names(document).model_copy(update={"id": profile_id})
    proposals = _proposals(content, dictionaries)
    write_private(folder / "profile.json", canonical(content.model_dump(mode="json")))
    write_private(folder / "report.html", render(content, proposals).encode())
    if text := _draft(document, proposals, profile_id=profile_id, file=draft.name, name=_slug(name)):
        write_private(draft, text.encode())


def _without_names(document: ProfileDocument) -> ProfileDocument:
    """Digests of people's names have no key: they served to find the same people, and end here. So do the
    names themselves, of a column that the scan did not flag."""
    tables: list[ProfiledTable] = []
    for table in document.tables:
        if table.found is not None:
            bare = tuple(people.model_copy(update={"hashes": ()}) for people in table.found.people)
            columns = tuple(
                column.model_copy(update={"frequent": ()}) if column.name == table.person else column
                for column in table.found.columns
            )
            found = table.found.model_copy(update={"people": bare, "columns": columns})
            table = table.model_copy(update={"found": found})
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
    profile_id: str,
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
        profile_id=profile_id,
        file=file,
        left_out=left_out,
    )


def _slug(name: str) -> str:
    stem = re.sub(r"\.(csv|tsv|parquet)$", "", name.casefold())
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:60].strip("-") or "ASK"
