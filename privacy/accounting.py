"""What many releases cost together: two ways to add up, each a filter for losses that are chosen adaptively.

A filter stops before a cap is passed, although each request may depend on every answer so far. Both ways add
whole numbers, so one line of code decides: what is spent, plus what is asked, at most the cap. All
conversions round a loss up and a cap down; none of them sees a float.

Below, P and Q are the laws of everything that is ever released, on two data sets that differ by one person;
index 1 is the first release, P_r and Q_r are the laws of all later ones after the first was r. Costs are
bounded away from zero and caps are finite, so the releases can be counted down from the last one.

Pure sum. If the epsilons always sum to at most E and the deltas to at most D, then for every event S
    P(S) <= e^E Q(S) + D.
Proof, by induction over the releases still to come. With none left it holds. Otherwise what follows r may
spend E - eps_1 and D - delta_1, so P_r(S) <= min(1, e^(E - eps_1) Q_r(S)) + D - delta_1. The first term is a
function of r with values in [0, 1], whose mean the first release changes by a factor e^eps_1 and by delta_1:
    P(S) = E_{r~P_1} P_r(S) <= e^eps_1 E_{r~Q_1} e^(E - eps_1) Q_r(S) + delta_1 + D - delta_1. QED.
So it is a filter. Without deltas the loss of a transcript is the sum of the losses of its parts, at any
moment, so it is an odometer as well; with deltas it is one for a cap D fixed beforehand.
(Dwork, McSherry, Nissim, Smith 2006 for sums; Rogers, Roth, Ullman, Vadhan 2016, Thm 3.6, for adaptive ones.)

Zero-concentrated. If the rhos always sum to at most R, all releases together are R-zCDP: for every a > 1,
    E_Q (P/Q)^a <= exp((a - 1) a R).
Proof, by the same induction: P/Q of everything is P_1/Q_1 of the first times P_r/Q_r of the rest, and
    E_Q (P/Q)^a = E_{r~Q_1} (P_1/Q_1)^a E_{Q_r} (P_r/Q_r)^a <= exp((a - 1) a rho_1 + (a - 1) a (R - rho_1)),
where rho_1 is fixed before r is drawn. QED. (Bun and Steinke 2016, Lemma 2.3; Feldman and Zrnic 2021 and
Whitehouse, Ramdas, Rogers, Wu 2023 for filters.)
"""

from __future__ import annotations

from privacy.concentrated import ceil_pico, largest_pico_rho, least_micro_epsilon, rho_of_pure
from privacy.cost import Cost, Currency, check_amount, exact


def pure_as_rho(micro_epsilon: int) -> int:
    """Pico-rho of a pure epsilon, rounded up: epsilon-DP is (epsilon^2 / 2)-zCDP."""
    check_amount(Currency.EPSILON, micro_epsilon)
    return ceil_pico(rho_of_pure(exact(Currency.EPSILON, micro_epsilon)))


def in_rho(cost: Cost, *, pico_rho: int | None) -> Cost:
    """The cost on an account that counts rho: epsilon and delta give way to rho, the rest stays.

    `pico_rho` is what the mechanism proves of itself; without it the epsilon is taken as a pure one. Raises
    ValueError when the cost has a delta and nothing is proven: (epsilon, delta) alone bounds no rho.
    """
    if not cost[Currency.EPSILON]:
        return cost
    if pico_rho is None:
        if cost[Currency.DELTA]:
            raise ValueError("a release with a delta and no rho of its own does not fit an account of rho.")
        pico_rho = pure_as_rho(cost[Currency.EPSILON])
    kept = {c: amount for c, amount in cost if c not in (Currency.EPSILON, Currency.DELTA)}
    return Cost.of({Currency.RHO: pico_rho} | kept)


def rho_cap(*, micro_epsilon: int, atto_delta: int) -> int:
    """The largest pico-rho whose releases are, together, (epsilon, delta)-DP (proof: `largest_pico_rho`)."""
    check_amount(Currency.EPSILON, micro_epsilon)
    check_amount(Currency.DELTA, atto_delta)
    return largest_pico_rho(exact(Currency.EPSILON, micro_epsilon), atto_delta)


def rho_as_epsilon(pico_rho: int, *, atto_delta: int) -> int:
    """The smallest micro-epsilon for which releases of so much rho are, together, (epsilon, delta)-DP."""
    check_amount(Currency.DELTA, atto_delta)
    return least_micro_epsilon(pico_rho, atto_delta)
