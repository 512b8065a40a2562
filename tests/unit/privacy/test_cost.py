"""What a release takes from an account: exact, positive, in a fixed order, never added across currencies."""

from fractions import Fraction

import pytest

from privacy.cost import ATTO, PICO, Cost, Currency, check_amount, exact, format_amount

LARGEST = {
    Currency.EPSILON: 1_000_000_000,
    Currency.DELTA: 10**16,
    Currency.RHO: 500_000 * 10**12,
    Currency.NATS: 4_158_883,
    Currency.RELEASES: 1,
}
PER_ONE = {
    Currency.EPSILON: 10**6,
    Currency.DELTA: 10**18,
    Currency.RHO: 10**12,
    Currency.NATS: 10**6,
    Currency.RELEASES: 1,
}


def test_units_of_every_currency():
    assert {currency: currency.per_one for currency in Currency} == PER_ONE
    assert (PICO, ATTO) == (10**12, 10**18)


@pytest.mark.parametrize("currency", Currency)
def test_one_release_takes_at_most_the_largest_amount(currency):
    assert currency.largest == LARGEST[currency]
    assert Cost.of({currency: currency.largest})[currency] == LARGEST[currency]
    with pytest.raises(ValueError, match=f"an amount of {currency} is a positive whole number"):
        Cost.of({currency: currency.largest + 1})


def test_only_a_positive_int_is_an_amount(subtests):
    for amount in (0, -1, True, 1.0, "1", Fraction(1), None):
        with (
            subtests.test(amount=amount),
            pytest.raises(ValueError, match="an amount of epsilon is a positive whole number"),
        ):
            check_amount(Currency.EPSILON, amount)


def test_the_smallest_amount_is_one_unit():
    check_amount(Currency.EPSILON, 1)
    assert Cost.of({Currency.EPSILON: 1})[Currency.EPSILON] == 1


def test_a_release_costs_something():
    with pytest.raises(ValueError, match="costs something"):
        Cost.of({})


def test_a_cost_has_one_spelling():
    """Two costs are equal exactly when they take the same amounts, whatever order they were given in."""
    amounts = {Currency.EPSILON: 2, Currency.DELTA: 3}
    cost = Cost.of(amounts)
    assert cost == Cost.of(dict(reversed(amounts.items())))
    assert list(cost) == sorted(amounts.items())
    assert cost[Currency.RHO] == 0


@pytest.mark.parametrize(
    "amounts",
    [
        ((Currency.EPSILON, 1), (Currency.EPSILON, 1)),
        ((Currency.EPSILON, 1), (Currency.DELTA, 1)),
    ],
    ids=["twice", "out of order"],
)
def test_a_cost_names_each_currency_once_and_in_order(amounts):
    with pytest.raises(ValueError, match="names each currency once, in order"):
        Cost(amounts)


AN_AMOUNT_AS_TEXT_IS_EXACT = (
    (Currency.EPSILON, 1_500_000, "1.5"),
    (Currency.EPSILON, 1, "0.000001"),
    (Currency.EPSILON, 10_000_000, "10"),
    (Currency.EPSILON, 0, "0"),
    (Currency.EPSILON, -1_500_000, "-1.5"),
    (Currency.DELTA, 10**12, "0.000001"),
    (Currency.DELTA, 1, "0.000000000000000001"),
    (Currency.RELEASES, 1, "1"),
    (Currency.RELEASES, 10, "10"),
)


def test_an_amount_as_text_is_exact(subtests):
    for currency, amount, text in AN_AMOUNT_AS_TEXT_IS_EXACT:
        with subtests.test(currency=currency, amount=amount, text=text):
            assert format_amount(currency, amount) == text
            assert Fraction(text) == exact(currency, amount)
