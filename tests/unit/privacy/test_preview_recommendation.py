"""Which choice is recommended, and what is said about it."""

from dataclasses import replace

import pytest

from privacy.grid import OutputGrid
from privacy.preview import Choice, Errors, Forecast, recommend
from privacy.preview.formulas import NoiseError
from privacy.preview.warnings import warnings_about

GRIDS = (OutputGrid.build(0, 100),)


def row(
    micro=1_000_000, size=10, aggregator="clipped_mean", *, within_95, without=2.0, output=0, **others
) -> Forecast:
    error = Errors(
        typical=within_95 / 4,
        within_95=within_95,
        within_99=2 * within_95,
        bias=0.0,
        root_mean_square=within_95 / 2,
    )
    facts = {
        "choice": Choice(micro, size, aggregator),
        "output": output,
        "error": error,
        "without_noise_95": without,
        "noise": None,
        "formula": None,
        "failed_share": 0.0,
        "clamped_share": 0.0,
        "extrapolated_from": None,
    }
    return Forecast(**{**facts, **others})


def take(*rows, wanted=None, names=("age",), grids=GRIDS):
    return recommend(rows, grids=grids, names=names, wanted=wanted)


def test_the_smallest_epsilon_at_which_noise_is_not_the_trouble():
    found = take(row(500_000, within_95=9), row(1_000_000, within_95=3.6), row(2_000_000, within_95=2.5))
    assert (found.choice.micro_epsilon, found.reached) == (1_000_000, True)
    assert found.reasons[0] == (
        "Epsilon 1: the error is 1.8 times what is left without any noise. Epsilon 2 would give 0.69 of it."
    )


def test_errors_are_shares_of_ranges_that_begin_anywhere():
    """A range from 50 to 150 is 100 wide: 0.9 of it is small, 1.1 is not."""
    grids = (OutputGrid.build(50, 150),)
    found = take(
        row(500_000, within_95=1.1, without=0), row(1_000_000, within_95=0.9, without=0), grids=grids
    )
    assert found.choice.micro_epsilon == 1_000_000


def test_the_next_epsilon_is_the_one_that_is_named():
    rows = [
        row(micro, within_95=within) for micro, within in ((10**6, 3.0), (2 * 10**6, 2.7), (4 * 10**6, 2.4))
    ]
    assert "Epsilon 2 would give 0.90 of it" in take(*rows).reasons[0]


def test_only_choices_at_the_same_epsilon_are_compared():
    found = take(
        row(1_000_000, 10, within_95=3.0), row(1_000_000, 5, within_95=6.0), row(2_000_000, 20, within_95=2.9)
    )
    assert found.reasons[1] == (
        "Mean over blocks of 10. Error at the same epsilon, times this one's: mean over blocks of 5 2.00."
    )


@pytest.mark.parametrize(("micro", "said"), [(10_000_000, []), (10_000_001, ["Above 10 epsilon is weak"])])
def test_ten_is_the_last_epsilon_that_is_not_weak(micro, said):
    assert [words[:24] for words in warnings_about([row(micro, within_95=3)], names=("age",))] == said


@pytest.mark.parametrize(("share", "many"), [(0.05, 0), (0.0501, 2)])
def test_one_in_twenty_is_not_many(share, many):
    found = warnings_about([row(within_95=3, failed_share=share, clamped_share=share)], names=("age",))
    assert len(found) == many


@pytest.mark.parametrize(("bias", "words"), [(1.5, None), (1.51, "1.51 above"), (-1.51, "1.51 below")])
def test_half_of_the_error_is_not_taken_for_bias(bias, words):
    error = replace(row(within_95=3).error, bias=bias)
    found = warnings_about([replace(row(within_95=3), error=error)], names=("age",))
    assert [words in sentence for sentence in found] == ([True] if words else [])


def test_without_a_larger_epsilon_nothing_is_said_of_one():
    found = take(row(within_95=3))
    assert found.reasons[0] == "Epsilon 1: the error is 1.5 times what is left without any noise."


def test_a_small_error_is_enough_even_where_the_blocks_agree():
    """One percent of the range: 1."""
    found = take(row(500_000, within_95=1.1, without=0), row(1_000_000, within_95=0.9, without=0))
    assert found.choice.micro_epsilon == 1_000_000


def test_when_nothing_is_enough_the_largest_is_named_with_what_would_help():
    found = take(row(500_000, within_95=40), row(1_000_000, within_95=20))
    assert (found.choice.micro_epsilon, found.reached) == (1_000_000, False)
    assert (
        "Epsilon 1, the largest of the ladder, is too little: noise makes the error 10.0 times"
        in (found.reasons[0])
    )
    assert "narrower bounds" in found.reasons[0]


def test_a_wanted_error_decides_instead():
    rows = [row(500_000, within_95=9), row(1_000_000, within_95=4), row(2_000_000, within_95=2.5)]
    found = take(*rows, wanted={0: 9.5})
    assert found.choice.micro_epsilon == 500_000
    assert found.reasons[0].startswith(
        "Epsilon 0.5: the smallest of the ladder with age within 9 (wanted 9.5)"
    )
    missed = take(*rows, wanted={0: 1.0})
    assert (missed.choice.micro_epsilon, missed.reached) == (2_000_000, False)
    assert missed.reasons[0].startswith(
        "No epsilon of the ladder is enough: 2 gives age within 2.5 (wanted 1)"
    )


def test_every_wanted_error_counts():
    grids, names = GRIDS * 2, ("age", "height")
    rows = [row(micro, within_95=4 * k, output=k - 1) for micro in (10**6, 2 * 10**6) for k in (1, 2)]
    rows[3] = row(2 * 10**6, within_95=3, output=1)
    found = take(*rows, wanted={0: 5, 1: 5}, grids=grids, names=names)
    assert found.choice.micro_epsilon == 2_000_000


def test_a_choice_that_meets_what_is_wanted_goes_before_a_plainer_one():
    rows = [row(size=10, within_95=4.1), row(size=5, within_95=3.9)]
    assert take(*rows).choice.block_size == 10
    assert take(*rows, wanted={0: 4}).choice.block_size == 5


def test_the_smallest_error_wins():
    found = take(
        row(size=10, within_95=4), row(size=5, within_95=3), row(size=5, aggregator="median", within_95=2)
    )
    assert (found.choice.block_size, found.choice.aggregator) == (5, "median")
    assert found.reasons[1] == (
        "Median over blocks of 5. Error at the same epsilon, times this one's: mean over blocks of 10 2.00; "
        "mean over blocks of 5 1.50."
    )


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        ({}, {"extrapolated_from": 5}),
        ({}, {"failed_share": 0.2}),
        ({}, {"aggregator": "median"}),
        ({"size": 10}, {"size": 5}),
        ({"aggregator": "median"}, {"failed_share": 0.2}),
    ],
)
def test_among_nearly_equal_choices_the_plainer_one_wins(plain, other):
    one, two = row(within_95=4.2, **{"size": 8, **plain}), row(within_95=4, **{"size": 7, **other})
    for rows in ((one, two), (two, one)):
        assert take(*rows).choice == one.choice


def mean_of(size, *, luck, noise, **others):
    """A mean of whose error, in squares, this much is the luck of people and this much noise."""
    whole = (luck**2 + noise**2) ** 0.5
    told = NoiseError(mean_absolute=noise, standard_deviation=noise, half_width_95=2 * noise)
    return row(size=size, within_95=1.96 * whole, without=1.96 * luck, noise=told, formula=whole, **others)


def test_the_luck_of_people_does_not_hide_what_a_choice_adds():
    small, large = mean_of(5, luck=2, noise=0.6), mean_of(10, luck=2, noise=0.9)
    assert take(small, large).choice.block_size == 5
    # both below a quarter of it: larger blocks are fewer runs
    assert take(mean_of(5, luck=2, noise=0.1), mean_of(10, luck=2, noise=0.49)).choice.block_size == 10
    # a guess shows nothing so fine, and without closed forms nothing is known
    assert take(replace(small, extrapolated_from=10), large).choice.block_size == 10
    assert take(replace(small, formula=None), large).choice.block_size == 10
    assert take(replace(small, formula=None), replace(large, formula=None)).choice.block_size == 10
    # more noise, and less bias than it has
    assert take(mean_of(5, luck=2.2, noise=0.3), mean_of(10, luck=2, noise=0.6)).choice.block_size == 10


def test_a_median_with_heavy_tails_is_not_recommended():
    tails = row(aggregator="median", within_95=2)
    tails = replace(tails, error=replace(tails.error, root_mean_square=10.0))
    assert take(row(within_95=4), tails).choice.aggregator == "clipped_mean"


def test_an_error_of_nothing_is_no_division_by_zero():
    assert take(row(within_95=0.0, without=0.0)).reached


def test_nothing_wrong_is_nothing_said():
    assert warnings_about([row(within_95=4)], names=("age",)) == []
    assert len(take(row(within_95=4)).reasons) == 2


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"micro": 10_000_001}, "Above 10 epsilon is weak"),
        ({"failed_share": 0.0501}, "5% of the twin's blocks of 10 failed"),
        ({"extrapolated_from": 5}, "Blocks of 10 are a guess from blocks of 5"),
        ({"clamped_share": 0.3}, "age: 30% of the twin's blocks ended on a bound"),
    ],
)
def test_each_trouble_has_its_sentence(facts, words):
    (found,) = warnings_about([row(within_95=4, **facts)], names=("age",))
    assert found.startswith(words)
    assert take(row(within_95=4, **facts)).reasons[-1] == found


def test_on_a_blank_form_wider_bounds_are_not_what_helps():
    (found,) = warnings_about([row(within_95=4, clamped_share=0.3)], names=("age",))
    assert found.endswith("with such a twin keep bounds that you know from the subject.")


@pytest.mark.parametrize(("bias", "word"), [(2.5, "above"), (-2.5, "below")])
def test_bias_is_named_with_its_side(bias, word):
    biased = row(within_95=4)
    biased = replace(biased, error=replace(biased.error, bias=bias))
    (found,) = warnings_about([biased], names=("age",))
    assert f"age: blocks answer 2.5 {word} the whole twin" in found


def test_a_size_whose_runs_fail_on_the_twin_is_not_taken_where_another_succeeds():
    fails, works = row(size=1, within_95=1, failed_share=0.11), row(size=5, within_95=3)
    assert take(fails, works).choice.block_size == 5
    assert take(fails, replace(works, failed_share=0.2)).choice.block_size == 1
    assert take(replace(fails, failed_share=0.1), works).choice.block_size == 1
