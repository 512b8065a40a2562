"""The gate on this host's sandbox: nothing that a run can read moves with what other runs do, but for what is
on the list.
"""

import pytest

from worker.sandbox.battery.targets import Targets
from worker.sandbox.gate import senders
from worker.sandbox.gate.report import How


def test_nothing_unlisted_moves_when_others_do_what_they_can(search):
    report = search().short()
    assert report.values > 2000
    assert not report.unclassified
    assert not report.findings, "\n".join(map(str, report.findings))


PLACES = {"warm": tuple(How), "cold": (How.SAME_SLOT,)}
"""Where each sender is asked about by itself. Slots and seats are the same for cold runs, which ask them with
everything at once: the report of `deep` has that for each place."""


@pytest.mark.deep("each sender by itself, in each place")
@pytest.mark.timeout(3600)
def test_nothing_unlisted_moves_for_any_sender(search, mode):
    with Targets() as targets:
        report = search().deep(senders.of_battery(targets), PLACES[mode])
    assert not report.unclassified
    assert not report.findings, "\n".join(map(str, report.findings))
