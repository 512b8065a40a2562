"""The gate on this host's sandbox: nothing that a run can read moves with what other runs do, but for what is
on the list.
"""

import pytest

from worker.sandbox.gate.known import CLOCKS, NAMES
from worker.sandbox.gate.report import How
from worker.sandbox.gate.search import MEASURED_CHANNELS, at_once


def test_nothing_unlisted_moves_when_others_do_what_they_can(search):
    report = search().short()
    assert report.values > 2000
    assert not report.unclassified
    assert not report.findings, "\n".join(map(str, report.findings))


@pytest.mark.deep("all places, and how much each residual channel carries")
@pytest.mark.timeout(1800)
def test_nothing_unlisted_moves_in_any_place_and_each_residual_channel_has_its_size(search):
    report = search().asked(at_once(How), MEASURED_CHANNELS)
    assert not report.findings, "\n".join(map(str, report.findings))
    assert {each.channel for each in report.residuals} == NAMES - {CLOCKS}
    assert all(each.why_not if each.bits is None else 0 <= each.bits <= 1 for each in report.residuals)
