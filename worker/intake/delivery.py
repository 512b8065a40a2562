"""A delivery as a whole: the steps of its check, and what a snapshot is made of."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from domain.dataset import Declaration, ImportProblem, Table
from worker.intake.by_person import OrderedTable, order_by_person, people_above
from worker.intake.checksums import Checksums, Open, read_checksums
from worker.intake.decisions import UNDECIDED, Decisions
from worker.intake.lot import Lot, counted_bytes
from worker.intake.mentions import check_cells, check_description, check_public_words, check_texts
from worker.intake.names import Names, Seen, batches, first_repeated, why_no_name
from worker.intake.parquet_table import ParquetTable
from worker.intake.places import People, check_folders, check_names, sort_out
from worker.intake.refusal import ImportRefused, refuse_all
from worker.intake.text_table import TextTable
from worker.intake.tree import Tree, read_tree
from worker.intake.undeclared import refuse_undeclared
from worker.intake.volumes import check_volumes

JOURNAL = "dpgate-journal.jsonl"
"""Beside the files of a delivery while they are being copied."""

DeliveredTable = TextTable | ParquetTable


@dataclass(frozen=True)
class Delivery:
    """A checked delivery: which bytes are which table, which file is whose, and which are for everybody.

    Every opener reads on demand; where checksums came with the delivery, reading to the end compares them.
    """

    tables: Mapping[str, Open]
    people: Mapping[str, Mapping[str, Open]] = field(repr=False)
    shared: Mapping[str, Open] = field(default_factory=dict)
    # by the names in the delivery, which tell cohorts apart; `people` has the names that are kept
    delivered_people: Collection[str] = field(default=(), repr=False)
    checksums: bytes | None = field(default=None, repr=False)
    listed: Mapping[str, Open] = field(default_factory=dict, repr=False)
    folder: Path = field(default=Path(), repr=False)
    lot: Lot | None = field(default=None, repr=False)

    def cut(self, declaration: Declaration) -> dict[str, int]:
        """How many people have more than is declared, by table, and of `files`: for the rights holder alone.
        Tables and files must be as delivered, without a lot."""
        found = {
            table.path: people_above(table, self.tables[table.path])
            for table in declaration.tables
            if table.most_rows is not None
        }
        if declaration.most_bytes is not None:
            amounts = (sum(map(_counted, own.values())) for own in self.people.values())
            found["files"] = sum(amount > declaration.most_bytes for amount in amounts)
        return {place: people for place, people in found.items() if people}

    @contextmanager
    def ordered(self, declaration: Declaration) -> Iterator[dict[str, OrderedTable]]:
        """Text tables with everybody's rows together, for as long as the context lasts."""
        assert self.lot is not None
        with ExitStack() as kept:
            yield {
                table.path: order_by_person(table, self.tables[table.path], self.folder, self.lot, kept)
                for table in declaration.tables
                if not table.is_parquet
            }

    def verify(self) -> None:
        """Read every file that the checksums list. Raises ImportRefused for one that differs."""
        for opener in self.listed.values():
            with opener() as file:
                while file.read(2**20):
                    pass


def check_delivery(
    folder: Path,
    declaration: Declaration,
    *,
    max_file_bytes: int,
    is_finished: bool = True,
    decisions: Decisions = UNDECIDED,
    lot: Lot | None = None,
) -> Delivery:
    """`decisions` are carried out in what the openers of tables give, and in the names of people; `lot` says
    what is kept of who has more than is declared. Without one, all is.

    Raises ImportRefused with the first problem found, which an unfinished copy is unless `is_finished` is
    False."""
    tree = read_tree(folder, max_file_bytes=max_file_bytes, excludes=declaration.excludes)
    if JOURNAL in tree.files:
        if is_finished:
            raise ImportRefused(ImportProblem.UNFINISHED, place=JOURNAL)
        tree = replace(tree, files={place: size for place, size in tree.files.items() if place != JOURNAL})
    checksums = read_checksums(tree, declaration.excludes)
    tables = {table.path: _open_table(tree, table, checksums, decisions, lot) for table in declaration.tables}
    unit = tables[declaration.privacy_unit.table]
    names = _unit_names(unit, declaration)
    for table in tables.values():
        if table is not unit:
            _check_rows(table, names)
    people = _people(tree, declaration, checksums, tables, names, lot)
    return Delivery(
        tables={path: table.open_declared for path, table in tables.items()},
        people=people,
        delivered_people=people.as_delivered() if isinstance(people, _OfTable) else people,
        shared=_shared(tree, declaration, checksums),
        checksums=checksums.content,
        listed={place: checksums.opener(tree, place) for place in checksums.expected},
        folder=folder,
        lot=lot,
    )


def _counted(opener: Open) -> int:
    with opener() as file:
        return counted_bytes(file.seek(0, io.SEEK_END))


def _open_table(
    tree: Tree, table: Table, checksums: Checksums, decisions: Decisions, lot: Lot | None
) -> DeliveredTable:
    if table.path not in tree.files:
        raise ImportRefused(ImportProblem.FILE_MISSING, place=table.path)
    if table.is_parquet:
        opener = checksums.opener(tree, table.path)
        return ParquetTable(table, tree.path(table.path), opener, decisions, lot)
    return TextTable(table, checksums.opener(tree, table.path), decisions)


def _unit_names(unit: DeliveredTable, declaration: Declaration) -> Names:
    """Everybody. Raises ImportRefused for what is no name, repeated ones, and too many."""
    seen, place = Seen(), unit.table.path
    for lines, batch in batches(unit.people()):
        seen.add(batch)
        wrong = next(((at, why) for at, name in enumerate(batch) if (why := why_no_name(name))), None)
        if wrong is not None:
            at, why = wrong
            detail = f"line {lines[at]}: {batch[at]!r}: {why}"
            raise ImportRefused(ImportProblem.PERSON_NAME, place=place, detail=detail)
    _check_once(unit, seen)
    names = seen.names()
    if len(names) > declaration.most_people:
        detail = f"{len(names)}, nominal_size {declaration.nominal_size}"
        raise ImportRefused(ImportProblem.TOO_MANY_PEOPLE, place=place, detail=detail)
    return names


def _check_rows(table: DeliveredTable, names: Names) -> None:
    """Raises ImportRefused for a row of somebody who is not among these."""
    seen = Seen()
    for lines, batch in batches(table.people()):
        if table.table.rows_per_person == "one":
            seen.add(batch)
        unknown = names.first_unknown(batch)
        if unknown is not None:
            detail = f"line {lines[unknown]}: {batch[unknown]}"
            raise ImportRefused(ImportProblem.PEOPLE_MISSING, place=table.table.path, detail=detail)
    _check_once(table, seen)


def _check_once(table: DeliveredTable, seen: Seen) -> None:
    if table.table.rows_per_person == "many" or not (suspects := seen.repeated()):
        return
    if found := first_repeated(table.people(), suspects):
        detail = f"line {found[0]}: {found[1]}"
        raise ImportRefused(ImportProblem.PERSON_REPEATED, place=table.table.path, detail=detail)


def _people(
    tree: Tree,
    declaration: Declaration,
    checksums: Checksums,
    tables: Mapping[str, DeliveredTable],
    names: Names,
    lot: Lot | None,
) -> Mapping[str, Mapping[str, Open]]:
    """Everybody with their own files. Raises ImportRefused for every file that is not taken."""
    unit = tables[declaration.privacy_unit.table]
    if declaration.layout != "bids":
        places = sort_out(list(tree.files), declaration, People(names.knows_all))
        refuse_undeclared(tree, places.nobodys, declaration, names.knows_all)
        check_public_words(declaration, names)
        return _OfTable(unit, len(names))
    check_description(tree, declaration)
    listed = list(dict.fromkeys(check_names(unit.people(), unit.table.path)))
    people = People.of_tree(listed, names.knows_all)
    places = sort_out(list(tree.files), declaration, people)
    refuse_undeclared(tree, places.nobodys, declaration, names.knows_all)
    check_folders(tree.folders, places, declaration, listed, people)
    check_texts(tree, places, declaration, people)
    check_volumes(tree, places, declaration)
    check_cells([table for table in tables.values() if isinstance(table, TextTable)], people)
    own = {name: places.of_person.get(name, ()) for name in listed}
    if lot is not None and declaration.most_bytes is not None:
        own = {name: _kept_files(name, tree, held, lot, declaration.most_bytes) for name, held in own.items()}
    return _OfTree(tree, checksums, own)


def _kept_files(name: str, tree: Tree, places: Sequence[str], lot: Lot, most: int) -> Sequence[str]:
    return lot.files(name, {place: tree.files[place] for place in places}, most=most)


def _shared(tree: Tree, declaration: Declaration, checksums: Checksums) -> dict[str, Open]:
    paths = [file.path for file in declaration.public_files if file.as_delivered]
    missing = [path for path in paths if path not in tree.files]
    refuse_all(ImportProblem.FILE_MISSING, missing)
    return {path: checksums.opener(tree, path) for path in paths}


class _OfTree(Mapping[str, Mapping[str, Open]]):
    """The people of a tree; what opens their files is made when it is asked for."""

    def __init__(self, tree: Tree, checksums: Checksums, places: Mapping[str, Sequence[str]]) -> None:
        self._tree, self._checksums, self._places = tree, checksums, places

    def __getitem__(self, person: str) -> Mapping[str, Open]:
        return {place: self._checksums.opener(self._tree, place) for place in self._places[person]}

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class _OfTable(Mapping[str, Mapping[str, Open]]):
    """The people of a table, none of whom has a file. Reads the table whenever it is gone through."""

    def __init__(self, unit: DeliveredTable, count: int, *, is_kept: bool = True) -> None:
        self._unit, self._count, self._is_kept = unit, count, is_kept

    def as_delivered(self) -> _OfTable:
        """By the names in the delivery."""
        return _OfTable(self._unit, self._count, is_kept=False)

    def __getitem__(self, person: str) -> Mapping[str, Open]:
        return {}

    def __iter__(self) -> Iterator[str]:
        names = (name for _, name in self._unit.people())
        if self._is_kept:
            names = map(self._unit.kept_name, names)  # type: ignore[assignment]
        return names if self._unit.table.rows_per_person == "one" else iter(dict.fromkeys(names))

    def __len__(self) -> int:
        return self._count
