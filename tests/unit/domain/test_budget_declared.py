"""What a declared budget opens, promises, and refuses."""

from __future__ import annotations

import pytest
from factories import make_declaration

from domain.budget import Accounting, cost_on
from domain.errors import InvalidRequest
from domain.loss import canonical_amount, texts, units
from privacy.accounting import rho_cap
from privacy.cost import Cost, Currency
from privacy.posterior_bound import custodian_sentence

E, D, R, N, C = Currency.EPSILON, Currency.DELTA, Currency.RHO, Currency.NATS, Currency.RELEASES


def test_every_budget_that_is_declared_is_an_account() -> None:
    assert make_declaration().caps == {E: 10_000_000}
    full = make_declaration(budget_delta="1e-6", budget_nats=0.25, budget_releases=4)
    assert full.caps == {E: 10_000_000, D: 10**12, N: 250_000, C: 4}


def test_with_zcdp_one_account_of_rho_covers_epsilon_and_delta() -> None:
    declared = make_declaration(accounting="zcdp", budget_delta="1e-6", budget_nats="0.25")
    assert declared.caps == {N: 250_000, R: rho_cap(micro_epsilon=10_000_000, atto_delta=10**12)}


A_BUDGET_THAT_PROMISES_NOTHING_IS_REFUSED = (
    ({"accounting": "zcdp"}, "body", "accounting zcdp needs budget_delta beside budget_epsilon"),
    ({"accounting": "rdp"}, "accounting", "must be pure_sum or zcdp."),
    ({"budget_delta": "0.011"}, "body", "an amount of delta is a positive whole number of units"),
    ({"budget_delta": 0}, "budget_delta", "delta must be above zero"),
    ({"budget_delta": "1e-19"}, "budget_delta", "at most 18 decimal places"),
    ({"budget_delta": "1e-999999999"}, "budget_delta", "delta is far too small"),
    ({"budget_delta": "1e999999999"}, "budget_delta", "delta is far too large"),
    ({"budget_delta": True}, "budget_delta", "delta must be a plain number"),
    ({"budget_delta": "a little"}, "budget_delta", "delta must be a plain number"),
    ({"budget_delta": [1]}, "budget_delta", "delta must be a plain number"),
    ({"budget_nats": "0.7"}, "body", "budget_nats above 0.693147 (ln 2) promises nothing"),
    ({"budget_nats": "NaN"}, "budget_nats", "nats must be a plain number"),
    ({"budget_nats": float("inf")}, "budget_nats", "nats must be a plain number"),
    ({"budget_releases": 0}, "budget_releases", "is below 1."),
    ({"budget_releases": 2.0}, "budget_releases", "whole number"),
)


def test_a_budget_that_promises_nothing_is_refused(subtests: pytest.Subtests) -> None:
    for fields, field, words in A_BUDGET_THAT_PROMISES_NOTHING_IS_REFUSED:
        with subtests.test(fields=fields, field=field, words=words):
            with pytest.raises(InvalidRequest) as refusal:
                make_declaration(**fields)
            assert refusal.value.problems[0].field == field
            assert words in refusal.value.problems[0].problem


def test_the_sentence_says_what_the_caps_promise_together() -> None:
    assert make_declaration().budget_sentence == (
        "Over all releases with differential privacy, epsilon is at most 10."
    )
    full = make_declaration(accounting="zcdp", budget_delta="1e-6", budget_nats="0.25", budget_releases=4)
    assert full.budget_sentence == (
        "Over all releases with differential privacy, epsilon is at most 10 and delta at most 0.000001. "
        "It is counted as rho (zero-concentrated differential privacy). "
        f"Over all PAC releases: {custodian_sentence(250_000)} "
        "At most 4 releases come with no formal guarantee."
    )


def test_costs_are_converted_only_where_rho_is_counted() -> None:
    cost = Cost.of({E: 2_000_000, D: 5})
    assert cost_on(Accounting.PURE_SUM, cost, pico_rho=7) == cost
    assert cost_on(Accounting.ZCDP, cost, pico_rho=7) == Cost.of({R: 7})


def test_amounts_have_one_spelling_and_come_back() -> None:
    assert [canonical_amount(D, text) for text in ("1e-6", 0.000001, " .000001 ")] == ["0.000001"] * 3
    assert canonical_amount(C, 3) == "3"
    assert units(R, "0.5") == 5 * 10**11
    assert texts(Cost.of({E: 1_500_000, D: 10**12})) == {"epsilon": "1.5", "delta": "0.000001"}
    with pytest.raises(ValueError, match=r"releases: give a whole number\."):
        units(C, "1.5")
