"""A data set: what its rights holder declares, and what became of its registration."""

from domain.dataset.column import Category, Column, ColumnName, Typical
from domain.dataset.declaration import Declaration, PrivacyUnit
from domain.dataset.files import PERSON, PersonFile, PublicFile, TwinVolume
from domain.dataset.identifying import Dropped, Identifying
from domain.dataset.registration import Dataset, DatasetState, ImportProblem
from domain.dataset.table import Table

__all__ = [
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
