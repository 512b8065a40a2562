"""What a release promises, in words with its own numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal

from privacy.cost import Currency, exact, format_amount
from privacy.loss import GuaranteeClass
from privacy.posterior_bound import custodian_sentence
from store.ledger import Standing

ADD_UP = "What several releases about the same people cost adds up."


def cost_texts(standings: Sequence[Standing]) -> dict[str, str]:
    """What the release took of each account, as exact decimal text."""
    return {
        str(standing.currency): format_amount(standing.currency, standing.after - standing.before)
        for standing in standings
    }


def promise(guarantee: GuaranteeClass, standings: Sequence[Standing]) -> str:
    """The class's own sentence, and what the numbers of this release and of all so far make of it."""
    sentences = [guarantee.sentence]
    for standing in standings:
        cost = standing.after - standing.before
        if standing.currency is Currency.EPSILON:
            sentences.append(f"Here e^epsilon is at most {_factor(cost)}.")
        elif standing.currency is Currency.DELTA:
            sentences.append(f"Here delta is {format_amount(Currency.DELTA, cost)}.")
        elif standing.currency is Currency.NATS:
            sentences.append(f"This release alone: {custodian_sentence(cost)}")
            sentences.append(f"All such releases of this cohort so far: {custodian_sentence(standing.after)}")
    if guarantee in (GuaranteeClass.PURE_DP, GuaranteeClass.APPROX_DP):
        sentences.append(ADD_UP)
    return " ".join(sentences)


def _factor(micro_epsilon: int) -> str:
    """e^epsilon, three digits, rounded up."""
    epsilon = exact(Currency.EPSILON, micro_epsilon)
    factor = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
    return str(factor.quantize(Decimal(1).scaleb(factor.adjusted() - 2), rounding=ROUND_CEILING).normalize())
