"""The sentences of a certificate hold the release's own numbers, rounded against us."""

from __future__ import annotations

import math
import re

import pytest

from privacy.cost import Currency
from privacy.loss import GuaranteeClass
from privacy.posterior_bound import custodian_sentence
from store.ledger import Standing
from worker.certificate import ADD_UP, cost_texts, promise


def standing(currency: Currency, after: int, *, before: int = 0) -> Standing:
    return Standing(currency, cap=10**18, before=before, after=after)


THE_FACTOR_OF_EPSILON_IS_NEVER_TOO_SMALL = (
    1_000,
    100_000,
    693_147,
    1_000_000,
    2_302_586,
    10_000_000,
    50_000_000,
)


def test_the_factor_of_epsilon_is_never_too_small(subtests: pytest.Subtests) -> None:
    for micro in THE_FACTOR_OF_EPSILON_IS_NEVER_TOO_SMALL:
        with subtests.test(micro=micro):
            sentence = promise(GuaranteeClass.PURE_DP, [standing(Currency.EPSILON, micro)])
            assert sentence.startswith(GuaranteeClass.PURE_DP.sentence)
            factor = float(re.findall(r"at most ([\d.E+]+)\. What", sentence)[0])
            assert math.exp(micro / 1e6) <= factor <= math.exp(micro / 1e6) * 1.01


def test_a_delta_is_named_beside_the_factor() -> None:
    found = [standing(Currency.EPSILON, 500_000), standing(Currency.DELTA, 10**12)]
    sentence = promise(GuaranteeClass.APPROX_DP, found)
    assert "e^epsilon is at most 1.65. Here delta is 0.000001." in sentence


def test_pac_says_what_this_release_and_all_so_far_allow() -> None:
    sentence = promise(GuaranteeClass.PAC, [standing(Currency.NATS, 375_000, before=250_000)])
    assert f"This release alone: {custodian_sentence(125_000)}" in sentence
    assert f"of this cohort so far: {custodian_sentence(375_000)}" in sentence


@pytest.mark.parametrize(
    ("guarantee", "currency"),
    [(GuaranteeClass.EMPIRICAL, Currency.RELEASES), (GuaranteeClass.PURE_DP, Currency.RHO)],
)
def test_where_no_number_is_promised_the_class_speaks_alone(
    guarantee: GuaranteeClass, currency: Currency
) -> None:
    added = f" {ADD_UP}" if guarantee is GuaranteeClass.PURE_DP else ""
    assert promise(guarantee, [standing(currency, 1)]) == guarantee.sentence + added


def test_a_cost_is_what_came_between_before_and_after() -> None:
    found = [standing(Currency.EPSILON, 1_500_000, before=1_000_000), standing(Currency.DELTA, 10**12)]
    assert cost_texts(found) == {"epsilon": "0.5", "delta": "0.000001"}
