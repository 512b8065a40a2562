"""A data set: what its rights holder declares, and what became of its registration."""

from domain.dataset.declaration import Declaration, PrivacyUnit
from domain.dataset.files import PERSON, PersonFile, PublicFile, TwinVolume
from domain.dataset.registration import Dataset, DatasetState, ImportProblem
from domain.dataset.table import Category, Column, ColumnName, Table, Typical

__all__ = [
    "PERSON",
    "Category",
    "Column",
    "ColumnName",
    "Dataset",
    "DatasetState",
    "Declaration",
    "ImportProblem",
    "PersonFile",
    "PrivacyUnit",
    "PublicFile",
    "Table",
    "TwinVolume",
    "Typical",
]
