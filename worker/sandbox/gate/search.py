"""The search: quiet looks, looks around each sender, and the size of what is left."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext

from sandbox_images.gate.classified import unclassified
from sandbox_images.seccomp.answered import answered
from sandbox_images.seccomp.policy import STRICT
from worker.sandbox.protocol import SandboxUnavailable

from . import judge, known, senders
from .bench import GateBench, Sending
from .coin import fair
from .judge import Round, Rule
from .languages import Look
from .report import Experiment, Finding, How, Report, Residual

_LOOK, _OTHER = 0, 1  # slots
_QUIET = 4  # looks that must be alike
_PAUSE_S = 0.03  # more than a tick: what is older than a run must not look new
_UNDER_WAY_S = 0.1  # until a sender beside has begun
_HOLD_S = 0.4  # how long it goes on at first; longer where a look takes longer
_MEASURED = 24  # fresh rounds for a residual channel
_AGAIN = 6  # fresh rounds in which a value that is not listed must move again to be a finding
MEASURED_CHANNELS = tuple(senders.OF_CHANNEL)
_BEFORE = {"page_faults": How.OTHER_SLOT}  # how a channel is measured, if not beside


class Search:
    """On one bench. `coin` says who sends when."""

    def __init__(
        self,
        bench: GateBench,
        *,
        mode: str,
        coin: Callable[[], bool] = fair,
        say: Callable[[str], None],
        learned: int = judge.LEARNED,
        alone: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`learned`: rounds from which a rule is made. `alone`: for as long as an experiment takes, nobody
        else on this host does what a look would see.
        """
        self._bench, self._mode, self._coin, self._say = bench, mode, coin, say
        self._learned, self._alone, self._looks = learned, alone, 0
        self._last: Look | None = None  # of this slot, if nothing has run there since
        self._hold_s = _HOLD_S

    def short(self) -> Report:
        """Everything at once, in each place."""
        return self.asked(at_once([How.SAME_SLOT, How.BESIDE]))

    def deep(self, more: Iterable[Sending] = ()) -> Report:
        """Everything at once and each sender by itself, in each place, and each residual channel."""
        return self.asked([*at_once(How), *by_itself(more, How)], MEASURED_CHANNELS)

    def asked(self, asked: Sequence[tuple[Sending, How]], channels: Sequence[str] = ()) -> Report:
        """Quiet looks, each of these experiments, and of these residual channels the size."""
        self._say(f"{self._mode}: quiet looks")
        with self._alone():
            reference, quiet = self.quiet()
        experiments = []
        for sending, how in asked:
            self._say(f"{self._mode}: {sending.name}, {how.value}")
            with self._alone():
                experiments.append(self.experiment(sending, how))
        residuals = []
        for channel in channels:
            self._say(f"{self._mode}: measuring {channel}")
            residuals.append(self.measure(channel))
        left = [
            Residual(channel, None, "", "", 0, 0, None, why)
            for channel, why in (known.NOT_MEASURED.items() if channels else ())
        ]
        return Report(
            mode=self._mode,
            values=len(reference),
            looks=self._looks,
            unclassified=tuple(sorted(unclassified(answered(STRICT)))),
            quiet=quiet,
            experiments=experiments,
            residuals=[*residuals, *left],
        )

    def quiet(self) -> tuple[Look, tuple[Finding, ...]]:
        """A look, and what other quiet looks, of this slot and of another, find different."""
        reference = self._fresh()
        rounds = [Round(False, self._look(_LOOK), self._look(_LOOK)) for _ in range(_QUIET // 2)]
        here = judge.differing(rounds, reference)
        self._look(_OTHER)
        rounds = [Round(False, self._look(_OTHER), self._look(_OTHER)) for _ in range(_QUIET // 2)]
        there = judge.differing(rounds, reference)
        findings = [
            Finding("nobody", None, key, "differs between quiet runs of one slot")
            for key in sorted(here)
            if known.known(key) is None
        ]
        findings += [
            Finding("nobody", None, key, "differs between quiet runs of two slots")
            for key in sorted(there.keys() - here.keys())
            if known.known(key, slots=True) is None
        ]
        return reference, tuple(findings)

    def experiment(self, sending: Sending, how: How) -> Experiment:
        reference = self._fresh(is_alone=how in (How.SAME_SLOT, How.OTHER_SEAT))
        rounds = [self._round(sending, how, sent=sent) for sent in self._balanced(self._learned)]
        moved = _moves(rounds, reference)
        listed = {row.channel for key in moved if (row := known.known(key)) and row.channel}
        loose = [key for key in sorted(moved) if _must_stay(key, len(moved[key]), len(rounds))]
        rules = {
            key: rule
            for key in sorted(moved)
            if (row := known.known(key)) and not row.may_follow and (rule := judge.learned(key, rounds))
        }
        fresh, again, followed = self._asked_again(sending, how, reference, loose, rules)
        findings = [
            Finding(sending.name, how, key, _words_of(moved[key] + again[key], len(rounds) + fresh))
            for key in loose
            if _must_stay(key, len(again[key]), fresh)
        ]
        findings += [
            Finding(sending.name, how, key, f"follows the sender: {rule.words}, in {right} of {fresh} rounds")
            for key, (rule, right) in followed.items()
        ]
        stray = tuple(key for key in loose if not _must_stay(key, len(again[key]), fresh))
        count = len(rounds) + fresh
        return Experiment(sending.name, how, count, tuple(sorted(listed)), stray, tuple(findings))

    def _asked_again(
        self, sending: Sending, how: How, reference: Look, loose: Sequence[str], rules: dict[str, Rule]
    ) -> tuple[int, dict[str, list[bool]], dict[str, tuple[Rule, int]]]:
        """Fresh rounds, as many as it takes: how many; unlisted keys that moved again, and in which rounds;
        and rules that showed themselves, with how often they were right.
        """
        again: dict[str, list[bool]] = {key: [] for key in loose}
        right = dict.fromkeys(rules, 0)
        open_, fresh = set(rules), 0
        while open_ or (loose and fresh < _AGAIN):
            sent = self._coin()
            each = self._round(sending, how, sent=sent)
            fresh += 1
            for key, rounds in _moves([each], reference).items():
                if key in again:
                    again[key] += rounds
            for key in list(open_):
                right[key] += rules[key].of(key, each) == sent
                if (said := judge.follows(right[key], fresh)) is not None:
                    open_.discard(key)
                    if not said:
                        del right[key]
        return fresh, again, {key: (rules[key], count) for key, count in right.items()}

    def measure(self, channel: str) -> Residual:
        """How often a look made for this channel guesses its sender, in fresh rounds."""
        sending, how = senders.of_channel(channel), _BEFORE.get(channel, How.BESIDE)
        key = f"residual {channel}"
        self._fresh()

        between = self._bench.forget_image_files if channel == "page_faults" else (lambda: None)

        def made(sent: bool) -> Round:
            return self._round(sending, how, sent=sent, residuals=(channel,), between=between)

        rounds = [made(sent) for sent in self._balanced(self._learned)]
        if all(each.after.get(key) == -1 for each in rounds):
            return Residual(channel, how, sending.name, "", 0, 0, None, "this processor has no such thing")
        rule = judge.best(key, rounds)
        if rule is None:
            return Residual(channel, how, sending.name, "no rule was better than a coin", 0, 0, 0.0)
        right = 0
        for _ in range(_MEASURED):
            sent = self._coin()
            right += rule.of(key, made(sent)) == sent
        found = judge.bits(right, _MEASURED)
        return Residual(channel, how, sending.name, rule.words, right, _MEASURED, round(found, 2))

    def _fresh(self, *, is_alone: bool = False) -> Look:
        """A first look of a new slot, after one that loads what has to be loaded. The other slot is open,
        too, unless this one `is_alone`.
        """
        self._renew()
        self._look(_LOOK)
        if not is_alone:
            self._bench.start(None, _OTHER).result()
        return self._look(_LOOK)

    def _renew(self) -> None:
        self._bench.renew()
        self._last = None

    def _look(self, slot: int, residuals: Sequence[str] = ()) -> Look:
        self._looks += 1
        time.sleep(_PAUSE_S)
        return self._bench.look(slot, residuals=residuals)

    def _round(
        self,
        sending: Sending,
        how: How,
        *,
        sent: bool,
        residuals: Sequence[str] = (),
        between: Callable[[], None] = lambda: None,
    ) -> Round:
        before = self._last or self._look(_LOOK, residuals)
        between()
        doing = sending if sent else None
        if how is How.BESIDE:
            after = self._look_beside(doing, residuals)
            self._last = None  # a look beside somebody is not one before the next
        else:
            where = _OTHER if how is How.OTHER_SLOT else _LOOK
            self._bench.start(doing, where, seat=int(how is How.OTHER_SEAT)).result()
            self._last = after = self._look(_LOOK, residuals)
        return Round(sent, before, after)

    def _look_beside(self, doing: Sending | None, residuals: Sequence[str]) -> Look:
        """One that ends before the sender does; where it takes longer, the next sender goes on for longer."""
        while self._hold_s < self._bench.wall_s:
            sender, began = self._bench.start(doing, _OTHER, hold_s=self._hold_s), time.monotonic()
            time.sleep(_UNDER_WAY_S)
            found = self._look(_LOOK, residuals)
            took_s = time.monotonic() - began
            sender.result()
            if took_s <= self._hold_s:
                return found
            self._hold_s = 1.5 * took_s
        raise SandboxUnavailable("a look takes longer than a run may go on beside it: ask when less runs")

    def _balanced(self, count: int) -> list[bool]:
        """As many with a sender as without, in pairs of which the coin says who comes first."""
        firsts = [self._coin() for _ in range(count // 2)]
        return [sent for first in firsts for sent in (first, not first)]


def at_once(places: Iterable[How]) -> list[tuple[Sending, How]]:
    """All that can be done in one run, in each of these places."""
    return [(senders.ALL_BESIDE if how is How.BESIDE else senders.ALL, how) for how in places]


def in_r() -> list[tuple[Sending, How]]:
    """The senders in R: all at once in each place, and each by itself in the slot of the look."""
    together = [(senders.ALL_IN_R, how) for how in How]
    return [*together, *((each, How.SAME_SLOT) for each in senders.one_by_one_in_r())]


def by_itself(more: Iterable[Sending], places: Sequence[How] | type[How]) -> list[tuple[Sending, How]]:
    """Each sender, and each of `more`, in each of these places."""
    return [(each, how) for each in (*senders.one_by_one(), *more) for how in places]


def _moves(rounds: Sequence[Round], reference: Look) -> dict[str, list[bool]]:
    """Keys that moved: for each round in which they did, if it was one with a sender. What may move rarely
    moves once and then stays: there it is the change within a round that counts.
    """
    moved = judge.differing(rounds, reference)
    for key in moved:
        if (row := known.known(key)) and row.is_rare:
            moved[key] = judge.changing(rounds, key)
    return moved


def _must_stay(key: str, moved: int, rounds: int) -> bool:
    """Whether it is a finding that this key has moved in so many of the rounds."""
    row = known.known(key)
    return moved > 0 and (row is None or (row.is_rare and 3 * moved >= rounds))


def _words_of(moved: Sequence[bool], rounds: int) -> str:
    sent = sum(moved)
    return f"moved in {len(moved)} of {rounds} rounds, {sent} of them with a sender"
