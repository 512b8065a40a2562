"""Broken copies of PAC privacy: each must fail the check that is meant for it."""

import numpy as np
import pytest
from checks import check_independent_outputs, check_no_fine_bits, check_standard_normal
from mutation import load_mutant
from pac_checks import (
    attack_adaptively,
    attack_first_releases,
    check_fresh_normal_noise,
    check_information,
    check_pac_on_grid,
    check_posterior_is_kept,
    check_prior_of_one_half,
    check_secret_is_uniform,
    most_underrated_worlds,
    noise_of,
)
from register import KEY, clean_heights

DRAW = "int(sample(_variance(precision), 1, keystream=keystream)[0])"
VARIANCE = "return Fraction(2 ** (LOG_BITS - 1), precision)"
STAIRS = [(5_000 * world,) for world in range(64)]
SIZE = 4_500


def make_pac(mutant, *, outputs=1, micro_nats=125_000):
    return mutant.pac.Pac((mutant.grid.OutputGrid.build(0, 1),) * outputs, micro_nats)


def fresh(mutant, *, secret=23):
    return mutant.pac_state.PacState(secret=secret, logs=(0,) * 64)


def apart(pac):
    """Worlds at both ends of the range, for the widest noise."""
    top = pac.grids[0].cells
    return [(top * (world % 2), top * (world // 32))[: len(pac.grids)] for world in range(64)]


def check_noise(mutant):
    noise = noise_of(make_pac(mutant), STAIRS, state=fresh(mutant), module=mutant.pac)
    check_standard_normal(lambda n: noise(n)[:, 0], size=2_500)


def information_of_first_releases(mutant, *, size=SIZE):
    pac = make_pac(mutant)
    posteriors, secrets = attack_first_releases(
        pac, STAIRS, mutant.pac_state.PacState.draw, size=size, module=mutant.pac
    )
    return check_information(np.log(64 * posteriors[np.arange(size), secrets]), claimed=float(pac.nats))


def information_of_adaptive_releases(mutant, *, repeats=20):
    pac = make_pac(mutant, micro_nats=31_250)
    top, nats = pac.grids[0].cells, []
    for _ in range(repeats):
        start = mutant.pac_state.PacState.draw()
        attacker, _ = attack_adaptively(
            pac, start, lambda posterior: most_underrated_worlds(posterior, top=top), releases=64
        )
        nats.append(attacker.nats_about(start.secret))
    return check_information(nats, claimed=2.0, errors=8)


def test_half_the_variance():
    mutant = load_mutant("pac", old=VARIANCE, new=VARIANCE.replace("LOG_BITS - 1", "LOG_BITS - 2"))
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_noise(mutant)
    with pytest.raises(AssertionError, match="an attacker gains"):
        information_of_first_releases(mutant, size=7_000)


def test_deviation_in_place_of_the_root_of_both():
    """Each output with noise for itself alone: two outputs tell twice."""
    mutant = load_mutant("pac", old="self.nats / (root * total))", new="self.nats / (root * root))")
    pac = make_pac(mutant, outputs=2)
    worlds = [(5_000 * world, 300_000 + 4_000 * (world % 8)) for world in range(64)]
    posteriors, secrets = attack_first_releases(
        pac, worlds, mutant.pac_state.PacState.draw, size=SIZE, module=mutant.pac
    )
    with pytest.raises(AssertionError, match="an attacker gains"):
        check_information(np.log(64 * posteriors[np.arange(SIZE), secrets]), claimed=0.125)


def test_posterior_never_updated():
    """The adaptive attack gains 3.3 nats from it where 2 are claimed; the state shows it at once."""
    mutant = load_mutant(
        "pac",
        old="return values, state.learned(_log_likelihoods(worlds, released, precisions))",
        new="return values, state",
    )
    with pytest.raises(AssertionError, match="the state is not the posterior"):
        check_posterior_is_kept(make_pac(mutant, micro_nats=500_000), fresh(mutant))


def test_posterior_updated_the_wrong_way():
    mutant = load_mutant("pac_state", old="log + more for log, more in", new="log - more for log, more in")
    with pytest.raises(AssertionError, match="the state is not the posterior"):
        check_posterior_is_kept(make_pac(mutant, micro_nats=500_000), fresh(mutant))
    # the attacker finds the world nearly always: ln 64 = 4.2 nats, where 2 are claimed
    with pytest.raises(AssertionError, match="an attacker gains"):
        information_of_adaptive_releases(mutant)


def test_masks_not_balanced():
    mutant = load_mutant(
        "half_samples",
        old='return subset(int.from_bytes(digest, "big") % comb(WORLDS, _IN), places=WORLDS, ones=_IN)',
        new='return int.from_bytes(digest[:8], "big")',
    )
    with pytest.raises(AssertionError, match="prior is not 1/2"):
        check_prior_of_one_half(mutant.half_samples.mask, clean_heights(), key=KEY)


def test_noise_shared_by_all_outputs():
    shared = f"(globals().setdefault('drawn', []) and drawn.pop() or (drawn.append({DRAW}) or drawn[0]))"
    mutant = load_mutant("pac", old=DRAW, new=shared)
    pac = make_pac(mutant, outputs=2, micro_nats=1)
    with pytest.raises(AssertionError, match="outputs share their noise"):
        check_independent_outputs(noise_of(pac, apart(pac), state=fresh(mutant), module=mutant.pac))


def test_noise_kept_from_job_to_job():
    mutant = load_mutant("pac", old=DRAW, new=f"globals().setdefault('drawn', {DRAW})")
    pac = make_pac(mutant, micro_nats=1)
    with pytest.raises(AssertionError, match="two releases carry the same noise"):
        check_fresh_normal_noise(noise_of(pac, apart(pac), state=fresh(mutant), module=mutant.pac))


def test_small_noise_rejected():
    again = f"next(z for z in iter(lambda: {DRAW}, None) if 16 * z * z > _variance(precision))"
    mutant = load_mutant("pac", old=DRAW, new=again)
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_noise(mutant)


def test_no_noise_where_the_worlds_agree():
    mutant = load_mutant(
        "pac", old="SMALLEST_SPREAD = Fraction(1, 4096)", new="SMALLEST_SPREAD = Fraction(1, 2**20)"
    )
    pac = make_pac(mutant)
    with pytest.raises(AssertionError, match="two releases carry the same noise"):
        check_fresh_normal_noise(noise_of(pac, [(7,)] * 64, state=fresh(mutant), module=mutant.pac))


def test_float_noise():
    mutant = load_mutant(
        "pac",
        old="NoisedOutput(value=grid.value(units)) for",
        new="NoisedOutput(Fraction(float(grid.value(units)) + "
        "__import__('numpy').random.normal(0, 0.3))) for",
    )
    pac, state = make_pac(mutant), fresh(mutant)
    with pytest.raises(AssertionError, match="off the grid"):
        check_pac_on_grid(pac, STAIRS, state=state)
    with pytest.raises(AssertionError, match="fine bits identify"):
        check_no_fine_bits(
            lambda n: np.array([[float(pac.release(STAIRS, state=state)[0][0].value)] for _ in range(n)])
        )


def test_always_the_same_secret_world():
    """An attacker who read the source would need no release."""
    mutant = load_mutant("pac_state", old="int(stream.words(1, np.uint8)[0]) % WORLDS", new="0")
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_secret_is_uniform(mutant.pac_state.PacState.draw)
