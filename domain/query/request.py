"""A request for a trusted query: a data set, a query, and the epsilon to spend on it."""

from __future__ import annotations

from itertools import product
from typing import Any

from domain.asked import Asked
from domain.budget import cost_on
from domain.dataset import Declaration, Table
from domain.errors import InvalidRequest
from domain.loss import Epsilon, micro
from domain.model import Slug, digest
from domain.query.columns import find_column, find_table
from domain.query.contribution import Contribution, rule_for
from domain.query.kinds import AnyQuery
from domain.schedule import Schedule
from privacy.concentrated import ceil_pico
from privacy.cost import Cost, Currency
from privacy.loss import GuaranteeClass
from privacy.trusted import Groups, TrustedQuery
from privacy.trusted.query import MECHANISM

MAX_RELEASED = 2000
MAX_WIDTH = 2**20
"""Most integers that a scan keeps, so that what is sealed stays below 16 MiB."""

SCAN_S = 2.0
"""What a scan may take at any size; the rest is by the public nominal size."""
SCAN_S_PER_PERSON = 1 / 100_000
ROWS_PER_PERSON = 20
"""How many rows per person the schedule allows for in a table with many; more make a release late."""


class QueryRequest(Asked):
    """What a data user asks of the platform itself."""

    dataset: Slug
    query: AnyQuery
    epsilon: Epsilon
    project: Slug | None = None

    @property
    def micro_epsilon(self) -> int:
        return micro(self.epsilon)

    @property
    def title(self) -> str:
        names = ", ".join(column.name for column in self.query.read_columns)
        return f"{self.query.kind} of {names}" if names else self.query.kind

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
        return GuaranteeClass.PURE_DP

    def choices(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            **self.query.model_dump(mode="json", exclude_defaults=True),
            "kind": self.query.kind,
        }

    def question(self, *, dataset_id: str, image_digest: str | None = None) -> str:
        """Equal for requests that ask the same of the same snapshot at the same loss."""
        return digest(
            {
                "dataset": dataset_id,
                "image": image_digest,
                "mechanism": MECHANISM,
                "micro_epsilon": self.micro_epsilon,
                "query": self.query.model_dump(mode="json"),
            }
        )

    def once_key(self, *, snapshot: str) -> None:
        del snapshot  # the account alone sets the limit

    def cost(self, declaration: Declaration) -> Cost:
        pico_rho = ceil_pico(self.mechanism_for(declaration).rho)
        epsilon = Cost.of({Currency.EPSILON: self.micro_epsilon})
        return cost_on(declaration.accounting, epsilon, pico_rho=pico_rho)

    def schedule(self, declaration: Declaration, *, slots: int) -> Schedule:
        """One run, as long as the public size of the data set may need."""
        table = self.table(declaration)
        rows = 1 if table.rows_per_person == "one" else table.most_rows or ROWS_PER_PERSON
        return Schedule(
            runs=1,
            wall_s=SCAN_S + declaration.nominal_size * rows * SCAN_S_PER_PERSON,
            slots=slots,
            nominal_size=declaration.nominal_size,
        )

    def table(self, declaration: Declaration) -> Table:
        return find_table(declaration, self.query.table)

    def contribution(self, declaration: Declaration) -> Contribution | None:
        """How a person's rows are brought down to a limit; None where there is one anyway."""
        return rule_for(self.table(declaration), self.query.contribution)

    def limit(self, declaration: Declaration) -> str | None:
        """How a person's rows were brought down to a limit, in words; None where there is one anyway."""
        rule = self.contribution(declaration)
        return None if rule is None else rule.sentence(in_groups=bool(self.query.by))

    def groups(self, declaration: Declaration) -> tuple[tuple[str, ...], ...]:
        """Every combination of declared categories that rows are grouped by; one empty one without groups."""
        table = self.table(declaration)
        names = self.query.group_columns(table)
        columns = [find_column(table, name, field="query.by", kinds=("categorical",)) for name in names]
        return tuple(product(*(column.categories for column in columns)))

    def mechanism_for(self, declaration: Declaration) -> TrustedQuery:
        """The query with everything fixed before data is read. Raises InvalidRequest or ValueError."""
        table, rule = self.table(declaration), self.contribution(declaration)
        rows = rule.rows if rule is not None and rule.rows is not None else 1
        query = self.query.build(table, micro_epsilon=self.micro_epsilon, rows=rows)
        return Groups(query, len(self.groups(declaration))) if self.query.by else query

    def outputs(self, declaration: Declaration) -> tuple[str, ...]:
        """The names of the released numbers, group by group."""
        names = self.query.outputs(self.table(declaration))
        return tuple(
            ", ".join(group) + ": " + name if group else name
            for group in self.groups(declaration)
            for name in names
        )


def check_query(request: QueryRequest, declaration: Declaration) -> None:
    """Raises InvalidRequest when the declaration does not fit the query: before anything is reserved."""
    table = request.table(declaration)
    for position, comparison in enumerate(request.query.where):
        comparison.declared(table, field=f"query.where.{position}")
    try:
        mechanism = request.mechanism_for(declaration)
    except ValueError as error:
        raise InvalidRequest("query", f"{error}") from None
    if len(mechanism.steps) > MAX_RELEASED or mechanism.width > MAX_WIDTH:
        raise InvalidRequest(
            "query.by", "there are too many groups for this query.", "Group by fewer columns."
        )
