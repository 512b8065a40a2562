"""What an attack's runs must have looked like. `judge` is the whole of it; one small rule for each
expectation.

A rule returns a complaint, or an empty string. A complaint is a failure, or residual where the catalogue
says why it is left. What the host itself noticed is never excused.
"""

import time
from collections.abc import Callable, Sequence

from sandbox_images.probe.catalogue import Expect, Mode, Probe

from .bench import CALM, SEND_S, Bench, Seen, survivors
from .result import Outcome, ProbeResult

_MOST_TEXT = 64 * 1024
_LEAD_S = 0.2  # that a sender has before its receiver starts
_TRIALS = 3  # on a busy host they may miss each other


def judge(bench: Bench, probe: Probe) -> ProbeResult:
    """Run the attack as its mode says, on this bench's sandbox."""
    seen = _MODES[probe.mode](bench, probe)
    noticed = bench.targets.touched() or _late(bench, seen) or _surviving(bench) or _too_much(seen)
    complaint = _RULES[probe.expect](seen)
    excuse = probe.excuse(bench.conditions.names)
    after = _still_well(bench, probe)
    if noticed or after or (complaint and not excuse):
        return _result(probe, Outcome.FAILED, "; ".join(filter(None, (noticed, complaint, after))))
    if complaint:
        return _result(probe, Outcome.RESIDUAL, excuse)
    return _result(probe, Outcome.PASSED, "")


def _result(probe: Probe, outcome: Outcome, detail: str) -> ProbeResult:
    return ProbeResult(probe.name, probe.category, outcome, detail)


# --- modes


def _single(bench: Bench, probe: Probe) -> list[Seen]:
    return [bench.run(probe)]


def _roles(bench: Bench, probe: Probe) -> list[Seen]:
    return [bench.run(probe, role=role) for role in (0, 1)]


def _sequence(bench: Bench, probe: Probe) -> list[Seen]:
    return [bench.run(probe, role=role) for role in (0, 1, 0)]


def _pair(bench: Bench, probe: Probe) -> list[Seen]:
    """The receiver alone, then beside a sender. Both slots are opened before, by calm runs."""
    bench.run(probe, role=CALM, slot=1)
    alone = bench.run(probe, role=0)
    for _ in range(_TRIALS):
        sender = bench.start(probe, role=1, slot=1)
        time.sleep(_LEAD_S)
        beside = bench.run(probe, role=0)
        sent = sender.result()
        # one that ended early was refused; one that sent must have done so while the other looked
        if sent.seconds < SEND_S or beside.ended <= sent.ended:
            break
    return [alone, beside] if sent.value is not None else [alone, sent]


_MODES: dict[Mode, Callable[[Bench, Probe], list[Seen]]] = {
    Mode.SINGLE: _single,
    Mode.ROLES: _roles,
    Mode.SEQUENCE: _sequence,
    Mode.PAIR: _pair,
}


# --- rules


def _blocked(seen: Sequence[Seen]) -> str:
    return "" if all(run.value == 0 for run in seen) else _describe(seen)


def _bounded(seen: Sequence[Seen]) -> str:
    return _describe(seen) if any(run.value == 1 for run in seen) else ""


def _rejected(seen: Sequence[Seen]) -> str:
    """0: the output could not even be made."""
    return "" if all(run.value in (None, 0) for run in seen) else _describe(seen)


def _same_value(seen: Sequence[Seen]) -> str:
    values = {run.value for run in seen}
    return "" if len(values) == 1 and None not in values else _describe(seen)


def _not_visible(seen: Sequence[Seen]) -> str:
    """What is handed on of runs on original data has one length, and equal numbers look the same."""
    if any(run.result.detail is not None for run in seen):
        return "a detail of a run on original data exists"
    handed_on = [run.handed_on for run in seen]
    if len({len(each) for each in handed_on}) > 1:
        return "what is handed on has a length that tells"
    numbers = {each for each, run in zip(handed_on, seen, strict=True) if run.values is not None}
    return "equal numbers are handed on as different ones" if len(numbers) > 1 else ""


def _same_time(seen: Sequence[Seen]) -> str:
    shortest, longest = (pick(run.seconds for run in seen) for pick in (min, max))
    return f"{shortest * 1000:.0f} and {longest * 1000:.0f} ms" if longest > 2 * shortest + 0.1 else ""


_RULES: dict[Expect, Callable[[Sequence[Seen]], str]] = {
    Expect.BLOCKED: _blocked,
    Expect.BOUNDED: _bounded,
    Expect.REJECTED: _rejected,
    Expect.SAME_VALUE: _same_value,
    Expect.NOT_VISIBLE: _not_visible,
    Expect.SAME_TIME: _same_time,
}


def _describe(seen: Sequence[Seen]) -> str:
    return " | ".join(run.describe() for run in seen)


# --- what the host notices


def _too_much(seen: Sequence[Seen]) -> str:
    """Only declared outputs, and only so much text, may come out."""
    if any(set(run.result.outputs or ()) - {run.output} for run in seen):
        return "something that was not declared was collected"
    texts = [run.result.detail.tail for run in seen if run.result.detail is not None]
    return (
        "more text than a researcher is shown was kept"
        if any(len(text) > _MOST_TEXT for text in texts)
        else ""
    )


def _late(bench: Bench, seen: Sequence[Seen]) -> str:
    late = [run for run in seen if run.seconds > run.limit_s + bench.patience_s]
    return f"ended {late[0].seconds:.1f} s after its start, the limit is {late[0].limit_s} s" if late else ""


def _surviving(bench: Bench) -> str:
    """The kernel may take a moment to end a namespace; nobody may outlast that."""
    deadline = time.monotonic() + bench.death_s
    while (alive := survivors(bench.mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return f"{len(alive)} processes of the run are still there" if alive else ""


def _still_well(bench: Bench, probe: Probe) -> str:
    """After an attack on resources, the same slot must run a peaceful block."""
    if probe.expect is not Expect.BOUNDED:
        return ""
    calm = bench.run(probe, role=CALM)
    if calm.value == CALM:
        return ""
    bench.renew()
    return f"afterwards the slot does not work: {calm.describe()}"
