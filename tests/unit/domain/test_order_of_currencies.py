"""Where several currencies stand side by side, epsilon comes first; the database and JSON have delta."""

from __future__ import annotations

from factories import make_release

from domain.loss import Currency, in_order, texts
from domain.model import canonical
from domain.project import Terms
from domain.release import Release
from dpgate.cli.output import amounts
from privacy.cost import Cost


def test_epsilon_stands_before_delta_in_a_cost_a_release_and_terms():
    by_letter = {"delta": "0.000001", "epsilon": "0.5"}
    cost = Cost.of({Currency.DELTA: 10**12, Currency.EPSILON: 500_000})
    kept = canonical(make_release(job_id="job-1", cost=by_letter).model_dump(mode="json"))
    assert kept.index(b'"delta"') < kept.index(b'"epsilon"')
    found = (texts(cost), Release.model_validate_json(kept).cost, Terms(amounts=by_letter).amounts)
    assert [[str(currency) for currency in each] for each in found] == [["epsilon", "delta"]] * 3
    assert amounts(by_letter) == "epsilon 0.5, delta 0.000001"


def test_what_is_no_currency_stands_last_and_is_kept():
    assert list(in_order({"other": 1, "rho": 2})) == ["rho", "other"]
