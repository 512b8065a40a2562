"""A declared Parquet file: its rows are read in groups, and it is written anew with the declared columns."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from domain.dataset import ImportProblem, Table
from worker.intake.checksums import Open
from worker.intake.decisions import UNDECIDED, Decisions
from worker.intake.lot import Lot
from worker.intake.refusal import ImportRefused
from worker.intake.text_table import check_header
from worker.intake.tree import WORK_PREFIX
from worker.scan import parquet


class ParquetTable:
    """One table as it was delivered. Raises ImportRefused for columns that are not as they were declared.

    `compared` opens the file so that reading it compares its checksum.
    """

    def __init__(
        self,
        table: Table,
        path: Path,
        compared: Open,
        decisions: Decisions = UNDECIDED,
        lot: Lot | None = None,
    ) -> None:
        self.table = table
        self._lot = lot
        self._changes = decisions.of_table(table)
        self.kept_name = decisions.of_people(table)
        self._path, self._compared = path, compared
        with self._refusing():
            kinds = parquet.columns_of(path)
        check_header(table, tuple(kinds))
        for column in table.columns:
            if not parquet.fits(kinds[column.name], column.kind):
                detail = f"column {column.name!r} of kind {column.kind} is {kinds[column.name]} in the file"
                raise ImportRefused(ImportProblem.NOT_PARQUET, place=table.path, detail=detail)

    def people(self) -> Iterator[tuple[int, str]]:
        """The number and the person of each row. Raises ImportRefused for one of nobody."""
        with self._refusing():
            for number, person in parquet.people_of(self._path, self.table.person_column.name):
                if not person:
                    place, detail = self.table.path, f"row {number}"
                    raise ImportRefused(ImportProblem.PERSON_EMPTY, place=place, detail=detail)
                yield number, person

    def open_declared(self) -> BinaryIO:
        """The declared columns alone, in the declared order, as a Parquet file that knows nothing else."""
        self._compare()
        # beside the delivery, which is as plain: another file system may be smaller, or less private
        with tempfile.NamedTemporaryFile(dir=self._path.parent, prefix=WORK_PREFIX) as target:
            with self._refusing():
                columns = [column.name for column in self.table.columns]
                parquet.write_declared(
                    self._path,
                    columns,
                    Path(target.name),
                    person=self.table.person_column.name,
                    changes=self._changes,
                )
                self._cut(columns, Path(target.name))
            return Path(target.name).open("rb")

    def _cut(self, columns: list[str], written: Path) -> None:
        """Nobody keeps more rows than the declaration allows."""
        if self._lot is None or self.table.most_rows is None:
            return
        with tempfile.NamedTemporaryFile(dir=self._path.parent, prefix=WORK_PREFIX) as target:
            person = self.table.person_column.name
            was_cut = parquet.write_cut(
                written,
                columns,
                Path(target.name),
                person=person,
                most=self.table.most_rows,
                ticket=self._lot.of_row(self.table.path),
            )
            if was_cut:
                shutil.copyfile(target.name, written)

    def _compare(self) -> None:
        with self._compared() as file:
            while file.read(2**20):
                pass

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except parquet.NotParquet as error:
            place = self.table.path
            raise ImportRefused(ImportProblem.NOT_PARQUET, place=place, detail=str(error)) from None
