import hashlib
import hmac

import pytest

from privacy.leave_one_out import leave_one_out

KEY = bytes(range(32))
PEOPLE = [f"sub-{number:02}" for number in range(1, 26)]


def left_out(names: list[str], *, people: int, key: bytes = KEY) -> list[set[str]]:
    """Whom each run from 1 on does not see."""
    runs = leave_one_out(names, key=key, people=people, wanted=range(people + 1))
    assert runs[0] == names
    return [set(names) - set(runs[run]) for run in range(1, people + 1)]


def test_every_person_is_left_out_once():
    missing = left_out(PEOPLE, people=25)
    assert sorted(name for names in missing for name in names) == PEOPLE
    assert all(len(names) == 1 for names in missing)


def test_names_keep_their_order():
    shown = leave_one_out(PEOPLE, key=KEY, people=25, wanted=[4])[4]
    assert shown == sorted(shown)
    assert len(shown) == 24


def test_order_of_leaving_is_the_stated_hash():
    def rank(name: str) -> bytes:
        return hmac.new(KEY, b"dpgate leave one out v1" + name.encode(), hashlib.sha256).digest()

    assert left_out(PEOPLE, people=25) == [{name} for name in sorted(PEOPLE, key=rank)]
    assert left_out(PEOPLE, people=25, key=bytes(32)) != left_out(PEOPLE, people=25)


def test_the_order_of_the_file_is_irrelevant():
    assert left_out(PEOPLE[::-1], people=25) == left_out(PEOPLE, people=25)


def test_with_fewer_people_than_nominal_the_last_runs_see_everybody():
    missing = left_out(PEOPLE[:22], people=25)
    assert [len(names) for names in missing] == [1] * 22 + [0] * 3


def test_with_more_people_than_nominal_some_always_stay():
    missing = left_out(PEOPLE, people=20)
    assert len(set.union(*missing)) == 20


def test_all_spellings_of_a_person_leave_together():
    names = ["Zoë", "b", "  Zoe\u0308", "c", "Zoë"]
    missing = left_out(names, people=4)
    assert sorted(map(len, missing)) == [0, 1, 1, 2]
    assert {"Zoë", "  Zoe\u0308"} in missing


def test_only_the_wanted_runs_are_cut():
    assert list(leave_one_out(PEOPLE, key=KEY, people=25, wanted=iter([9, 2]))) == [9, 2]


def test_nobody_at_all():
    assert leave_one_out([], key=KEY, people=20, wanted=[0, 20]) == {0: [], 20: []}


@pytest.mark.parametrize("wanted", [[-1], [21], [0, 21]])
def test_other_runs_are_refused(wanted):
    with pytest.raises(ValueError, match="from 0 to the nominal"):
        leave_one_out(PEOPLE, key=KEY, people=20, wanted=wanted)


def test_short_keys_and_bad_names_are_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        leave_one_out(PEOPLE, key=bytes(31), people=20, wanted=[0])
    with pytest.raises(ValueError, match="must be text"):
        leave_one_out(["a", 7], key=KEY, people=20, wanted=[0])
