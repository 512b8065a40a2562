"""A data set's budget: how losses add up on it, and a cap for each currency that its rights holder opened."""

from __future__ import annotations

from enum import StrEnum

from domain.loss import Delta, Epsilon, Nats, units
from privacy.accounting import in_rho, rho_cap
from privacy.cost import Cost, Currency, check_amount
from privacy.posterior_bound import custodian_sentence

MOST_MICRO_NATS = 693_147
"""ln 2, rounded down: who learns more than that about one yes or no may know it for certain."""

FIELDS = {
    Currency.EPSILON: "budget_epsilon",
    Currency.DELTA: "budget_delta",
    Currency.RHO: "budget_epsilon",
    Currency.NATS: "budget_nats",
    Currency.RELEASES: "budget_releases",
}
"""The field of a declaration that opens an account of the currency."""


class Accounting(StrEnum):
    """How losses of differential privacy add up; fixed when the cohort's first data set is registered."""

    PURE_SUM = "pure_sum"  # epsilons in one account, deltas in another
    ZCDP = "zcdp"  # one account of rho, which covers epsilon and delta together


def caps(
    accounting: Accounting,
    *,
    epsilon: Epsilon,
    delta: Delta | None,
    nats: Nats | None,
    releases: int | None,
) -> dict[Currency, int]:
    """The cap of each account, in units of its currency. Raises ValueError for caps that promise nothing."""
    micro_epsilon = units(Currency.EPSILON, epsilon)
    atto_delta = None if delta is None else units(Currency.DELTA, delta)
    micro_nats = None if nats is None else units(Currency.NATS, nats)
    if micro_nats is not None and micro_nats > MOST_MICRO_NATS:
        raise ValueError("budget_nats above 0.693147 (ln 2) promises nothing; declare less")
    if atto_delta is not None:
        check_amount(Currency.DELTA, atto_delta)
    found: dict[Currency, int | None] = {Currency.NATS: micro_nats, Currency.RELEASES: releases}
    if accounting is Accounting.ZCDP:
        if atto_delta is None:
            raise ValueError("accounting zcdp needs budget_delta beside budget_epsilon; declare it")
        found[Currency.RHO] = rho_cap(micro_epsilon=micro_epsilon, atto_delta=atto_delta)
    else:
        found |= {Currency.EPSILON: micro_epsilon, Currency.DELTA: atto_delta}
    return {currency: cap for currency, cap in found.items() if cap is not None}


def sentence(
    accounting: Accounting,
    *,
    epsilon: Epsilon,
    delta: Delta | None,
    nats: Nats | None,
    releases: int | None,
) -> str:
    """What the caps promise together, for people."""
    pair = f"epsilon is at most {epsilon}" + (f" and delta at most {delta}" if delta else "")
    found = [f"Over all releases with differential privacy, {pair}."]
    if accounting is Accounting.ZCDP:
        found.append("It is counted as rho (zero-concentrated differential privacy).")
    if nats:
        found.append(f"Over all PAC releases: {custodian_sentence(units(Currency.NATS, nats))}")
    if releases:
        found.append(f"At most {releases} releases come with no formal guarantee.")
    return " ".join(found)


def cost_on(accounting: Accounting, cost: Cost, *, pico_rho: int | None) -> Cost:
    """The cost in the currencies of such accounts; `pico_rho` as the mechanism proves it, if it does."""
    return in_rho(cost, pico_rho=pico_rho) if accounting is Accounting.ZCDP else cost
