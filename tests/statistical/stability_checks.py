"""Checks of stability-calibrated noise as plain functions; the claimed rule is written out a second time."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
from release_paths import drawn_in_batches

import privacy.stability

MICRO = 10**6
KEY = bytes(range(32))


def claimed_scales(mechanism: Any, outputs: Sequence[tuple[int, ...]]) -> list[Fraction]:
    """b_k in grid units: the rule of the privacy design, by counting up powers of two."""
    whole, *others = outputs
    dial = Fraction(mechanism.micro_epsilon_prime, MICRO)
    scales = []
    for k, grid in enumerate(mechanism.grids):
        change = max(abs(whole[k] - other[k]) for other in others)
        needed = max(len(mechanism.grids) * change / dial, grid.cells / (mechanism.people * dial))
        scale = Fraction(1, 2**20)
        while scale < needed:
            scale *= 2
        scales.append(scale)
    return scales


def shown_scales(mechanism: Any, outputs: Sequence) -> list[Fraction]:
    released = mechanism.release(outputs)
    return [out.noise_scale / grid.step for out, grid in zip(released, mechanism.grids, strict=True)]


def noise_units(
    mechanism: Any,
    outputs: Sequence[tuple[int, ...]],
    n: int,
    *,
    module: ModuleType = privacy.stability,
) -> np.ndarray:
    """Noise of n releases in grid units, one column per output. `module` is that of the mechanism: the real
    one, or a mutant's."""
    with drawn_in_batches(module):
        released = [mechanism.release(outputs) for _ in range(n)]
    drawn = [
        [
            int((out.value - grid.lower) / grid.step) - units
            for out, grid, units in zip(outs, mechanism.grids, outputs[0], strict=True)
        ]
        for outs in released
    ]
    return np.array(drawn)


def noise_in_scales(
    mechanism: Any,
    outputs: Sequence[tuple[int, ...]],
    n: int,
    *,
    module: ModuleType = privacy.stability,
) -> np.ndarray:
    """Noise of n releases in units of the claimed scales."""
    scales = [float(scale) for scale in claimed_scales(mechanism, outputs)]
    return noise_units(mechanism, outputs, n, module=module) / np.array(scales)


def check_scale_says_little(mechanism: Any) -> None:
    """What is shown of the largest change is a power of two, and one that is large enough."""
    for change in (0, 1, 50_000, 50_001, 70_000, 123_456, 2**19 - 1, 2**19):
        outputs = [(2**19,)] * mechanism.people + [(2**19 - change,)]
        for scale in shown_scales(mechanism, outputs):
            assert math.log2(scale).is_integer(), "the scale shows more than an order of magnitude"
            assert scale >= change * MICRO / Fraction(mechanism.micro_epsilon_prime), "the scale is too small"


def check_failures_count_in_full(mechanism: Any) -> None:
    """A failed run, whoever is missing from it, is a change by the whole range."""
    for failed in (0, 1, mechanism.people):
        outputs = [
            None if run == failed else (0,) * len(mechanism.grids) for run in range(mechanism.people + 1)
        ]
        for scale, grid in zip(shown_scales(mechanism, outputs), mechanism.grids, strict=True):
            assert scale * mechanism.micro_epsilon_prime >= grid.cells * MICRO, "a failed run went unnoticed"


def check_people_leave_whole(leave: Callable[..., dict[int, list[str]]]) -> None:
    """A person with several rows, spelled differently, is in a run with all of them or with none."""
    rows = ["Zoë", "b", "Zoe\u0308", "c", " Zoë", "b ", "d"]
    persons = {"Zoë": {0, 2, 4}, "b": {1, 5}, "c": {3}, "d": {6}}
    runs = leave(rows, key=KEY, people=20, wanted=range(21))
    assert runs[0] == rows, "the first run does not see everybody"
    for seen in runs.values():
        for places in persons.values():
            spellings = {rows[place] for place in places}
            assert spellings <= set(seen) or not spellings & set(seen), "half of a person was left out"
    alone = [run for run in runs.values() if len(set(run)) < len(set(rows))]
    assert len(alone) == len(persons), "not everybody was left out once"


def recovered_heights(vector: Sequence[float], *, first: float, people: int) -> list[float]:
    """The attack on leave-one-out means under one common noise: differences times n - 1 are differences of
    heights, and one known height gives all others."""
    return [first - (people - 1) * (value - vector[0]) for value in vector]


def check_heights_stay_hidden(released: Sequence[Any], heights: Sequence[float]) -> None:
    """Nothing in a release is the vector that this attack needs."""
    values = [float(output.value) for output in released]
    for start in range(len(values)):
        found = recovered_heights(values[start:], first=heights[0], people=len(heights))
        hits = np.isclose(np.subtract.outer(found[1:], heights), 0, atol=0.01).any(axis=1)
        assert hits.sum() < 5, "the release gives back the heights"
