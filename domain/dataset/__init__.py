"""A data set: what its rights holder declares, and what became of its registration."""

from __future__ import annotations

from enum import StrEnum

from domain.dataset.column import Category, Column, ColumnName, Typical
from domain.dataset.declaration import Declaration, PrivacyUnit
from domain.dataset.files import PERSON, PersonFile, PublicFile, TwinVolume
from domain.dataset.identifying import Dropped, Identifying
from domain.dataset.table import Table
from domain.model import Model, Slug
from domain.refusals import admission

__all__ = [
    "HAS_BEEN_READY",
    "PERSON",
    "Category",
    "Column",
    "ColumnName",
    "Dataset",
    "DatasetState",
    "Declaration",
    "Dropped",
    "Identifying",
    "ImportProblem",
    "PersonFile",
    "PrivacyUnit",
    "PublicFile",
    "Table",
    "TwinVolume",
    "Typical",
]


# What became of a declared data set: its versions, and why an import is refused.


class DatasetState(StrEnum):
    IMPORTING = "IMPORTING"  # the worker zone checks and seals what was delivered
    READY = "READY"
    REFUSED = "REFUSED"  # `problem` says why, from a fixed list: the text has not seen data
    WITHDRAWN = "WITHDRAWN"  # it was READY; its rights holder lets no new job see it
    ERASED = "ERASED"  # it was WITHDRAWN; nothing opens its sealed files any more

    @property
    def has_been_ready(self) -> bool:
        return self in HAS_BEEN_READY


HAS_BEEN_READY = (DatasetState.READY, DatasetState.WITHDRAWN, DatasetState.ERASED)


class ImportProblem(StrEnum):
    """Why an import was refused. A fixed list, because these words pass the gateway; `dpgate dataset check`
    says more, on the rights holder's own machine."""

    NOT_DELIVERED = "nothing was delivered under that name; run dpgate dataset add where the data are"
    UNFINISHED = "the delivery was interrupted; run the same dpgate dataset add again"
    CHECKSUM = "a file is missing or differs from the checksums that came with the delivery"
    FILE_MISSING = "a declared file is missing"
    FILE_UNDECLARED = "the tree holds a file that is neither declared, nor excluded, nor a person's"
    TABLE_UNDECLARED = "a table with a column of people is not declared; declare it, or exclude it"
    NOT_BIDS = "dataset_description.json is missing, or is no JSON object with Name and BIDSVersion"
    NOT_A_FILE = "the tree holds a link or a special file; deliver plain files"
    FILE_NAME = "a file's path is not UTF-8, has control characters, or is too long or too deep; rename it"
    TOO_LARGE = "a file is larger than this platform imports"
    NOT_UTF8 = "a table is not text in the encoding of its dialect, or in UTF-8 where it has none; convert it"
    NOT_A_TABLE = (
        "a table has rows of unequal length, a misplaced quote or line end, no header, or a number or day "
        "that is not written as its dialect says; run dpgate dataset check where the data are"
    )
    NOT_PARQUET = "a Parquet table cannot be read, or a column's type does not fit its declared kind"
    UNIT_COLUMN_MISSING = "a table lacks its person column"
    COLUMN_MISSING = "a table lacks a declared column"
    COLUMN_REPEATED = "a table has two columns of the same name"
    PERSON_EMPTY = "a row names no person"
    PERSON_NAME = "a person's name has characters that names do not have, or in BIDS is not sub-XX"
    PERSON_REPEATED = "a person has two rows in a table declared with one row per person"
    PERSON_MENTIONED = (
        "a file that is not a person's own, or is another's, names the person; exclude it, or state of a "
        "public text that it hides_people"
    )
    TOO_MANY_PEOPLE = "there are more people than 1.25 times the nominal size and 6; state a larger one"
    PEOPLE_MISSING = "a table or folder names a person who is missing from the privacy unit's table"
    FOLDER_MISSING = "a person of the privacy unit's table has no folder; state folders: some if that is so"
    VOLUME_PLACE = (
        "a person's volume is no NIfTI file, or does not lie as declared; turn it, declare its orientation "
        "or affine, or state any_orientation"
    )
    SAME_PEOPLE = (
        "people of this data set are in another cohort of yours already; declare that cohort, "
        "or state new_people: true if the same names stand for other people"
    )
    WITHDRAWN = "the data set was withdrawn while this version was imported"


class Dataset(Model):
    """A registered data set: the declaration, and what became of its import. Its policy is the one in effect,
    or, for a job, the one that was in effect when the job was submitted."""

    id: str
    version: int
    owner: Slug
    cohort: str
    declaration: Declaration
    policy_number: int = 1
    state: DatasetState
    problem: ImportProblem | None = None
    snapshot: str | None = None
    # which of the worker zone's keys it is sealed under; none where it has no key of its own
    data_key: str | None = None

    @property
    def name(self) -> str:
        return self.declaration.name

    def check_ready(self) -> None:
        """Raises Conflict unless new work may see these data, or their twin."""
        if self.state is DatasetState.READY:
            return
        if self.state.has_been_ready:
            raise admission.TAKES_NOTHING(dataset=self.name, state=self.state.lower())
        raise admission.NOT_READY(dataset=self.name, state=self.state)
