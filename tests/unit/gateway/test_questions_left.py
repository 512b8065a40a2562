"""How many more questions a budget is enough for: of all accounts that pay, the one that ends first."""

from __future__ import annotations

from dataclasses import replace

from gateway.pages.budget_bar import Bar, questions_left

EPSILON = Bar("epsilon", "cohort", "heights", "5", "1", "0.5", "3.5", "70.000", "10.000")
DELTA = replace(EPSILON, name="delta", left="0.000005")
OWN = replace(EPSILON, kind="user", holder="ada", left="0.99")


def test_the_account_that_ends_first_says_how_many():
    for accounts, cost, times in (
        ([EPSILON], {"epsilon": "0.5"}, 7),
        ([EPSILON], {"epsilon": "0.1"}, 35),
        ([EPSILON, OWN], {"epsilon": "0.1"}, 9),
        ([EPSILON, DELTA], {"epsilon": "0.5", "delta": "0.000001"}, 5),
        ([EPSILON, DELTA], {"epsilon": "0.5", "delta": "0"}, 7),
        ([EPSILON], {"epsilon": "3.500001"}, 0),
        # no account of what it costs: it is refused when it is asked
        ([EPSILON], {"nats": "0.1"}, 0),
    ):
        assert questions_left(accounts, cost) == times, cost
