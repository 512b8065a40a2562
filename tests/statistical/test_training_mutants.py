"""Every mistake in training by noised gradients that we know of makes a check fail."""

import pytest
import training_checks as checks
from mutation import load_mutant

SHRUNK = "errors = np.rint(layer.errors * shrink[:, None, None])"
SQUARES = "squares = squares + _running_sum(pairs.reshape(len(pairs), -1))"
LOT = "np.flatnonzero(keystream.words(len(people), np.uint32) < self.sampled.rate)"


def fails(check, said, **options):
    with pytest.raises(AssertionError, match=said):
        check(**options)


def test_the_trainer_itself_passes_all_checks():
    import privacy.sampled_losses
    import privacy.training
    import privacy.training.fixed_point
    import privacy.training.trainer

    class Real:
        sampled_losses = privacy.sampled_losses
        training = privacy.training
        training_trainer = privacy.training.trainer
        training_fixed_point = privacy.training.fixed_point

    checks.check_one_person_moves_a_sum_by_at_most_the_clip(Real)
    checks.check_one_person_moves_a_sum_by_at_most_the_clip(Real, rows=5)
    checks.check_everybody_takes_part_by_lot(Real)
    checks.check_noise_is_wide_and_fresh(Real)
    checks.check_steps_are_those_that_are_paid_for(Real)
    checks.check_others_add_the_same(Real)


def test_the_batch_is_clipped_and_not_each_person():
    """The mistake of seed code and of many tutorials: all are drawn back together, as far as the longest."""
    together = SHRUNK.replace("shrink[:, None, None]", "shrink.min()")
    mutant = load_mutant("training.clipping", old=SHRUNK, new=together)
    fails(checks.check_one_person_moves_a_sum_by_at_most_the_clip, "one person moves", package=mutant)


def test_each_row_is_clipped_and_not_the_person():
    alone = SQUARES.replace(
        "pairs.reshape(len(pairs), -1)", "np.diagonal(pairs, axis1=1, axis2=2).max(1)[:, None]"
    )
    mutant = load_mutant("training.clipping", old=SQUARES, new=alone)
    checks.check_one_person_moves_a_sum_by_at_most_the_clip(mutant)
    fails(checks.check_one_person_moves_a_sum_by_at_most_the_clip, "one person moves", package=mutant, rows=5)


def test_nobody_is_clipped():
    mutant = load_mutant("training.clipping", old=SHRUNK, new="errors = layer.errors")
    fails(checks.check_one_person_moves_a_sum_by_at_most_the_clip, "one person moves", package=mutant)


def test_the_first_people_are_the_batch():
    mutant = load_mutant("training.trainer", old=LOT, new="np.arange(len(people))[: self.batch]")
    fails(checks.check_everybody_takes_part_by_lot, "not half|not by lot", package=mutant)


def test_a_batch_of_a_fixed_size_is_drawn():
    """Half of the people each time: its loss is another than that of people who are drawn by themselves."""
    fixed = "np.argsort(keystream.words(len(people), np.uint32))[: self.batch]"
    mutant = load_mutant("training.trainer", old=LOT, new=fixed)
    fails(checks.check_everybody_takes_part_by_lot, "not by lot", package=mutant)


def test_steps_share_their_noise():
    mutant = load_mutant(
        "training.trainer",
        old="return total + noise",
        new='return total + self.__dict__.setdefault("_drawn", noise)',
    )
    fails(checks.check_noise_is_wide_and_fresh, "share their noise", package=mutant)


def test_half_the_noise():
    mutant = load_mutant(
        "training.trainer",
        old="self.sampled.variance, self.network.size",
        new="self.sampled.variance // 4, self.network.size",
    )
    fails(checks.check_noise_is_wide_and_fresh, "noise has 0.2", package=mutant)


def test_the_number_of_steps_follows_from_the_data():
    """As with epochs: so many steps as the people that are really there need."""
    mutant = load_mutant(
        "training.trainer", old="range(self.steps)", new="range(max(1, len(people) // self.batch))"
    )
    fails(checks.check_steps_are_those_that_are_paid_for, "steps of 7", package=mutant)


def test_sums_are_rounded_and_not_what_each_person_adds():
    """A sum of floats is then moved by more than the clip, and by how many others there are."""
    mutant = load_mutant("training.clipping", old=SHRUNK, new="errors = layer.errors * shrink[:, None, None]")
    fails(checks.check_others_add_the_same, "others add something else", package=mutant)
