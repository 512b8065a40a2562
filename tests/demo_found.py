"""What a demo may have found, in made-up numbers."""

from __future__ import annotations

from dpgate.demo.found import Answer, Asked, Found, Spied

GROUPS = ("women_to_50k", "women_over_50k", "men_to_50k", "men_over_50k")


def asked(*names: str, epsilon: str, within: float, off: float = 0.0) -> Asked:
    answers = tuple(
        Answer(name, 40 + place + off, 40 + place + off - within, 40 + place + off + within, 40.0 + place)
        for place, name in enumerate(names)
    )
    return Asked(epsilon, "pure_dp", 100, answers)


def spied(value: float = 0.31, *, epsilon: str = "1", blocks: int = 5) -> Spied:
    scale = 1 / (blocks * float(epsilon))
    return Spied(epsilon, blocks, value, value - 3 * scale, value + 3 * scale, scale)


def found() -> Found:
    return Found(
        people=20_000,
        query=asked(*GROUPS, epsilon="0.5", within=0.2),
        pipeline=asked(*GROUPS, epsilon="1", within=1.2, off=-1.3),
        spied=spied(),
        refusal="epsilon: 1 is more than the 0.5 left of the budget of this data set.",
        few_people=60,
        few_block_size=1,
        few=asked("mean_age", "mean_height", "mean_weight", epsilon="2", within=3.0),
        budget="3",
        budget_left="0.5",
        seconds=41.3,
    )
