"""What a form proposes for a training, from the declaration alone; everything of it can be written over."""

from __future__ import annotations

from dataclasses import dataclass

from domain.dataset import Column, Declaration, Table
from domain.delta import LEAST_PEOPLE_PER_DELTA
from domain.loss import Currency, format_amount
from domain.training.features import USABLE
from privacy.cost import ATTO
from privacy.training import Head
from privacy.training.fixed_point import MAX_OUTPUTS

_PEOPLE_PER_BATCH = 32
_LEAST_BATCH, _MOST_BATCH = 64, 2048
_USUAL_DELTA = ATTO // 100_000


@dataclass(frozen=True)
class Proposed:
    """`columns` are those that can be a feature, `features` those of them that are proposed."""

    columns: tuple[Column, ...]
    features: frozenset[str]
    targets: tuple[Column, ...]
    target: str
    kind: Head
    batch: int
    delta: str


def proposed(declaration: Declaration, table: Table) -> Proposed:
    """A batch of a thirty-second of the people; a power of ten that every policy's size admits as delta."""
    columns = tuple(column for column in table.columns if column.kind in USABLE)
    targets = tuple(column for column in columns if len(column.categories) != 1)
    # what has categories is more often asked for than a number
    first = min(targets, key=lambda column: column.kind != "categorical", default=None)
    people = declaration.nominal_size
    batch = min(max(people // _PEOPLE_PER_BATCH, _LEAST_BATCH), _MOST_BATCH, people)
    return Proposed(
        columns=columns,
        features=frozenset(column.name for column in columns if len(column.categories) <= MAX_OUTPUTS),
        targets=targets,
        target="" if first is None else first.name,
        kind=_kind(first),
        batch=batch,
        delta=usual_delta(people),
    )


def usual_delta(people: int) -> str:
    """A power of ten."""
    most, found = ATTO // (LEAST_PEOPLE_PER_DELTA * people), _USUAL_DELTA
    while found > most:
        found //= 10
    return format_amount(Currency.DELTA, found)


def _kind(target: Column | None) -> Head:
    if target is None or target.kind != "categorical":
        return Head.LINEAR
    return Head.LOGISTIC if len(target.categories) == 2 else Head.SOFTMAX
