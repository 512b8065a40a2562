"""T10 of the privacy design: every mistake that we know of makes a named check fail.

Each test here breaks a copy of today's source in one place and shows which check notices. The same checks
pass on the real code in the other files of this folder.
"""

import sys
from fractions import Fraction

import pytest
from checks import (
    check_distribution,
    check_fork,
    check_fresh_noise,
    check_independent_outputs,
    check_mean_magnitude,
    check_no_fine_bits,
    check_on_grid,
    check_small_noise,
    check_standard_laplace,
    check_unseedable,
)
from dealing_checks import check_coupling
from epsilon_audit import LARGE, check_audit
from hypothesis import Phase
from mutation import Mutant, load_mutant
from person_checks import check_partition, check_repeats_are_unrelated
from release_paths import drawn_in_batches, release_noise, release_values

import privacy.grid
import privacy.sample_aggregate

SCALE = "return LaplaceNoise(sensitivity / epsilon)"
NOISE = "return int(noise.draw(1, keystream=keystream)[0])"
DRAWN = NOISE.removeprefix("return ")
VALUE = "value=grid.nearest(grid.value(Fraction(sum(units) + drawn, runs))),"
FILLED = "filled = [self.default(run) if output is None else output for run, output in enumerate(outputs)]"
SHARES = "outputs = [(epsilon - failures) * weight / sum(weights) for weight in weights]"
ASSIGNED = "return [block_of.get(person) for person in called]"
CHECKED = "_check_numbers(key, blocks=blocks, people=people, repeat=repeat)"
CALLED = "called = [canonical(person_id) for person_id in person_ids]"

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def make_aggregate(mutant: Mutant, *, outputs=1, blocks=2, micro_epsilon=1_000_000, lower=0, upper=1):
    grid = mutant.grid.OutputGrid.build(lower, upper)
    return mutant.sample_aggregate.SampleAggregate(
        (grid,) * outputs, blocks=blocks, micro_epsilon=micro_epsilon
    )


def audit_one_flip(mutant: Mutant, *, outputs=1):
    aggregate = make_aggregate(mutant, outputs=outputs)
    top, bottom = (aggregate.grids[0].cells,) * outputs, (0,) * outputs
    with drawn_in_batches(mutant.discrete_laplace):
        check_audit(aggregate, ([top, bottom], [bottom, bottom]))


def noise_of(mutant: Mutant, **parameters):
    aggregate = make_aggregate(mutant, **parameters)
    return lambda n: release_noise(aggregate, n)[:, 0]


def check_release(mutant: Mutant):
    with drawn_in_batches(mutant.discrete_laplace):
        check_standard_laplace(noise_of(mutant))


def test_half_the_scale():
    mutant = load_mutant("clipped_mean", old=SCALE, new=SCALE.replace("epsilon)", "epsilon / 2)"))
    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        audit_one_flip(mutant)
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_release(mutant)


def test_scale_times_root_one_half():
    mutant = load_mutant("clipped_mean", old=SCALE, new=SCALE.replace("epsilon)", "epsilon * 707 / 1000)"))
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_release(mutant)


def test_every_output_gets_the_whole_epsilon():
    mutant = load_mutant("epsilon_shares", old=SHARES, new="outputs = [epsilon for _ in weights]")
    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        audit_one_flip(mutant, outputs=2)


def test_noise_shared_by_all_outputs():
    shared = (
        "kept = globals().setdefault('kept', [])\n"
        f"    if kept:\n        return kept.pop()\n    kept.append({DRAWN})\n    return kept[0]"
    )
    mutant = load_mutant("clipped_mean", old=NOISE, new=shared)
    aggregate = make_aggregate(mutant, outputs=2, micro_epsilon=1_000)
    with pytest.raises(AssertionError, match="outputs share their noise"):
        check_independent_outputs(lambda n: release_noise(aggregate, n))


def test_noise_kept_from_job_to_job():
    kept = f"return globals().setdefault(f'drawn {{noise}}', {DRAWN})"
    mutant = load_mutant("clipped_mean", old=NOISE, new=kept)
    with pytest.raises(AssertionError, match="two releases carry the same noise"):
        check_fresh_noise(noise_of(mutant, micro_epsilon=1_000))


def test_noise_derived_from_the_job():
    derived = "import numpy; return int(numpy.random.default_rng(7).laplace(0, float(noise.scale)))"
    mutant = load_mutant("clipped_mean", old=NOISE, new=derived)
    with pytest.raises(AssertionError, match="two releases carry the same noise"):
        check_fresh_noise(noise_of(mutant, micro_epsilon=1_000))


def test_keystream_with_a_constant_key():
    mutant = load_mutant(
        "keystream",
        old="algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))",
        new="algorithms.AES(bytes(32)), modes.CTR(bytes(16))",
    )

    def draw() -> bytes:
        stream = mutant.keystream.Keystream()
        return mutant.discrete_laplace.sample(Fraction(10**9), 8, keystream=stream).tobytes()

    with pytest.raises(AssertionError, match="noise follows a seed"):
        check_unseedable(draw)


def test_keystream_carried_across_a_fork():
    mutant = load_mutant("keystream", old="segment.process != _this_process() or ", new="")
    stream = mutant.keystream.Keystream()
    with pytest.raises(AssertionError, match="repeats after a fork"):
        check_fork(lambda: mutant.discrete_laplace.sample(Fraction(10**9), 8, keystream=stream).tobytes())


def test_small_noise_rejected():
    again = f"drawn = {DRAWN}\n    while abs(drawn) < noise.scale:\n        drawn = {DRAWN}\n    return drawn"
    mutant = load_mutant("clipped_mean", old=NOISE, new=again)
    with pytest.raises(AssertionError, match="small noise is avoided"):
        check_small_noise(noise_of(mutant), scale=1.0)
    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        audit_one_flip(mutant)


def test_divided_by_the_blocks_that_answered():
    mutant = load_mutant(
        "sample_aggregate", old=FILLED, new="filled = [output for output in outputs if output is not None]"
    )
    aggregate = make_aggregate(mutant)
    top, bottom = (aggregate.grids[0].cells,), (0,)
    with (
        pytest.raises(AssertionError, match="an attacker proves epsilon"),
        drawn_in_batches(mutant.discrete_laplace),
    ):
        check_audit(aggregate, ([top, None], [top, bottom]), size=20_000)


def test_default_for_failed_blocks_beyond_the_bounds():
    mutant = load_mutant("grid", old="return self.cells // 2", new="return 2 * self.cells")
    with (
        pytest.raises(AssertionError, match="an attacker proves epsilon"),
        drawn_in_batches(mutant.discrete_laplace),
    ):
        check_audit(make_aggregate(mutant), ([None, (0,)], [(0,), (0,)]), size=LARGE)


def test_blocks_of_rows_instead_of_people():
    by_row = "called = [canonical(f'{row} {person}') for row, person in enumerate(person_ids)]"
    mutant = load_mutant("partition", old=CALLED, new=by_row)
    with pytest.raises(AssertionError):
        check_partition(mutant.partition.assign_blocks, phases=[Phase.generate])


def test_blocks_cut_from_the_sorted_list():
    mutant = load_mutant(
        "partition",
        old=ASSIGNED,
        new="ranks = {person: rank for rank, person in enumerate(sorted(set(called)))}\n"
        "    return [ranks[person] * blocks // len(ranks) for person in called]",
    )
    with pytest.raises(AssertionError, match="not dealt as the proof says"):
        check_coupling(mutant.partition, people=2, slots=3)


def test_every_repeat_is_the_same_partition():
    mutant = load_mutant("partition", old=CHECKED, new=f"{CHECKED}; repeat = 0")
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_repeats_are_unrelated(mutant.partition.assign_blocks)


def test_float_noise():
    mutant = load_mutant(
        "clipped_mean",
        old=VALUE,
        new="value=Fraction(float(grid.value(Fraction(sum(units), runs))) + "
        "__import__('numpy').random.laplace(0, float(noise.scale * grid.step / runs))),",
    )
    aggregate = make_aggregate(mutant, blocks=3, lower=-1, upper=2)
    zero = [(aggregate.grids[0].snap(0.0),)] * 3
    with pytest.raises(AssertionError, match="off the grid"):
        check_on_grid(aggregate, zero)
    with pytest.raises(AssertionError, match="fine bits identify the data"):
        check_no_fine_bits(lambda n: release_values(aggregate, zero, n))
    with pytest.raises(AssertionError, match="noise follows a seed"):
        check_unseedable(lambda: [output.value for output in aggregate.release(zero)])


def test_minus_zero_not_drawn_again():
    mutant = load_mutant("discrete_laplace", old="while again.size:", new="while again.size < 0:")
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_distribution(lambda n: mutant.discrete_laplace.sample(Fraction(1), n), scale=Fraction(1))


def test_a_digit_in_the_wrong_place():
    mutant = load_mutant(
        "geometric_digits",
        old="magnitude <<= shift - digit.shift",
        new="magnitude <<= shift - digit.shift - 1",
    )
    scale = Fraction(27_034)
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_distribution(lambda n: mutant.discrete_laplace.sample(scale, n), scale=scale)


def test_scale_off_by_five_percent():
    mutant = load_mutant(
        "discrete_laplace",
        old="unbounded(check_scale(scale))",
        new="unbounded(check_scale(scale * 95 / 100))",
    )
    with pytest.raises(AssertionError, match="standard errors off"):
        check_mean_magnitude(
            lambda n: mutant.discrete_laplace.sample(Fraction(27_034), n), scale=Fraction(27_034)
        )


def test_mutants_are_copies_of_the_real_source():
    mutant = load_mutant("grid", old="return self.cells // 2", new="return 0")
    assert mutant.grid.OutputGrid.build(0, 1).middle == 0
    assert privacy.grid.OutputGrid.build(0, 1).middle == 2**19
    assert mutant.clipped_mean.OutputGrid is mutant.grid.OutputGrid
    assert mutant.sample_aggregate.SampleAggregate is not privacy.sample_aggregate.SampleAggregate
    assert sys.modules["privacy.grid"] is privacy.grid


@pytest.mark.parametrize("text", ["no such line", "self"])
def test_a_mutation_must_be_found_exactly_once(text):
    with pytest.raises(LookupError, match="not once"):
        load_mutant("grid", old=text, new="")
