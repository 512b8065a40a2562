"""The gate, senders that `dpgate doctor --deep` does not have: each by itself, in each place.

And two defences taken away: a sender then moves a value that a run which does nothing leaves alone.
"""

import re

import pytest
from host_devices import host_nodes
from novel import one_by_one
from test_gate_controls import SLOW

from worker.sandbox.gate.bench import Sending
from worker.sandbox.gate.report import How

_ASKED = [("warm", how) for how in How] + [("cold", How.SAME_SLOT)]
_CARRIED = [
    ("warm", "the output of a run stays", "odd_files", r"content /out/link\d+"),
    ("cold", "the output of a run stays", "odd_files", r"content /out/link\d+"),
    ("warm", "there is no filter", "refused_calls", r"call msgctl\(.*"),
]


@pytest.mark.deep("each novel sender by itself, in each place")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("mode", "how"), _ASKED, ids=[f"{mode}-{how.name}" for mode, how in _ASKED])
def test_nothing_unlisted_moves_for_any_novel_sender(how, search):
    report = search().asked([(sending, how) for sending in one_by_one()])
    assert not report.findings, "\n".join(map(str, report.findings))


@pytest.mark.deep("more defences, each taken away")
@pytest.mark.parametrize(
    ("mode", "name", "sender", "moves"), _CARRIED, ids=[f"{row[0]}-{row[2]}" for row in _CARRIED]
)
def test_a_novel_sender_carries_what_a_defence_that_is_gone_kept_still(name, sender, moves, search, doctored):
    for file, text, other in SLOW[name].changes:
        doctored(file, lambda source, text=text, other=other: source.replace(text, other))
    made = search()
    with host_nodes():
        idle, sent = (
            {finding.key for finding in made.experiment(sending, How.SAME_SLOT).findings}
            for sending in (Sending("nothing"), Sending(sender, (sender,)))
        )
    assert any(re.fullmatch(moves, key) for key in sent - idle), len(sent - idle)
