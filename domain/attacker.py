"""What somebody could learn about one person from everything that a data set releases: closed bounds only.

Bayes' rule on the promise. Let p and q be the probabilities of what was published, with the suspicion true
and with it false. The odds of the suspicion are multiplied by p / q, whatever else the attacker knows.

Presence: is somebody in the data? Neighbours differ by one person more. With pure differential privacy
p <= e^epsilon q for every outcome, so the odds grow by e^epsilon at most (Dwork, McSherry, Nissim, Smith
2006). Losses add up over releases, at any moment (`privacy.accounting`).

Property: what do the data of somebody say who is known to be in them? Both possibilities are neighbours of
the data without that person: two steps, so 2 epsilon at most.

Families. k people are k times as many steps. In m steps (epsilon, delta) becomes m epsilon and the sum of
e^(j epsilon) delta over j from 0 to m - 1 (Vadhan 2017, Lemma 2.2).

With a delta, p(S) <= e^epsilon q(S) + delta for every set S of outcomes. Of S = {p > e^(epsilon + t) q}
    p(S) <= e^epsilon e^-(epsilon + t) p(S) + delta,  so  p(S) <= delta / (1 - e^-t):
except with that probability the odds grow by at most e^(epsilon + t). SLACK is the t that is shown.

Every number shown is rounded against us.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum

from domain.budget import Accounting
from domain.dataset import Declaration
from domain.dataset.person_size import timing_sentence
from domain.delta import LEAST_PEOPLE_PER_DELTA
from domain.loss import Currency, format_amount, micro, units
from privacy.accounting import rho_as_epsilon
from privacy.cost import ATTO
from privacy.loss import GuaranteeClass
from privacy.posterior_bound import custodian_sentence

SUSPICIONS = (Decimal("0.01"), Decimal("0.1"), Decimal("0.5"))
FAMILIES = (1, 2, 4)
SLACK = Decimal("0.1")
_TENTH = Decimal("0.1")
SO_FAR = "all releases so far"
EVER = "all releases ever, when the budget is used up"
ONE_JOB = "the largest single job"
SAFE = Decimal("0.9")
"""A safer budget leaves whoever thought it as likely as not what somebody's data say at most so sure."""
SAFER = ("5", "2", "1", "0.5", "0.25", "0.1")
NOTHING = "so many steps make the delta too large to promise anything"


class About(StrEnum):
    """What a suspicion is about; each takes so many steps between neighbours for one person."""

    PRESENCE = "that they are in the data"
    PROPERTY = "what their data say"

    @property
    def steps(self) -> int:
        return 1 if self is About.PRESENCE else 2


@dataclass(frozen=True)
class Bound:
    """After reading `what`, about `people` together: the factor on the odds, and what suspicions of 1, 10 and
    50 % become at most (`become` as text, `shares` from 0 to 1). `epsilon` and `delta` are for one person.
    `exception` says how rarely it may fail; where that is too often, `holds` is False: nothing is bounded."""

    what: str
    about: About
    people: int
    epsilon: str
    delta: str | None
    factor: str
    become: tuple[str, ...]
    shares: tuple[float, ...]
    exception: str
    holds: bool = True


@dataclass(frozen=True)
class Learnable:
    """The whole page: bounds where there are any, and sentences where there are none."""

    bounds: tuple[Bound, ...]
    example: str
    safer: str
    sentences: tuple[tuple[str, str], ...]


def learnable(declaration: Declaration, spent: Mapping[Currency, int]) -> Learnable:
    """For a data set whose cohort has spent so much, in units of each currency."""
    found = [_bound(ONE_JOB, about, *_of_one_job(declaration)) for about in About]
    totals = [(EVER, _of_the_cap(declaration))]
    if (so_far := _so_far(declaration, spent)) is not None:
        totals.insert(0, (SO_FAR, so_far))
    found += [
        _bound(what, about, *amounts, people=people)
        for people in FAMILIES
        for what, amounts in totals
        for about in About
    ]
    return Learnable(
        tuple(found), example(declaration), safer(declaration), tuple(_sentences(declaration, spent))
    )


def example(declaration: Declaration) -> str:
    """What a person without mathematics can repeat, of the largest job that the policy admits."""
    presence, its_property = (_bound(ONE_JOB, about, *_of_one_job(declaration)) for about in About)
    unless = f" ({its_property.exception})" if its_property.exception else ""
    unit = declaration.privacy_unit.name
    return (
        f"Somebody who knows everything about everybody else, and thinks it as likely as not that a certain "
        f"{unit} is in the data, is at most {presence.become[-1]} sure of it after the largest release with "
        f"differential privacy of one job. Of what the data of a {unit} say who is known to be in them, they "
        f"are at most {its_property.become[-1]} sure{unless}."
    )


def safer(declaration: Declaration) -> str:
    """Which budget would leave an attacker in doubt after everything that may ever be released."""
    whole, atto_delta = _of_the_cap(declaration)
    rungs = [format_amount(Currency.EPSILON, whole), *(rung for rung in SAFER if micro(rung) < whole)]
    for rung in rungs:
        presence, its_property = (_bound(EVER, about, micro(rung), atto_delta) for about in About)
        if its_property.holds and its_property.shares[-1] <= SAFE:
            break
    else:
        return ""
    unless = f", {its_property.exception}" if its_property.exception else ""
    found = (
        f"after all that may ever be released with differential privacy, 50 % becomes at most "
        f"{presence.become[-1]} {About.PRESENCE}, and {its_property.become[-1]} of {About.PROPERTY}{unless}."
    )
    if rung == rungs[0]:
        return f"This one leaves an attacker in doubt: {found}"
    return (
        f"Epsilon {rung} in place of {rungs[0]} leaves an attacker in doubt: {found} A budget is stated when "
        "people are first registered, and stays. For these people a rights holder can stop sooner: under a "
        "policy that admits nobody, nothing more is spent."
    )


def become_at_most(prior: Decimal, exponent: Decimal) -> str:
    """A suspicion whose odds grew by e^exponent: "73.2 %". Certainty is said as what it is."""
    rounded = (share(prior, exponent) * 100).quantize(_TENTH, rounding=ROUND_CEILING)
    return "nearly 100 %" if rounded >= 100 else f"{rounded} %"


def share(prior: Decimal, exponent: Decimal) -> Decimal:
    """The same from 0 to 1, not rounded."""
    factor = exponent.exp()
    return factor * prior / (factor * prior + 1 - prior)


def factor_text(exponent: Decimal) -> str:
    """e^exponent with three digits, rounded up."""
    factor = exponent.exp()
    shown = factor.quantize(Decimal(1).scaleb(factor.adjusted() - 2), rounding=ROUND_CEILING)
    return f"{shown:,f}" if shown < 10**6 else f"10 to the power {math.floor(shown.log10()) + 1}"


def _bound(what: str, about: About, micro_epsilon: int, atto_delta: int, *, people: int = 1) -> Bound:
    steps = people * about.steps
    one = Decimal(micro_epsilon).scaleb(-6)
    exponent, exception = steps * one, ""
    if atto_delta:
        exponent += SLACK
        # a geometric sum: each further step weighs e^epsilon as much
        delta = Decimal(atto_delta) / ATTO * sum((one * each).exp() for each in range(steps))
        exception = _exception(delta / (1 - (-SLACK).exp()))
    holds = exception != NOTHING
    return Bound(
        what=what,
        about=about,
        people=people,
        epsilon=format_amount(Currency.EPSILON, micro_epsilon),
        delta=_delta_text(atto_delta) if atto_delta else None,
        factor=factor_text(exponent) if holds else "no bound",
        become=tuple(become_at_most(prior, exponent) if holds else "no bound" for prior in SUSPICIONS),
        shares=tuple(float(share(prior, exponent)) if holds else 1.0 for prior in SUSPICIONS),
        exception=exception,
        holds=holds,
    )


def _delta_text(atto_delta: int) -> str:
    """With three digits, rounded up."""
    digits = max(0, len(str(atto_delta)) - 3)
    return format_amount(Currency.DELTA, -(-atto_delta // 10**digits) * 10**digits)


def _exception(probability: Decimal) -> str:
    # one in so many: rounding down makes it more likely, which is against us
    if (times := math.floor(1 / probability)) < 2:
        return NOTHING
    digits = max(0, len(str(times)) - 2)
    return f"except with a probability of at most 1 in {times // 10**digits * 10**digits:,}"


def _of_one_job(declaration: Declaration) -> tuple[int, int]:
    """Micro-epsilon and atto-delta of the largest job that the policy admits."""
    policy = declaration.policy
    epsilon = micro(policy.max_epsilon_per_job)
    if GuaranteeClass.APPROX_DP not in policy.guarantees or declaration.budget_delta is None:
        return epsilon, 0
    return epsilon, ATTO // (LEAST_PEOPLE_PER_DELTA * declaration.nominal_size)


def _of_the_cap(declaration: Declaration) -> tuple[int, int]:
    delta = declaration.budget_delta
    return micro(declaration.budget_epsilon), units(Currency.DELTA, delta) if delta else 0


def _so_far(declaration: Declaration, spent: Mapping[Currency, int]) -> tuple[int, int] | None:
    """What was spent, as epsilon and delta. A delta is the cap's: the sum of epsilons is an odometer for a
    delta that was fixed beforehand."""
    cap_delta = _of_the_cap(declaration)[1]
    if declaration.accounting is Accounting.ZCDP:
        rho = spent.get(Currency.RHO, 0)
        return (rho_as_epsilon(rho, atto_delta=cap_delta), cap_delta) if rho else None
    epsilon = spent.get(Currency.EPSILON, 0)
    return (epsilon, cap_delta if spent.get(Currency.DELTA, 0) else 0) if epsilon else None


def _sentences(declaration: Declaration, spent: Mapping[Currency, int]) -> list[tuple[str, str]]:
    """What stands beside the bounds: classes that have none, and what no class covers."""
    found = []
    if declaration.accounting is Accounting.ZCDP and spent.get(Currency.RHO):
        found.append((
            "Counted as rho",
            "The row “so far” converts the rho that was spent, and holds where the sizes of questions did "
            "not depend on earlier answers. The row “ever” holds in any case.",
        ))  # fmt: skip
    if declaration.budget_nats is not None:
        cap = units(Currency.NATS, declaration.budget_nats)
        found.append(("PAC privacy, when the budget is used up", custodian_sentence(cap)))
        if used := spent.get(Currency.NATS, 0):
            found.append(("PAC privacy, so far", custodian_sentence(used)))
    if declaration.budget_releases is not None:
        count = f"{spent.get(Currency.RELEASES, 0)} of at most {declaration.budget_releases}"
        found.append((
            "No formal guarantee",
            f"{count} releases so far. There is no bound on what they tell about a person, and none is "
            "claimed: they are not in the table.",
        ))  # fmt: skip
    found.append(("When a release is out", timing_sentence(declaration)))
    found.append(("Reviews", _about_reviews(declaration)))
    return found


def _about_reviews(declaration: Declaration) -> str:
    policy = declaration.policy
    if policy.review_releases or policy.review_releases_above is not None:
        return (
            "A person looks at releases before they are read. Each decision to withhold one can depend on "
            "the data: it is one bit that the bounds above do not cover."
        )
    return "Nobody decides on a release after seeing it, so no decision can tell anything about the data."
