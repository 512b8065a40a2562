import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.half_samples import half_samples
from privacy.leave_one_out import leave_one_out
from privacy.partition import assign_blocks
from privacy.plan import Blocks, HalfSamples, LeaveOneOut, members

KEY = bytes(range(32))
NAMES = [f"sub-{number:02}" for number in range(40)]


def test_numbers_of_runs_are_public():
    assert Blocks(7).runs == 7
    assert Blocks(7, repeats=3).runs == 21
    assert HalfSamples().runs == 64
    assert LeaveOneOut(58).runs == 59


@given(st.integers(2, 5_000), st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_every_person_is_in_one_block_of_every_repeat(blocks, repeats):
    plan = Blocks(blocks, repeats)
    people = members(plan, NAMES, key=KEY, wanted=range(plan.runs))
    assert list(people) == list(range(plan.runs))
    for repeat in range(repeats):
        seen = [name for block in range(blocks) for name in people[repeat * blocks + block]]
        assert sorted(seen) == NAMES


def test_runs_are_blocks_of_their_repeat_in_the_order_of_names():
    people = members(Blocks(4, repeats=2), NAMES, key=KEY, wanted=range(8))
    for repeat in range(2):
        assigned = assign_blocks(NAMES, key=KEY, blocks=4, repeat=repeat)
        for block in range(4):
            expected = [name for name, at in zip(NAMES, assigned, strict=True) if at == block]
            assert people[4 * repeat + block] == expected


def test_wanted_runs_alone_are_given_and_do_not_depend_on_each_other():
    plan = Blocks(5, repeats=3)
    everything = members(plan, NAMES, key=KEY, wanted=range(15))
    for wanted in ([], [13], [2, 9], [14, 0, 14]):
        assert members(plan, NAMES, key=KEY, wanted=iter(wanted)) == {run: everything[run] for run in wanted}


@pytest.mark.parametrize("run", [-1, 15])
def test_a_run_must_be_in_the_plan(run):
    with pytest.raises(ValueError, match="from 0 to 14"):
        members(Blocks(5, repeats=3), NAMES, key=KEY, wanted=[0, run])


def test_other_plans_are_dispatched():
    assert members(HalfSamples(), NAMES, key=KEY, wanted=[3]) == half_samples(NAMES, key=KEY, wanted=[3])
    plan = LeaveOneOut(40)
    assert members(plan, NAMES, key=KEY, wanted=[0, 7]) == leave_one_out(
        NAMES, key=KEY, people=40, wanted=[0, 7]
    )
