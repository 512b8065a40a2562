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
    assert Blocks(7, 30).runs == 7
    assert Blocks(7, 30, repeats=3).runs == 21
    assert HalfSamples().runs == 64
    assert LeaveOneOut(58).runs == 59


@given(st.integers(2, 5_000), st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_every_person_is_in_one_block_of_every_repeat(blocks, repeats):
    plan = Blocks(blocks, max(blocks, len(NAMES)), repeats)
    people = members(plan, NAMES, key=KEY, wanted=range(plan.runs))
    assert list(people) == list(range(plan.runs))
    for repeat in range(repeats):
        seen = [name for block in range(blocks) for name in people[repeat * blocks + block]]
        assert sorted(seen) == NAMES


def test_runs_are_blocks_of_their_repeat_in_the_order_of_names():
    people = members(Blocks(4, 40, repeats=2), NAMES, key=KEY, wanted=range(8))
    for repeat in range(2):
        assigned = assign_blocks(NAMES, key=KEY, blocks=4, people=40, repeat=repeat)
        for block in range(4):
            expected = [name for name, at in zip(NAMES, assigned, strict=True) if at == block]
            assert people[4 * repeat + block] == expected


def test_wanted_runs_alone_are_given_and_do_not_depend_on_each_other():
    plan = Blocks(5, 30, repeats=3)
    everything = members(plan, NAMES, key=KEY, wanted=range(15))
    for wanted in ([], [13], [2, 9], [14, 0, 14]):
        assert members(plan, NAMES, key=KEY, wanted=iter(wanted)) == {run: everything[run] for run in wanted}


@pytest.mark.parametrize("run", [-1, 15])
def test_a_run_must_be_in_the_plan(run):
    with pytest.raises(ValueError, match="from 0 to 14"):
        members(Blocks(5, 30, repeats=3), NAMES, key=KEY, wanted=[0, run])


def test_other_plans_are_dispatched():
    assert members(HalfSamples(), NAMES, key=KEY, wanted=[3]) == half_samples(NAMES, key=KEY, wanted=[3])
    plan = LeaveOneOut(40)
    assert members(plan, NAMES, key=KEY, wanted=[0, 7]) == leave_one_out(
        NAMES, key=KEY, people=40, wanted=[0, 7]
    )


def test_whoever_has_no_slot_is_in_no_run_of_that_repeat():
    plan = Blocks(6, 30, repeats=2)
    people = members(plan, NAMES, key=KEY, wanted=range(12))
    seated = [{name for run in runs for name in people[run]} for runs in (range(6), range(6, 12))]
    assert [len(names) for names in seated] == [30, 30]
    assert seated[0] != seated[1]


@pytest.mark.parametrize(("blocks", "people", "most"), [(6, 60, 10), (6, 61, 11), (7, 7, 1), (2, 6, 3)])
def test_the_most_people_of_a_run_are_its_slots(blocks, people, most):
    plan = Blocks(blocks, people)
    assert plan.most_in_run == most
    names = [str(number) for number in range(2 * people)]
    assert max(map(len, members(plan, names, key=KEY, wanted=range(blocks)).values())) == most


def test_dealing_is_remembered_and_never_taken_for_another():
    """The chunks of one job ask for a few runs each."""
    found = [members(Blocks(9, 40), NAMES, key=KEY, wanted=[run])[run] for run in range(9)]
    assert members(Blocks(9, 40), NAMES[::-1], key=KEY, wanted=[0])[0] == found[0][::-1]
    for other in (
        {"names": NAMES[:-1]},
        {"key": bytes(32)},
        {"plan": Blocks(9, 41)},
        {"plan": Blocks(8, 40)},
    ):
        asked = {"plan": Blocks(9, 40), "names": NAMES, "key": KEY} | other
        given = members(asked["plan"], asked["names"], key=asked["key"], wanted=range(8))
        assert list(given.values()) != found[:8]
