"""What an attacker could learn is never said to be less than it may be; computed here in other ways."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import product

import pytest
from factories import make_declaration
from hypothesis import given
from hypothesis import strategies as st

from domain import attacker
from domain.attacker import EVER, SO_FAR, SUSPICIONS, About, become_at_most, learnable
from domain.budget_meaning import in_plain_words, noise_share, purchases
from domain.loss import Currency
from privacy.accounting import rho_as_epsilon


@given(micro=st.integers(1_000, 50_000_000), prior=st.sampled_from(SUSPICIONS))
def test_a_suspicion_is_never_said_to_grow_less_than_it_may(micro: int, prior: Decimal):
    said = become_at_most(prior, Decimal(micro).scaleb(-6))
    factor = math.exp(micro / 1e6)
    true = 100 * factor * float(prior) / (factor * float(prior) + 1 - float(prior))
    if said == "nearly 100 %":
        assert true > 99.9
    else:
        shown = float(said.removesuffix(" %"))
        assert true <= shown + 1e-9
        assert shown - true < 0.1 + 1e-9


def test_epsilon_one_and_ten():
    found = learnable(make_declaration(budget_epsilon="10"), {})
    presence = [bound for bound in found.bounds if bound.about is About.PRESENCE]
    assert [(bound.people, bound.epsilon, bound.factor) for bound in presence] == [
        (1, "1", "2.72"), (1, "10", "22,100"), (2, "10", "10 to the power 9"),
        (4, "10", "10 to the power 18"),
    ]  # fmt: skip
    assert presence[0].become == ("2.7 %", "23.2 %", "73.2 %")
    assert "at most 73.2 % sure" in found.example
    assert "at most 88.1 % sure" in found.example
    assert not any(bound.exception for bound in found.bounds)


def test_a_safer_budget_leaves_an_attacker_in_doubt():
    found = learnable(make_declaration(budget_epsilon="10"), {}).safer
    assert found.startswith("Epsilon 1 in place of 10 leaves an attacker in doubt")
    assert "at most 73.2 % that they are in the data, and 88.1 % of what their data say" in found
    small = learnable(make_declaration(budget_epsilon="0.5"), {}).safer
    assert small.startswith("This one leaves an attacker in doubt")
    assert "at most 62.3 %" in small


def test_what_somebodys_data_say_takes_two_steps():
    """Neighbours are one person more: from one answer to the other is away and back."""
    for bound in learnable(make_declaration(), {Currency.EPSILON: 500_000}).bounds:
        if bound.about is About.PROPERTY:
            exponent = 2 * bound.people * float(bound.epsilon)
            if exponent < 13:
                assert float(bound.factor.replace(",", "")) >= math.exp(exponent)


def test_what_was_spent_has_a_row_of_its_own():
    found = learnable(make_declaration(), {Currency.EPSILON: 500_000})
    so_far = {(b.people, b.about): (b.epsilon, b.factor) for b in found.bounds if b.what == SO_FAR}
    assert so_far[1, About.PRESENCE] == ("0.5", "1.65")
    assert so_far[1, About.PROPERTY] == so_far[2, About.PRESENCE] == ("0.5", "2.72")
    assert so_far[4, About.PRESENCE] == ("0.5", "7.39")


def test_the_odds_pass_the_bound_as_rarely_as_is_said(subtests: pytest.Subtests):
    """The worst mechanism of (epsilon, delta): it gives everything away with probability delta."""
    for epsilon in (0.1, 1.0, 2.5):
        for delta in (1e-6, 1e-4):
            with subtests.test(epsilon=epsilon, delta=delta):
                outcomes = _worst_mechanism(epsilon, delta)
                limit = math.exp(epsilon + 0.1)
                passing = sum(p for p, q in outcomes if p > limit * q)
                assert 0 < passing <= delta / (1 - math.exp(-0.1))


@pytest.mark.parametrize("people", [2, 4])
def test_a_family_loses_no_more_than_is_said(people: int):
    """Neighbours one after another through randomised response, which spends all of epsilon on each."""
    epsilon, delta = 0.7, 1e-5
    share = math.exp(epsilon) / (1 + math.exp(epsilon))
    ratio = max(
        math.prod(share if answer else 1 - share for answer in answers)
        / math.prod(1 - share if answer else share for answer in answers)
        for answers in product((0, 1), repeat=people)
    )
    assert ratio <= math.exp(people * epsilon) * (1 + 1e-9)
    declaration = make_declaration(budget_epsilon="0.7", budget_delta="0.00001")
    (bound,) = [
        b
        for b in learnable(declaration, {}).bounds
        if (b.people, b.what, b.about) == (people, EVER, About.PRESENCE)
    ]
    assert float(bound.factor) >= math.exp(people * epsilon + 0.1)
    grown = delta * sum(math.exp(epsilon * each) for each in range(people)) / (1 - math.exp(-0.1))
    assert 1 / int(bound.exception.rpartition(" in ")[2].replace(",", "")) >= grown


def test_where_the_delta_is_too_large_nothing_is_promised():
    declaration = make_declaration(budget_epsilon="10", budget_delta="0.001")
    for bound in learnable(declaration, {}).bounds:
        if bound.people == 4:
            assert not bound.holds
            assert {bound.factor, *bound.become} == {"no bound"}


def test_rho_is_shown_as_epsilon_with_its_condition():
    declaration = make_declaration(budget_delta="0.000001", accounting="zcdp")
    found = learnable(declaration, {Currency.RHO: 10**10})
    so_far = next(bound for bound in found.bounds if bound.what == SO_FAR)
    # by Bun and Steinke's conversion it would be 0.01 + 2 sqrt(0.01 ln 10^6) = 0.7534
    assert Decimal(so_far.epsilon) == Decimal(rho_as_epsilon(10**10, atto_delta=10**12)) / 10**6
    assert Decimal(so_far.epsilon) < Decimal("0.63")
    assert "Counted as rho" in dict(found.sentences)


def test_classes_without_a_bound_say_so():
    declaration = make_declaration(budget_nats="0.25", budget_releases=5)
    said = dict(learnable(declaration, {Currency.NATS: 31_250, Currency.RELEASES: 2}).sentences)
    assert "2 of at most 5 releases" in said["No formal guarantee"]
    assert "no bound" in said["No formal guarantee"]
    assert "62.5 %" in said["PAC privacy, so far"]
    assert "Nobody decides" in said["Reviews"]


@pytest.mark.parametrize("policy", [{"review_releases": True}, {"review_releases_above": "0.5"}])
def test_a_review_is_named_as_a_bit_of_its_own(policy: dict[str, object]):
    said = dict(attacker.learnable(make_declaration(policy=policy), {}).sentences)
    assert "one bit" in said["Reviews"]


def test_coarse_timing_is_said():
    policy = {"timing": {"mode": "coarse", "step_seconds": 60}}
    said = dict(attacker.learnable(make_declaration(policy=policy), {}).sentences)
    assert "reveal" in said["When a release is out"]


def test_what_a_budget_buys():
    (small, *_, large) = purchases("2", people=600, block_size=6)
    assert (small.epsilon, small.jobs, large.epsilon, large.jobs) == ("0.1", 20, "2", 1)
    assert math.isclose(small.over_people, 100 * math.log(20) / 60)
    assert math.isclose(small.over_blocks, 100 * math.log(20) / 10)
    assert purchases("0.05", people=600, block_size=6) == ()
    assert "54.6" in in_plain_words("4")
    assert "from 1 % to at most" in in_plain_words("4")
    # of Laplace noise, 95 % lies within that many scales
    assert math.isclose(math.exp(-noise_share(1, 1.0)), 0.05)


def _worst_mechanism(epsilon: float, delta: float) -> list[tuple[float, float]]:
    """Pairs of probabilities, suspicion true and false: the dominating pair of (epsilon, delta)."""
    rest = (1 - delta) / (1 + math.exp(epsilon))
    return [(delta, 0.0), (rest * math.exp(epsilon), rest), (rest, rest * math.exp(epsilon)), (0.0, delta)]
