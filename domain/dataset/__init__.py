"""A data set: what its rights holder declares, and what became of its registration."""

from domain.dataset.column import Category, Column, ColumnName, Typical
from domain.dataset.declaration import Declaration, PrivacyUnit
from domain.dataset.files import PERSON, PersonFile, PublicFile, TwinVolume
from domain.dataset.identifying import Dropped, Identifying
from domain.dataset.registration import HAS_BEEN_READY, Dataset, DatasetState, ImportProblem
from domain.dataset.table import Table

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
