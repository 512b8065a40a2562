"""The gate, each sender by itself: one that ran before a look, in a warm slot.

Slots and seats are the same for cold runs: they are asked in one of these places (test_beside.py), and in all
of them with everything at once (test_gate.py).
"""

import pytest

from worker.sandbox.battery.targets import Targets
from worker.sandbox.gate import senders
from worker.sandbox.gate.report import How
from worker.sandbox.gate.search import by_itself


@pytest.mark.deep("each sender by itself, in each place")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("how", [How.SAME_SLOT, How.OTHER_SEAT, How.OTHER_SLOT], ids=lambda how: how.name)
@pytest.mark.parametrize("mode", ["warm"])
def test_nothing_unlisted_moves_for_any_sender(how, search):
    with Targets() as targets:
        report = search().asked(by_itself(senders.of_battery(targets), [how]))
    assert not report.unclassified
    assert not report.findings, "\n".join(map(str, report.findings))
