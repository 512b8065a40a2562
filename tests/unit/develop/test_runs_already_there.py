"""Which runs on the twin are made again: none that is there, unless more partitions are asked for."""

from __future__ import annotations

from dpgate.cli.develop import is_enough
from privacy.plan import Blocks, HalfSamples

ONE, THREE = Blocks(12, 60), Blocks(12, 60, 3)


def test_what_is_there_is_enough_but_for_further_partitions() -> None:
    assert not is_enough(None, ONE, is_in_haste=True)
    assert is_enough([0] * 12, ONE, is_in_haste=False)
    assert is_enough([0] * 5, ONE, is_in_haste=True)
    assert not is_enough([0] * 5, ONE, is_in_haste=False)
    assert not is_enough([0] * 12, THREE, is_in_haste=True)
    assert is_enough([0] * 36, THREE, is_in_haste=True)
    assert is_enough([0] * 36, ONE, is_in_haste=False)
    assert is_enough([0] * 5, HalfSamples(), is_in_haste=True)
