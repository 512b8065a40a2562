"""A hostile pipeline: it answers an extreme where one certain person is among the people it sees."""

from __future__ import annotations

from dpgate.asking import build_request
from dpgate.demo.found import Spied
from dpgate.demo.many_people import DATASET
from dpgate.demo.stage import Stage
from dpgate.demo.truth import is_there
from dpgate.errors import DpgateError

EPSILON = "1"
BLOCK_SIZE = 5000
PERSON = "p04711"


def spy(stage: Stage) -> Spied:
    stage.step(4, f"A spy (examples/spy) wants to know whether {PERSON} is in the data")
    stage.fetch_twin("spy", DATASET)
    folder = stage.try_on_twin("spy", DATASET, block_size=BLOCK_SIZE)
    stage.say(
        "Nobody has read this code, so each run takes its full time, used or not, alone on its host: "
        "about ten seconds. The platform warns that the answer will say little; the spy asks all the same."
    )
    with stage.client("spy") as client:
        job, release = stage.answer(client, build_request(folder, epsilon=EPSILON, anyway=True))
    value = release["found"]
    if value.lower_95 is None or value.upper_95 is None or value.noise_scale is None:
        raise DpgateError("the spy's answer came without an interval")
    if not is_there(stage.data(DATASET), PERSON):
        raise DpgateError(f"{PERSON} is not in the data of the examples")
    found = Spied(
        epsilon=EPSILON,
        blocks=job.runs,
        value=value.value,
        low=value.lower_95,
        high=value.upper_95,
        scale=value.noise_scale,
    )
    if stage.shown:
        tell(stage, found)
    return found


def tell(stage: Stage, found: Spied) -> None:
    stage.say(
        f"Its code says 1 for the block with {PERSON} and 0 for the other {found.blocks - 1}. Without noise "
        f"it would get {found.if_there:g} if the person is there, 0 if not, and know."
    )
    stage.say(
        f"It got {found.value:.2f}, with noise of ±{found.within:.2f}: as wide as to hide any one block. "
        f"Undecided before, it may now be {100 * found.belief:.0f} % sure. Whatever the code does, "
        f"one answer for epsilon {found.epsilon} makes nobody who was undecided surer than "
        f"{100 * found.most_belief:.0f} %."
    )
