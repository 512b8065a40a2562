"""A request for a trained model: a data set, a model over declared columns, epsilon and delta."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from domain.budget import cost_on
from domain.dataset import Declaration, Table
from domain.delta import check_delta
from domain.errors import InvalidRequest
from domain.loss import Delta, Epsilon, micro, units
from domain.model import InsidePath, Model, Number, Slug, Whole, digest
from domain.query.columns import ClippedColumn, find_table
from domain.query.contribution import limit_sentence
from domain.training.features import Feature, Target, feature_of, target_of
from privacy.cost import Cost, Currency
from privacy.loss import GuaranteeClass
from privacy.training import Head, Network, Trainer
from privacy.training.clipping import MAX_ROWS
from privacy.training.fixed_point import MAX_INPUTS, MAX_OUTPUTS

MECHANISM = "model_training"
MAX_STEPS_ASKED = 10_000


class AskedModel(Model):
    """Which model, of which columns, and how it is trained; all of it public.

    `rows` is how many rows of one person count at most, in a table with many of each.
    """

    table: InsidePath | None = None
    kind: Head
    target: ClippedColumn
    features: Annotated[tuple[ClippedColumn, ...], Field(min_length=1, max_length=MAX_INPUTS)]
    hidden: Annotated[tuple[Annotated[Whole, Field(ge=1, le=MAX_OUTPUTS)], ...], Field(max_length=2)] = ()
    steps: Annotated[Whole, Field(ge=1, le=MAX_STEPS_ASKED)] = 500
    batch: Annotated[Whole, Field(ge=1)]
    clip: Annotated[Number, Field(ge=0.01, le=100)] = 1.0
    learning_rate: Annotated[Number, Field(gt=0, le=1000)] = 0.5
    momentum: Annotated[Number, Field(ge=0, lt=1)] = 0.9
    average: bool = True
    rows: Annotated[Whole, Field(ge=1, le=MAX_ROWS)] = 1


class TrainingRequest(Model):
    """What a data user asks of the platform itself."""

    dataset: Slug
    model: AskedModel
    epsilon: Epsilon
    delta: Delta
    project: Slug | None = None

    @property
    def micro_epsilon(self) -> int:
        return micro(self.epsilon)

    @property
    def atto_delta(self) -> int:
        return units(Currency.DELTA, self.delta)

    @property
    def title(self) -> str:
        return f"{self.model.kind} model of {self.model.target.name}"

    @property
    def guarantee(self) -> GuaranteeClass:
        return GuaranteeClass.APPROX_DP

    def question(self, *, dataset_id: str) -> str:
        """Equal for requests that ask the same of the same snapshot at the same loss."""
        return digest(
            {
                "dataset": dataset_id,
                "mechanism": MECHANISM,
                "micro_epsilon": self.micro_epsilon,
                "atto_delta": self.atto_delta,
                "model": self.model.model_dump(mode="json"),
            }
        )

    def cost(self, declaration: Declaration) -> Cost:
        """Raises ValueError for an account of rho: what is proven of a training is epsilon and delta."""
        cost = Cost.of({Currency.EPSILON: self.micro_epsilon, Currency.DELTA: self.atto_delta})
        return cost_on(declaration.accounting, cost, pico_rho=None)

    def table(self, declaration: Declaration) -> Table:
        return find_table(declaration, self.model.table, field="model.table")

    def limit(self, declaration: Declaration) -> str | None:
        """How the rows of a person were limited, in words; None where there is one anyway."""
        many = self.table(declaration).rows_per_person == "many"
        return limit_sentence(self.model.rows) if many else None

    def features(self, declaration: Declaration) -> tuple[Feature, ...]:
        """In the order of the model's inputs. Raises InvalidRequest."""
        table = self.table(declaration)
        found = tuple(
            feature_of(asked, table, field=f"model.features.{position}")
            for position, asked in enumerate(self.model.features)
        )
        names = [feature.name for feature in found]
        for position, name in enumerate(names):
            if name in names[:position]:
                raise InvalidRequest(f"model.features.{position}", f"{name} is named twice.", "Name it once.")
            if name == self.model.target.name:
                raise InvalidRequest(
                    f"model.features.{position}", f"{name} is the target as well.", "Leave it out."
                )
        return found

    def target(self, declaration: Declaration) -> Target:
        """Raises InvalidRequest."""
        return target_of(self.model.target, self.table(declaration), self.model.kind, field="model.target")

    def trainer(self, declaration: Declaration) -> Trainer:
        """The training with everything fixed before data is read. Raises InvalidRequest or ValueError."""
        asked, target = self.model, self.target(declaration)
        inputs = sum(feature.inputs for feature in self.features(declaration))
        if inputs > MAX_INPUTS:
            raise InvalidRequest(
                "model.features",
                f"they make {inputs:,} inputs, one for each number and category: over {MAX_INPUTS:,}.",
                "Choose fewer.",
            )
        return Trainer(
            Network(inputs, asked.kind, target.outputs, asked.hidden),
            nominal_size=declaration.nominal_size,
            batch=asked.batch,
            steps=asked.steps,
            clip=Fraction(repr(asked.clip)),
            micro_epsilon=self.micro_epsilon,
            atto_delta=self.atto_delta,
            learning_rate=asked.learning_rate,
            momentum=asked.momentum,
            average=asked.average,
        )

    def choices(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            **self.model.model_dump(mode="json", exclude_defaults=True),
        }


def check_training(request: TrainingRequest, declaration: Declaration) -> None:
    """Raises InvalidRequest when the declaration does not fit the training: before anything is reserved."""
    check_delta(request.delta, field="delta", nominal_size=declaration.nominal_size)
    many = request.table(declaration).rows_per_person == "many"
    if request.model.rows > 1 and not many:
        raise InvalidRequest("model.rows", "the table holds one row per person.", "Leave it out.")
    try:
        request.trainer(declaration)
        request.cost(declaration)
    except ValueError as error:
        raise InvalidRequest("model", f"{error}") from None
