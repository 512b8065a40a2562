"""The gate, each sender by itself, for as long as a look takes beside it; and before a look of cold runs."""

import pytest

from worker.sandbox.battery.targets import Targets
from worker.sandbox.gate import senders
from worker.sandbox.gate.report import How
from worker.sandbox.gate.search import by_itself


@pytest.mark.deep("each sender by itself, beside a look")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("mode", "how"), [("warm", How.BESIDE), ("cold", How.SAME_SLOT)], ids=["warm", "cold"]
)
def test_nothing_unlisted_moves_for_any_sender(how, search):
    with Targets() as targets:
        report = search().asked(by_itself(senders.of_battery(targets), [how]))
    assert not report.unclassified
    assert not report.findings, "\n".join(map(str, report.findings))
