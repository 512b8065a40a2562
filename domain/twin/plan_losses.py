"""What the tables of a twin are noised with, and what that costs: an epsilon, or an epsilon and a delta."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from domain.budget import cost_on
from domain.dataset import Declaration
from domain.errors import InvalidRequest
from privacy.concentrated import ceil_pico
from privacy.cost import Cost, Currency
from privacy.loss import MICRO
from privacy.twin import (
    ColumnCounts,
    GaussianColumns,
    GaussianLoss,
    GaussianPatterns,
    Patterns,
    predicted_tv1,
    predicted_tv1_of,
)

Loss = int | GaussianLoss
"""Of one table: its own micro-epsilon, or its part of the epsilon and delta of all."""

Mechanism = ColumnCounts | Patterns | GaussianColumns | GaussianPatterns


def losses_of(micro_epsilon: int, atto_delta: int | None, tables: int) -> list[Loss]:
    """Equal shares: of epsilon, which add up to it; with a delta, of the rho that both imply together."""
    if atto_delta is None:
        ends = [micro_epsilon * number // tables for number in range(1, tables + 1)]
        return [end - start for start, end in zip([0, *ends], ends, strict=False)]
    if not tables:
        return []
    try:
        return [GaussianLoss(micro_epsilon, atto_delta, tables)] * tables
    except ValueError as error:
        raise InvalidRequest("delta", f"{error}") from None


def micro_share(loss: Loss) -> int:
    """Of epsilon, in whole micro-epsilon: what the level rule goes by."""
    return loss if isinstance(loss, int) else loss.micro_epsilon // loss.parts


def mechanism_of(cells: tuple[int, ...], level: int, loss: Loss, rows: int, size: int) -> Mechanism:
    """Raises ValueError for columns that no such mechanism takes."""
    if isinstance(loss, int):
        return ColumnCounts(cells, loss, rows) if level == 1 else Patterns(
            cells, loss, rows, nominal_size=size
        )  # fmt: skip
    if level == 1:
        return GaussianColumns(cells, loss, rows)
    return GaussianPatterns(cells, loss, rows, nominal_size=size)


def predicted_by(mechanism: Mechanism | None, *, size: int) -> float | None:
    """Expected total variation distance of a counted column; None where none is counted."""
    if mechanism is None:
        return None
    cells, rows = mechanism.cells, mechanism.rows
    if isinstance(mechanism, GaussianColumns | GaussianPatterns):
        return predicted_tv1_of(cells, nominal_size=size, deviation=mechanism.one_scale)
    # what single columns get of it
    epsilon = mechanism.shares[0] if isinstance(mechanism, Patterns) else mechanism.micro_epsilon
    return predicted_tv1(cells, nominal_size=size, micro_epsilon=epsilon, rows=rows)


def cost_of(declaration: Declaration, mechanisms: Sequence[Mechanism]) -> Cost | None:
    """On the accounts of the data set; None where nothing is counted. Raises InvalidRequest where they have
    no place for a delta."""
    if not mechanisms:
        return None
    losses = [each.loss for each in mechanisms if isinstance(each, GaussianColumns | GaussianPatterns)]
    if losses:
        amounts = {Currency.EPSILON: losses[0].micro_epsilon, Currency.DELTA: losses[0].atto_delta}
    else:
        amounts = {Currency.EPSILON: sum(each.micro_epsilon for each in mechanisms)}
    rho = sum((each.rho for each in mechanisms), Fraction(0))
    cost = cost_on(declaration.accounting, Cost.of(amounts), pico_rho=ceil_pico(rho))
    if cost[Currency.DELTA] and Currency.DELTA not in declaration.caps:
        raise InvalidRequest(
            "delta",
            "the data set has no budget_delta to take it from.",
            "Leave delta out, or declare a budget_delta in a new version.",
        )
    return cost


def is_wider_than_pure(mechanism: Mechanism | None) -> bool:
    """Whether each column would have less noise without the delta, at the same epsilon: few columns have."""
    if not isinstance(mechanism, GaussianColumns):
        return False
    share = mechanism.loss.micro_epsilon // mechanism.loss.parts
    scale = Fraction(mechanism.rows * len(mechanism.cells) * MICRO, share)
    return mechanism.variance > 2 * scale**2
