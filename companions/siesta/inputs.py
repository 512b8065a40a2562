"""Which people each group run of the workflow sees, and what the noise is then made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from domain.mechanism import SampleAggregateRequest, StabilityRequest
from domain.outputs import values_of
from domain.pipeline import Manifest, OutputValue
from domain.shape import Shape
from dpgate.errors import DpgateError
from dpgate.proposal_limits import USE_CASES
from privacy.keystream import process_keystream
from privacy.partition import block_count
from privacy.plan import Blocks, members
from privacy.sample_aggregate import SampleAggregate
from privacy.stability import MAX_PEOPLE, MIN_PEOPLE, StabilityCalibrated

EVERYBODY = "everybody"
DEALING = "people dealt into slots, 1"
"""How people get into blocks; another text whenever that changes, so that no state mixes two ways."""

Choice = SampleAggregateRequest | StabilityRequest


@dataclass(frozen=True)
class GroupInput:
    """One group run: its name in OUT/secret/group, and who is in its input."""

    name: str
    people: tuple[str, ...]


def group_inputs(
    choice: Choice, people: Sequence[str], *, nominal_size: int, key: bytes
) -> tuple[GroupInput, ...]:
    """Everybody and each leave-one-out sample; or the blocks, which only the key and public numbers decide.

    Raises DpgateError where there are too few or too many people, before anything has run.
    """
    if isinstance(choice, SampleAggregateRequest):
        try:
            plan = Blocks(block_count(nominal_size, choice.block_size), nominal_size, choice.repeats)
        except ValueError as error:
            raise DpgateError(f"--block-size: {error}") from None
        runs = members(plan, people, key=key, wanted=range(plan.runs))
        return tuple(GroupInput(f"block-{run:05d}", tuple(names)) for run, names in runs.items())
    if not MIN_PEOPLE <= len(people) <= MAX_PEOPLE:
        raise DpgateError(
            f"stability_calibrated takes {MIN_PEOPLE} to {MAX_PEOPLE} people and there are {len(people)}; "
            "choose --mechanism sample_aggregate"
        )
    others = (
        GroupInput(f"without-{gone}", tuple(name for name in people if name != gone)) for gone in people
    )
    return (GroupInput(EVERYBODY, tuple(people)), *others)


def new_key() -> str:
    """Which block a person is in is decided by this. It is as secret as the data, serves one release of one
    data set, and must not change while a state lives."""
    return process_keystream().words(32, np.uint8).tobytes().hex()


def declared_values(manifest: Manifest, shape: Shape) -> tuple[OutputValue, ...]:
    try:
        return values_of(manifest, shape)
    except ValueError as error:
        raise DpgateError(str(error)) from None


def mechanism_of(
    choice: Choice, values: Sequence[OutputValue], *, people: int, nominal_size: int
) -> SampleAggregate | StabilityCalibrated:
    """Raises DpgateError for too many numbers."""
    try:
        try:
            choice.check_outputs([value.name for value in values])
        except ValueError as error:
            raise DpgateError(
                f"the files of the whitelist hold {len(values)} numbers; {error}. What can stand for a time "
                f"axis, a curve or a map: {USE_CASES}"
            ) from None
        size = people if isinstance(choice, StabilityRequest) else nominal_size
        if isinstance(choice, SampleAggregateRequest):
            return choice.in_one_step(values, nominal_size=size)
        return choice.build(values, nominal_size=size)
    except ValueError as error:
        raise DpgateError(str(error)) from None
