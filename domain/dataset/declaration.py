"""A data set as its rights holder declares it. Everything here is public to the people whom the policy names.

Nothing in a declaration may be looked up in the data by the platform: bounds, categories and sizes are what
the rights holder states, since a bound taken from the data is itself a disclosure.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from domain import budget
from domain.budget import Accounting
from domain.dataset.column import ColumnName
from domain.dataset.files import PersonFile, PublicFile, covers, leads_to
from domain.dataset.profiled import Profiled, check_decided, check_decisions
from domain.dataset.table import Table, repeated
from domain.loss import Delta, Epsilon, Nats
from domain.model import InsidePath, Model, Slug, Whole, Words, find_inside_another
from domain.policy import Policy
from privacy.cost import Currency

MAX_PUBLIC_BYTES = 8 * 2**20
LEAST_MOST_BYTES = 65_536


def _is_default(value: object) -> bool:
    return value in ((), "all", None)


class PrivacyUnit(Model):
    """What one neighbour differs by: everything that belongs to one value of this column."""

    name: Slug = "participant"
    """What to call one unit in certificates."""
    table: InsidePath
    """The table that lists everybody."""
    column: ColumnName
    """Its column of kind `person`."""


class Declaration(Model):
    """What a rights holder registers (`dataset.yaml`)."""

    name: Slug
    """Small letters, digits, hyphens. Registering the same name again makes a new version."""
    title: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    """One line for the catalogue."""
    description: Words = ""
    """For the people who may use it."""
    licence: Words = ""
    """How the data may be used."""
    citation: Words = ""
    """How to cite it."""
    layout: Literal["bids", "tables"] = "tables"
    """`bids`: one folder for each person beside the tables. `tables`: tables only."""
    privacy_unit: PrivacyUnit
    """What one neighbour differs by."""
    nominal_size: Annotated[Whole, Field(ge=6, le=1_000_000_000)]
    """A public number of people, who are dealt into as many slots. The number of blocks comes from it, never
    from the data."""
    tables: Annotated[tuple[Table, ...], Field(min_length=1, max_length=100)]
    """The files of rows."""
    person_files: Annotated[tuple[PersonFile, ...], Field(max_length=1000)] = ()
    """Files that each person has; used to make the twin. Only with layout `bids`."""
    public_files: Annotated[tuple[PublicFile, ...], Field(max_length=1000)] = ()
    """Files that say nothing about any one person."""
    excluded: Annotated[tuple[InsidePath, ...], Field(max_length=1000, exclude_if=_is_default)] = ()
    """Files, and folders with all in them that is not declared, left out unread; `{person}` stands for
    anybody."""
    folders: Annotated[Literal["all", "some"], Field(exclude_if=_is_default)] = "all"
    """With `bids`: whether everybody of the unit's table has a folder. `some`: your word that not."""
    most_bytes: Annotated[Whole | None, Field(ge=LEAST_MOST_BYTES, le=2**50, exclude_if=_is_default)] = None
    """With `bids`: an import keeps no more of anybody's files together, chosen by lot; each counts 65,536
    beside its bytes."""
    profile: Annotated[Profiled | None, Field(exclude_if=_is_default)] = None
    """Which registration profile the declaration rests on: looked at when you register, and kept nowhere."""
    cohort: Slug | None = None
    """The people whose budget this data set shares. Default: the name, or the earlier version's."""
    new_people: bool = False
    """State that the same names stand for other people than those of your other cohorts."""
    synthetic: bool = False
    """Your word that no real person is in the data. Workers with profile `dev` run jobs on such data only; it
    changes nothing else."""
    accounting: Accounting = Accounting.PURE_SUM
    """How losses of differential privacy add up. `pure_sum`: epsilons, deltas beside them. `zcdp`: one
    account of rho that covers both; better for many small releases. Fixed for the cohort."""
    budget_epsilon: Epsilon
    """The cap of the whole cohort, over all versions, users and projects."""
    budget_delta: Delta | None = None
    """The same for delta: opens the class `approx_dp`. With `zcdp` it is needed."""
    budget_nats: Nats | None = None
    """The same for PAC privacy: opens the class `pac`. Above ln 2 it promises nothing."""
    budget_releases: Annotated[Whole, Field(ge=1, le=1_000_000)] | None = None
    """How many releases with no formal guarantee: opens the class `empirical`."""
    policy: Policy
    """What you allow."""

    @model_validator(mode="after")
    def _hangs_together(self) -> Declaration:
        paths = list(self._paths())
        if twice := repeated(paths):
            raise ValueError(f"the file {twice[0]} is declared twice")
        if inner := find_inside_another(paths):
            raise ValueError(f"the file {inner} lies inside the path of another declared file")
        if left_out := next((path for path in paths if path in self.excluded), None):
            raise ValueError(f"the file {left_out} is both declared and excluded; do one of the two")
        return self

    @model_validator(mode="after")
    def _decisions_hold(self) -> Declaration:
        check_decisions(self.tables, layout=self.layout)
        if self.profile is not None:
            check_decided(self.profile, self.tables)
        return self

    @model_validator(mode="after")
    def _unit_is_declared(self) -> Declaration:
        unit_table = next((table for table in self.tables if table.path == self.privacy_unit.table), None)
        if unit_table is None:
            raise ValueError(f"privacy_unit.table {self.privacy_unit.table} is not among the declared tables")
        if unit_table.person_column.name != self.privacy_unit.column:
            raise ValueError(
                f"privacy_unit.column {self.privacy_unit.column} must be the column of kind person"
            )
        if unit_table.rows_per_person != "one" and self.layout == "bids":
            raise ValueError("a BIDS participants table has one row per person")
        return self

    @model_validator(mode="after")
    def _layout_allows_it(self) -> Declaration:
        if self.person_files and self.layout != "bids":
            raise ValueError("person_files need layout bids")
        if self.layout == "bids" and any(table.is_parquet for table in self.tables):
            raise ValueError("a Parquet table needs layout tables; BIDS tables are .tsv")
        if self.folders == "some" and self.layout != "bids":
            raise ValueError("folders need layout bids")
        if self.most_bytes is not None and self.layout != "bids":
            raise ValueError("most_bytes is of people's files, which need layout bids; remove it")
        size = sum(len(file.content) for file in self.public_files)
        if size > MAX_PUBLIC_BYTES:
            raise ValueError(
                f"public_files hold {size} bytes, more than {MAX_PUBLIC_BYTES}; state as_delivered for large "
                "ones, with a small stand-in for the twin"
            )
        return self

    @model_validator(mode="after")
    def _budget_holds(self) -> Declaration:
        _ = self.caps  # its ValueError names the field
        if problem := self.problem_of(self.policy):
            raise ValueError(f"policy.max_epsilon_per_project {problem}")
        return self

    def problem_of(self, policy: Policy) -> str | None:
        """Why `max_epsilon_per_project` of a policy does not fit the budget, or None."""
        if policy.max_epsilon_per_project is None or Currency.EPSILON in self.caps:
            return None
        return (
            f"needs losses that are counted in epsilon; with accounting {self.accounting}, allot each "
            "project a share of the budget instead"
        )

    def excludes(self, path: str) -> bool:
        """Whether a file of the delivery is left out unread, or a folder with all in it: what is
        declared inside an excluded folder stays."""
        if not any(covers(place, path) for place in self.excluded):
            return False
        return not any(leads_to(path, declared) for declared in self._paths())

    @property
    def most_people(self) -> int:
        """As many as an import takes: what is public about a release's time rests on it."""
        return self.nominal_size * 5 // 4 + 6

    def _paths(self) -> Iterator[str]:
        yield from (table.path for table in self.tables)
        yield from (file.path for file in self.public_files)
        yield from (path for file in self.person_files for path in file.paths)

    @cached_property
    def caps(self) -> dict[Currency, int]:
        """The cap of each account of the cohort, in units of its currency."""
        return budget.caps(self.accounting, **self._budgets)

    @property
    def budget_sentence(self) -> str:
        """What the budget promises, for people."""
        return budget.sentence(self.accounting, **self._budgets)

    @property
    def _budgets(self) -> dict[str, Any]:
        return {name: getattr(self, f"budget_{name}") for name in ("epsilon", "delta", "nats", "releases")}
