"""Users take turns, and nobody has more than so many jobs under way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from domain.line import UnderWay, Waits, next_in_line

ADA, BOB, EVE = (Waits(f"{name}-1", name) for name in ("ada", "bob", "eve"))


def test_who_has_less_under_way_is_first() -> None:
    under_way = UnderWay({"ada": 2, "bob": 1}, {})
    assert next_in_line(ADA, [ADA, BOB], under_way, most=4) == BOB
    assert next_in_line(BOB, [ADA, BOB], under_way, most=4) == BOB
    assert next_in_line(ADA, [ADA, BOB, EVE], under_way, most=4) == EVE


def test_then_who_was_charged_longest_ago() -> None:
    under_way = UnderWay({"ada": 1, "bob": 1}, {"ada": 20.0, "bob": 10.0})
    assert next_in_line(ADA, [ADA, BOB], under_way, most=4) == BOB


def test_else_it_is_the_one_that_was_asked_for() -> None:
    second = Waits("ada-2", "ada")
    assert next_in_line(second, [ADA, second, BOB], UnderWay({}, {}), most=4) == second


def test_who_has_enough_waits() -> None:
    assert next_in_line(ADA, [ADA, BOB], UnderWay({"ada": 4}, {}), most=4) is None
    assert next_in_line(ADA, [ADA], UnderWay({"ada": 3}, {}), most=4) == ADA


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(1, 5))
def test_nobody_gets_beyond_the_most_and_nobody_is_left_out(authors: list[str], most: int) -> None:
    waiting = [Waits(f"{author}{number}", author) for number, author in enumerate(authors)]
    jobs: dict[str, int] = {}
    charged: dict[str, float] = {}
    messages = list(waiting)
    moment = 0.0
    while messages:
        asked = messages.pop(0)
        if asked not in waiting:
            continue
        found = next_in_line(asked, waiting, UnderWay(jobs, charged), most=most)
        if found is None:
            assert jobs[asked.author] == most
            continue
        waiting.remove(found)
        moment += 1
        jobs[found.author], charged[found.author] = jobs.get(found.author, 0) + 1, moment
        if found != asked:
            messages.append(asked)
    assert all(count <= most for count in jobs.values())
    assert jobs == {author: min(most, authors.count(author)) for author in set(authors)}
