"""The shared slots of these tests: nobody is lent a spoilt one, one of another order, or somebody's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kept_slots import MOST, KeptSlots, LendingSandbox
from zones import host_image, own_scratch_root

from worker.config import WorkerSettings
from worker.sandbox.protocol import MIB, Audience, Limits, Slot, SlotCancelled, SlotOrder

COUNTING = b"open('/out/result.tsv', 'w').write('%d' % len(open('/in/a').read()))"
LIMITS = Limits(wall_s=60, cpu_s=60, memory_bytes=128 * MIB)


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[LendingSandbox]:
    kept = KeptSlots(host_image())
    settings = WorkerSettings(
        database_url="sqlite://", broker_url="redis+socket:///nowhere",
        zone_folder=tmp_path, scratch_folder=own_scratch_root("benches"), slots=2,
    )  # fmt: skip
    yield kept.sandbox(settings)
    kept.close()


def order(**changes: Any) -> SlotOrder:
    plain = SlotOrder(
        image=host_image(), code={"main.py": COUNTING}, command=("python3", "/pipeline/main.py"),
        levels=("group",), outputs=("result.tsv",), limits=LIMITS, audience=Audience.ORIGINAL,
    )  # fmt: skip
    return replace(plain, **changes)


def real(slot: Any) -> Slot:
    found: Slot = slot._kept.slot
    return found


def used(sandbox: LendingSandbox, wanted: SlotOrder, *, slot: int = 0) -> Slot:
    with sandbox.open_slot(wanted, slot=slot) as lent:
        assert lent.run({"a": b"123"}).outputs == {"result.tsv": b"3"}
        return real(lent)


def test_the_same_slot_is_for_the_same_order_and_number(sandbox: LendingSandbox) -> None:
    first = used(sandbox, order())
    assert used(sandbox, order()) is first
    assert used(sandbox, order(), slot=1) is not first
    for changes in (
        {"code": {"main.py": COUNTING + b"\n"}},
        {"audience": Audience.TWIN},
        {"limits": replace(LIMITS, wall_s=61)},
        {"environment": {"A": "1"}},
    ):
        assert used(sandbox, order(**changes)) is not first


def test_one_that_somebody_has_is_not_lent_again(sandbox: LendingSandbox) -> None:
    with (
        sandbox.open_slot(order(), slot=0) as one,
        sandbox.open_slot(order(), slot=0) as another,
    ):
        assert real(one) is not real(another)
    one.close()
    another.close()
    held = [sandbox.open_slot(order(), slot=0) for _ in range(3)]
    assert len({id(real(slot)) for slot in held}) == 3
    for slot in held:
        slot.close()


def test_a_cancelled_slot_is_closed_for_good(sandbox: LendingSandbox) -> None:
    with sandbox.open_slot(order(), slot=0) as cancelled:
        cancelled.cancel()
        with pytest.raises(SlotCancelled):
            cancelled.run({"a": b"123"})
    assert used(sandbox, order()) is not real(cancelled)


def test_whoever_has_closed_one_has_it_no_longer(sandbox: LendingSandbox) -> None:
    with sandbox.open_slot(order(), slot=0) as slot:
        pass
    with pytest.raises(AssertionError, match="somebody else may have"):
        slot.run({"a": b"123"})
    with pytest.raises(AssertionError, match="somebody else may have"):
        slot.cancel()


def test_few_are_kept(sandbox: LendingSandbox) -> None:
    first = used(sandbox, order())
    for number in range(MOST):
        used(sandbox, order(environment={"A": str(number)}))
    assert used(sandbox, order()) is not first
