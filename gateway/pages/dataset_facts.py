"""A declaration in plain words: columns, files, promises and policy, as a page lists them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from domain import dictionary
from domain.channel_words import in_words
from domain.dataset import Column, Declaration, Table
from domain.dataset.person_size import size_sentence
from domain.policy import Policy
from gateway.pages.layout import counted, number

KINDS = {
    "person": "names the person",
    "integer": "whole number",
    "number": "number",
    "categorical": "one of a list",
    "date": "date",
    "text": "text, kept by a recorded decision",
}


@dataclass(frozen=True)
class ColumnFact:
    """One row of the data dictionary."""

    name: str
    kind: str
    values: str
    categories: tuple[str, ...]
    missing: str
    description: str


@dataclass(frozen=True)
class FileFact:
    """One file of the data set, and of the twin."""

    path: str
    what: str


@dataclass(frozen=True)
class Promise:
    """One class of guarantee, as pages show it. `tone` never says more than the words do."""

    name: str
    tone: str
    sign: str
    sentence: str


_NAMES = {
    "pure_dp": ("Differential privacy", "good", "shield"),
    "approx_dp": ("Approximate differential privacy", "accent", "shield"),
    "pac": ("PAC privacy", "warn", "shield"),
    "empirical": ("No formal guarantee", "bad", "warning"),
}


def promise_of(guarantee: object, sentence: str) -> Promise:
    """The class with a name for people; `sentence` is its promise."""
    name, tone, sign = _NAMES[str(guarantee)]
    said = sentence.removeprefix(f"{name}: ")  # the page has it as a heading
    return Promise(name, tone, sign, said[:1].upper() + said[1:])


def promises(policy: Policy) -> list[Promise]:
    """The classes that the policy allows."""
    return [promise_of(guarantee, guarantee.sentence) for guarantee in policy.guarantees]


def contribution(declaration: Declaration) -> str:
    """What one person puts in, and so what the promise is about."""
    many = [table.path for table in declaration.tables if table.rows_per_person == "many"]
    parts = [f"one row in {counted(len(declaration.tables) - len(many), 'table')}"]
    if len(declaration.tables) == len(many):
        parts = []
    if many:
        parts.append(f"any number of rows in {counted(len(many), 'table')}")
    if declaration.person_files:
        parts.append(f"{counted(len(declaration.person_files), 'file')} of their own")
    given = f"One {declaration.privacy_unit.name} gives {' and '.join(parts)}; all of it is protected."
    return " ".join([given, *_mosts(declaration)])


def _mosts(declaration: Declaration) -> Iterator[str]:
    """What an import keeps of one person at the most. How many people had more is said to nobody here."""
    for table in declaration.tables:
        if table.most_rows is not None:
            yield f"Of {table.path}, at most {counted(table.most_rows, 'row')} of each person are kept."
    if declaration.most_bytes is not None:
        yield f"Of their files, at most {declaration.most_bytes:,} bytes are kept."
    if declaration.policy.timing.mode == "padded":
        yield size_sentence(declaration)


def columns(declaration: Declaration, *, sought: str = "") -> list[tuple[str, str, list[ColumnFact]]]:
    """The data dictionary: for each table its path, its rows in words, and those columns that are sought."""
    wanted = {(entry.table, entry.column) for entry in dictionary.entries(declaration, sought=sought)}
    return [
        (
            table.path,
            _rows(table),
            [_column(column) for column in table.columns if (table.path, column.name) in wanted],
        )
        for table in declaration.tables
        if any((table.path, column.name) in wanted for column in table.columns)
    ]


def _rows(table: Table) -> str:
    usual = f"; about {table.typical_rows:,} in the twin" if table.typical_rows else ""
    rows = "one row per person" if table.rows_per_person == "one" else f"many rows per person{usual}"
    return f"{rows}. {table.dialect.words}" if table.dialect and table.dialect.words else rows


def files(declaration: Declaration) -> list[FileFact]:
    """Every declared file, in the order of the tree."""
    return [
        *(FileFact(table.path, f"table with {counted(len(table.columns), 'declared column')}")
          for table in declaration.tables),
        *(FileFact(file.path, "one for each person") for file in declaration.person_files),
        *(FileFact(file.path, "the same for everybody") for file in declaration.public_files),
    ]  # fmt: skip


def rules(policy: Policy) -> list[tuple[str, str]]:
    """The policy as pairs of a question and its answer."""
    everybody = "*" in policy.data_users
    return [
        ("Who may use it", "everybody with an account here" if everybody else _list(policy.data_users)),
        ("Largest epsilon of one job", policy.max_epsilon_per_job),
        *_project_limit(policy),
        *_values_limit(policy),
        ("Smallest block", counted(policy.min_block_size, "person", "people")),
        ("Images that pipelines run in", _list(policy.images)),
        *_mechanisms(policy),
        ("Most time of one run", counted_seconds(policy.max_wall_seconds)),
        ("Most memory of one run", f"{policy.max_memory_mib:,} MiB"),
        ("Before a job runs", _decided(policy, policy.approve_jobs, policy.approve_jobs_above, "approve")),
        (
            "Before a release is read",
            _decided(policy, policy.review_releases, policy.review_releases_above, "review"),
        ),
        ("Runs of one job and of others", policy.isolation.sentence),
        ("What a run could still read of another", in_words(policy.all_accepted_channels)),
        ("When a release is out", policy.timing.sentence),
    ]


def _mechanisms(policy: Policy) -> list[tuple[str, str]]:
    return [] if policy.mechanisms is None else [("Mechanisms", _list(policy.mechanisms))]


def _project_limit(policy: Policy) -> list[tuple[str, str]]:
    limit = policy.max_epsilon_per_project
    return [] if limit is None else [("Largest epsilon of one project", f"{limit}, of all its jobs together")]


def _values_limit(policy: Policy) -> list[tuple[str, str]]:
    limit = policy.max_values
    return [] if limit is None else [("Most values of one release", f"{limit}")]


def _decided(policy: Policy, always: bool, above: str | None, verb: str) -> str:
    """Who decides, and on which of them."""
    if not always and above is None:
        return "nobody decides"
    people = "the rights holder" if not policy.reviewers else "the rights holder or another reviewer"
    who = f"two reviewers {verb}" if policy.votes == 2 else f"{people} {verb}s"
    return f"{who} it" if always else f"{who} it above epsilon {above}, or without an epsilon"


def counted_seconds(seconds: float) -> str:
    """Seconds in the unit that people would use."""
    if seconds >= 120:
        return f"{number(round(seconds / 60, 1))} minutes"
    return f"{number(seconds)} seconds"


def _column(column: Column) -> ColumnFact:
    has_bounds = column.lower is not None and column.upper is not None
    values = f"{_bound(column.lower)} to {_bound(column.upper)}" if has_bounds else ""
    missing = f"{column.missing}, in about {column.missing_rate:.0%} of rows" if column.missing_rate else ""
    return ColumnFact(
        name=column.name,
        kind=f"{KINDS[column.kind]}{' and time' * column.with_time}",
        values=values,
        categories=column.categories,
        missing=missing,
        description=column.description,
    )


def _bound(value: float | str | None) -> str:
    return value if isinstance(value, str) else number(value)


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none yet"
