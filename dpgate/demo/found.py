"""What a demo found, as plain numbers: the screen, the chart and the JSON document are made of it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import exp
from typing import Any

from dpgate.errors import DpgateError
from dpgate.models import Release, Value


@dataclass(frozen=True)
class Answer:
    """One released number, the 95 % interval of its noise, and the truth, which public data let us print."""

    name: str
    value: float
    low: float
    high: float
    truth: float

    @classmethod
    def of(cls, value: Value, *, name: str, truth: float) -> Answer:
        if value.lower_95 is None or value.upper_95 is None:
            raise DpgateError(f"{value.name} came without an interval")
        return cls(name, value.headline, value.lower_95, value.upper_95, truth)

    @property
    def covers(self) -> bool:
        return self.low <= self.truth <= self.high

    @property
    def within(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Asked:
    """Answers of one job, what they cost and over how many runs."""

    epsilon: str
    guarantee: str
    runs: int
    answers: tuple[Answer, ...]

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Asked:
        return cls(**{**document, "answers": tuple(Answer(**one) for one in document["answers"])})

    @classmethod
    def of(cls, release: Release, runs: int, answers: tuple[Answer, ...]) -> Asked:
        return cls(release.cost["epsilon"], release.guarantee, runs, answers)


@dataclass(frozen=True)
class Spied:
    """What a pipeline got that answers 1 in the block of one person and 0 in all others.

    `scale` is that of the discrete Laplace noise of the mean, `blocks` how many there were.
    """

    epsilon: str
    blocks: int
    value: float
    low: float
    high: float
    scale: float

    @property
    def within(self) -> float:
        """Half the width of the 95 % interval of the noise."""
        return (self.high - self.low) / 2

    @property
    def if_there(self) -> float:
        """The mean without noise where the person is in the data; where not, it is 0."""
        return 1 / self.blocks

    @property
    def odds(self) -> float:
        """How many times as likely this value is with the person in the data as without."""
        return exp((abs(self.value) - abs(self.value - self.if_there)) / self.scale)

    @property
    def belief(self) -> float:
        """How sure one may be that the person is in the data, if one was undecided before (Bayes)."""
        return self.odds / (1 + self.odds)

    @property
    def most_belief(self) -> float:
        """The same, at the most: whatever the pipeline answers, by the theorem."""
        most = exp(float(self.epsilon))
        return most / (1 + most)


@dataclass(frozen=True)
class Found:
    """All of it. `few` are means of a data set of `few_people`, over blocks of `few_block_size`."""

    people: int
    query: Asked
    pipeline: Asked
    spied: Spied
    refusal: str
    few_people: int
    few_block_size: int
    few: Asked
    budget: str
    budget_left: str
    seconds: float

    @property
    def guarantee(self) -> str:
        """The classes of all answers."""
        return ", ".join(sorted({asked.guarantee for asked in (self.query, self.pipeline, self.few)}))

    @property
    def answers(self) -> tuple[Answer, ...]:
        return (*self.query.answers, *self.pipeline.answers, *self.few.answers)

    @property
    def covered(self) -> int:
        return sum(answer.covers for answer in self.answers)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Found:
        """What `document` wrote."""
        asked = {name: Asked.read(document[name]) for name in ("query", "pipeline", "few")}
        return cls(**{**document, **asked, "spied": Spied(**document["spied"])})

    def document(self) -> dict[str, Any]:
        return asdict(self)
