import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.cost import Cost, Currency
from privacy.grid import MIN_CELLS, OutputGrid
from privacy.keystream import Keystream
from privacy.l2_clip import L2Clip, _ceil_isqrt
from privacy.loss import GuaranteeClass
from privacy.mean_noise import Means, noises_of
from privacy.noise import GaussianNoise
from privacy.people import Part
from privacy.preview import TwinAnswers, compare_kinds, forecast, proposed_norm, recommend
from privacy.preview.clipping import vector_norms
from privacy.preview.forecast import Choice
from privacy.preview.twin import BlockAnswers
from privacy.sample_aggregate import SampleAggregate

UNIT = OutputGrid.build(0, 1)
WIDE = OutputGrid.build(-3, 3)
DELTA = {"atto_delta": 10**12}
STREAM = Keystream()


def make(outputs=4, **parameters):
    fixed = {"blocks": 10, "micro_epsilon": 1_000_000, "noise": "gaussian", **DELTA, "clip_norm": 1}
    return SampleAggregate((UNIT, WIDE) * (outputs // 2), **{**fixed, **parameters})


@given(st.data())
def test_a_clipped_vector_lies_in_the_ball_and_keeps_its_direction(data):
    cells = tuple(data.draw(st.lists(st.integers(MIN_CELLS, 2 * MIN_CELLS - 2), min_size=1, max_size=8)))
    norm = data.draw(st.fractions(Fraction(1, 1000), 1, max_denominator=10**6))
    clip = L2Clip(cells, norm)
    units = tuple(data.draw(st.integers(0, K)) for K in cells)
    clipped = clip.clip(units)
    assert all(type(unit) is int for unit in clipped)
    before, after = (
        [unit - K // 2 for unit, K in zip(each, cells, strict=True)] for each in (units, clipped)
    )
    square = sum(
        (Fraction(place, half) ** 2 for place, half in zip(after, clip.half_ranges, strict=True)),
        start=Fraction(0),
    )
    assert square <= norm**2
    for one, other in zip(before, after, strict=True):
        assert abs(other) <= abs(one)
        assert one * other >= 0
    if clip.clips(units):
        # what is lost to whole numbers is less than a unit of each
        assert square >= (norm - Fraction(len(cells), MIN_CELLS // 2)) ** 2 or norm < Fraction(1, 100)
    else:
        assert clipped == units


def test_a_ball_holds_exactly_on_grids_finer_than_the_norms_own_units():
    """There each step of the proof that rounds counts: a norm rounded down lets vectors out of the ball."""
    draw = random.Random(6)
    for _ in range(200):
        cells = tuple(2 * draw.randrange(2**58, 2**59) for _ in range(draw.randrange(1, 4)))
        clip = L2Clip(cells, Fraction(draw.randrange(2**20, 2**31), 2**31))
        clipped = clip.clip([draw.choice((0, K, draw.randrange(K))) for K in cells])
        places = [unit - K // 2 for unit, K in zip(clipped, cells, strict=True)]
        square = sum(
            (Fraction(place, half) ** 2 for place, half in zip(places, clip.half_ranges, strict=True)),
            start=Fraction(0),
        )
        assert square <= clip.norm**2
    edge = L2Clip((2**40,), Fraction(1, 2))
    assert [edge.clips([2**39 + 2**38 + more]) for more in (-1, 0, 1)] == [False, False, True]
    assert [_ceil_isqrt(square) for square in range(11)] == [0, 1, 2, 2, 2, 3, 3, 3, 3, 3, 4]


def test_the_middle_of_all_bounds_stays():
    assert L2Clip((4, 5), Fraction(1, 1000)).clip((2, 2)) == (2, 2)


@pytest.mark.parametrize("norm", [0, Fraction(1, 1001), -1, Fraction(21, 10), 0.5, True])
def test_a_norm_that_is_none(norm):
    with pytest.raises(ValueError, match="clip_norm must be"):
        L2Clip((4, 4, 4, 4), norm)


def test_the_largest_norm_is_the_noise_of_equal_shares():
    clipped, plain = make(clip_norm=2), make(clip_norm=None)
    assert clipped.noises == plain.noises
    assert clipped.guarantee == GuaranteeClass.APPROX_DP
    assert clipped.cost == Cost.of({Currency.EPSILON: 1_000_000, Currency.DELTA: 10**12})
    assert clipped.pico_rho == plain.pico_rho


def test_noise_narrows_with_the_norm():
    clipped, plain = make(repeats=3), make(repeats=3, clip_norm=None)
    for one, other in zip(clipped.noises, plain.noises, strict=True):
        assert one.variance == other.variance / 4
    odd = Means((3, 3), (Fraction(1),) * 2, (1, 1), Fraction(1, 2), L2Clip((3, 3), Fraction(1)))
    assert noises_of(odd, "gaussian") == [GaussianNoise(Fraction(16))] * 2


def test_a_release_is_that_of_clipped_blocks():
    aggregate = make(micro_epsilon=10**9, atto_delta=10**15)
    corner = tuple(grid.cells for grid in aggregate.grids)
    released = aggregate.release([corner] * 9 + [None])
    for output, grid in zip(released, aggregate.grids, strict=True):
        middle, half = grid.value(grid.middle), (grid.upper - grid.lower) / 2
        # four equal places share a norm of 1, and a failed block stands in the middle
        assert float((output.value - middle) / half) == pytest.approx(0.45, abs=0.05)
    assert aggregate.parameters()["clip_norm"] == "1"


def test_auto_takes_what_is_narrower_and_clips_for_gaussian_noise_alone():
    assert make(noise="auto", clip_norm=Fraction(1, 4)).resolved_noise == "gaussian"
    assert make(noise="auto", clip_norm=None).resolved_noise == "joint"
    wide = make(noise="auto", clip_norm=2)
    assert (wide.resolved_noise, wide.clip) == ("joint", None)
    assert "clip_norm" not in wide.parameters()


WHAT_DOES_NOT_GO_WITH_IT = (
    ({"noise": "joint", "atto_delta": None}, "goes with gaussian noise, which needs a delta"),
    ({"noise": "auto", "atto_delta": None}, "goes with gaussian noise, which needs a delta"),
    ({"noise": "auto", "aggregator": "median", "blocks": 1_000}, "clip_norm is for vectors of means"),
    ({"weights": (1, 2, 1, 1)}, "leave weights out, or widen the bounds"),
    ({"interval": "sampling"}, "leave clip_norm or interval out"),
    ({"parts": (Part(),) * 4}, "leave it out beside numbers over people"),
    ({"clip_norm": 0}, "from 0.001 to the root of the number of outputs"),
    ({"clip_norm": Fraction(201, 100)}, "from 0.001 to the root of the number of outputs"),
    ({"blocks": 10, "people": 9}, "people, the nominal size, must be at least the number of blocks"),
    ({"weights": (10**30, 1, 1, 1)}, "weights must be whole numbers from 1 to 1000"),
)


def test_what_does_not_go_with_a_clip_norm_is_refused(subtests):
    for parameters, said in WHAT_DOES_NOT_GO_WITH_IT:
        with subtests.test(said=said), pytest.raises(ValueError, match=said):
            make(**parameters)


# --- previews ----------------------------------------------------------------------------------------------

CORNERS = tuple((0, 0, UNIT.cells, WIDE.cells) if number % 2 else None for number in range(10))
INSIDE = ((UNIT.middle + 1000, WIDE.middle, UNIT.middle, WIDE.middle),) * 10


def rows_of(blocks, **parameters):
    twin = TwinAnswers(numbers=(0.5, 0.0, 0.5, 0.0), blocks={1: blocks})
    asked = make(**parameters)
    return (
        twin,
        asked,
        forecast(
            asked,
            twin=twin,
            nominal_size=10,
            block_sizes=(1,),
            epsilons=(1_000_000,),
            aggregators=("clipped_mean",),
            replays=200,
            keystream=STREAM,
        ),
    )


def test_a_preview_says_how_many_blocks_are_clipped_and_holds_their_bias():
    _, asked, rows = rows_of(CORNERS)
    assert [row.clipped_share for row in rows] == [1.0] * 4
    # half of the blocks failed; the others' lower corner, drawn to a quarter of the half-range
    assert rows[0].error.bias == pytest.approx(-0.125, abs=0.2)
    assert rows[0].without_noise_95 < rows_of(CORNERS, clip_norm=None)[2][0].without_noise_95
    taken = recommend(rows, grids=asked.grids, names=["a", "b", "c", "d"])
    assert any("100% of the twin's blocks are beyond the clip norm" in reason for reason in taken.reasons)
    assert [row.clipped_share for row in rows_of(INSIDE)[2]] == [0.0] * 4
    assert [row.clipped_share for row in rows_of((None,) * 10)[2]] == [0.0] * 4
    # joint noise covers the whole box
    assert [row.clipped_share for row in rows_of(CORNERS, noise="auto", clip_norm=2)[2]] == [0.0] * 4


def test_kinds_of_noise_are_compared_where_a_delta_gives_a_choice():
    twin, asked, _ = rows_of(INSIDE)
    choice = Choice(1_000_000, 1, "clipped_mean")
    found = compare_kinds(asked, choice, twin=twin, nominal_size=10)
    assert [(row.noise, row.guarantee, row.clip_norm) for row in found] == [
        ("joint", GuaranteeClass.PURE_DP, None),
        ("gaussian", GuaranteeClass.APPROX_DP, None),
        ("gaussian", GuaranteeClass.APPROX_DP, 1.0),
    ]
    assert found[2].error == pytest.approx(found[1].error / 2, rel=0.3)
    weighed = compare_kinds(make(clip_norm=None, weights=(1, 2, 1, 1)), choice, twin=twin, nominal_size=10)
    assert [row.noise for row in weighed] == ["gaussian"]
    pure = make(noise="joint", atto_delta=None, clip_norm=None)
    assert compare_kinds(pure, choice, twin=twin, nominal_size=10) == ()
    median = Choice(1_000_000, 1, "median")
    assert compare_kinds(asked, median, twin=twin, nominal_size=10) == ()


def test_the_norm_to_propose():
    grids = make().grids
    corner = (0, 0, UNIT.cells, WIDE.cells)
    answers = BlockAnswers(1, (corner, None))
    assert vector_norms(answers, grids).tolist() == [pytest.approx(2)]
    assert proposed_norm(answers, grids) == pytest.approx(2)
    assert proposed_norm(BlockAnswers(1, (None, None)), grids) is None


def test_what_holds_of_many_values_is_said_of_twenty_and_counted():
    grids, corner = (UNIT,) * 24, (0,) * 24
    asked = SampleAggregate(grids, blocks=10, micro_epsilon=1_000_000, noise="joint")
    twin = TwinAnswers(numbers=(0.0,) * 24, blocks={1: (corner,) * 10})
    means = {"epsilons": (1_000_000,), "aggregators": ("clipped_mean",), "replays": 50, "keystream": STREAM}
    rows = forecast(asked, twin=twin, nominal_size=10, block_sizes=(1,), **means)
    reasons = recommend(rows, grids=grids, names=[f"v{number}" for number in range(24)]).reasons
    assert sum("ended on a bound" in reason for reason in reasons) == 20
    assert "The same holds for 4 more of the 24 values." in reasons
