"""A request for a trained model: a data set, a model over declared columns, epsilon and delta."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from domain.asked import Asked
from domain.budget import Accounting, cost_on
from domain.dataset import Declaration, Table
from domain.delta import check_delta
from domain.errors import InvalidRequest, NotAllowed
from domain.loss import Delta, Epsilon, micro, units
from domain.model import InsidePath, Model, Number, Slug, Whole, digest
from domain.query.columns import ClippedColumn, find_table
from domain.query.contribution import limit_sentence
from domain.scan_memory import USUAL_MIB, passes
from domain.schedule import Schedule
from domain.training.features import Feature, Target, feature_of, target_of
from privacy.cost import Cost, Currency
from privacy.loss import GuaranteeClass
from privacy.training import Head, Network, Trainer
from privacy.training.clipping import MAX_ROWS
from privacy.training.fixed_point import MAX_INPUTS, MAX_OUTPUTS

MECHANISM = "model_training"
MAX_STEPS_ASKED = 10_000

# what a training may take at any size, and for each part of its work: several times of what one core of a
# machine of 2026 takes, for a training that ends late shows more than one that waits
READ_S = 2.0
READ_S_PER_ROW = 1 / 50_000
READ_S_PER_VALUE = 1 / 2_000_000
SEARCH_S = 20.0
STEP_S = 0.004
STEP_S_PER_PERSON = 1 / 200_000_000
STEP_S_PER_WEIGHT = 1 / 5_000_000
STEP_S_PER_ROW = 1 / 200_000
STEP_S_PER_PRODUCT = 1 / 500_000_000
LONGEST_S = 600.0

MAX_CELLS = 2**27
"""Of the inputs of all people's rows, two bytes each: 256 MiB. While they are read there are up to three
copies, beside the memory of the engine."""


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


class TrainingRequest(Asked):
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
    def is_of_holder(self) -> bool:
        return False

    @property
    def pipeline_digest(self) -> None:
        return None

    @property
    def mechanism_name(self) -> str:
        return MECHANISM

    @property
    def guarantee(self) -> GuaranteeClass:
        return GuaranteeClass.APPROX_DP

    def question(self, *, dataset_id: str, image_digest: str | None = None) -> str:
        """Equal for requests that ask the same of the same snapshot at the same loss."""
        del image_digest
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

    def once_key(self, *, snapshot: str) -> None:
        del snapshot  # the account alone sets the limit

    def schedule(self, declaration: Declaration, *, slots: int) -> Schedule:
        """One run, as long as the public sizes may need: reading, the search for the noise, the steps."""
        network, asked, people = self.trainer(declaration).network, self.model, declaration.nominal_size
        step_s = STEP_S + people * STEP_S_PER_PERSON + network.size * STEP_S_PER_WEIGHT
        step_s += asked.batch * asked.rows * (STEP_S_PER_ROW + network.size * STEP_S_PER_PRODUCT)
        read_s = self._rows(declaration) * (READ_S_PER_ROW + network.inputs * READ_S_PER_VALUE)
        wall_s = READ_S + read_s + SEARCH_S + asked.steps * step_s
        return Schedule(runs=1, wall_s=wall_s, slots=slots, nominal_size=people)

    def _rows(self, declaration: Declaration) -> int:
        table = self.table(declaration)
        of_each = 1 if table.rows_per_person == "one" else table.most_rows or table.twin_rows
        return declaration.nominal_size * of_each * self.passes(declaration)

    def passes(self, declaration: Declaration, *, memory_mib: int = USUAL_MIB) -> int:
        """How often the table is read so that few people are in memory at once."""
        if self.table(declaration).rows_per_person == "one":
            return 1
        return passes(
            nominal_size=declaration.nominal_size,
            rows=self.model.rows,
            values=len(self.model.features) + 1,
            is_choice=True,
            memory_mib=memory_mib,
        )

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
        """All of the model, also what was left to its default: those who read it know no defaults."""
        model = self.model.model_dump(mode="json", exclude_none=True)
        if self.model.rows == 1:
            del model["rows"]
        return {"epsilon": self.epsilon, "delta": self.delta, **model}


def check_training(request: TrainingRequest, declaration: Declaration) -> None:
    """Raises InvalidRequest when the declaration does not fit the training: before anything is reserved."""
    check_delta(request.delta, field="delta", nominal_size=declaration.nominal_size)
    many = request.table(declaration).rows_per_person == "many"
    if request.model.rows > 1 and not many:
        raise InvalidRequest("model.rows", "the table holds one row per person.", "Leave it out.")
    try:
        inputs = request.trainer(declaration).network.inputs
        request.cost(declaration)
    except ValueError as error:
        raise InvalidRequest("model", f"{error}") from None
    cells = declaration.nominal_size * request.model.rows * inputs
    if cells > MAX_CELLS:
        raise InvalidRequest(
            "model.features",
            f"rows of all people times inputs are {cells:,}, over the {MAX_CELLS:,} that fit into memory.",
            "Choose fewer features, or fewer rows of a person.",
        )
    wall_s = request.schedule(declaration, slots=1).wall_s
    if wall_s > LONGEST_S:
        raise InvalidRequest(
            "model.steps",
            f"by its public sizes the training is given {wall_s:,.0f} s, over the {LONGEST_S:,.0f} of a job.",
            "Choose fewer steps, a smaller batch or a smaller model.",
        )


def check_accounts(declaration: Declaration) -> None:
    """Raises NotAllowed where no account can pay for any training."""
    if declaration.accounting is Accounting.ZCDP:
        raise NotAllowed(
            "dataset",
            f"{declaration.name} accounts in rho, and a training is proven to be of an epsilon and a delta.",
            "Ask a trusted query, or submit a pipeline.",
        )
    if declaration.budget_delta is None:
        raise NotAllowed(
            "dataset",
            f"no budget of delta was opened for {declaration.name}, and each training takes some.",
            "Ask the rights holder for one.",
        )
