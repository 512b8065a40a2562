"""The gate on runs in R: what a hostile one leaves, no later one finds, neither R nor the kernel tells it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from worker.sandbox.core import slot
from worker.sandbox.core.images import StoredImage
from worker.sandbox.gate import judge, senders
from worker.sandbox.gate.bench import GateBench
from worker.sandbox.gate.host import starts_r
from worker.sandbox.gate.judge import Round
from worker.sandbox.gate.known import known
from worker.sandbox.gate.languages import R
from worker.sandbox.gate.report import How
from worker.sandbox.gate.search import Search, in_r
from worker.sandbox.supervised import SupervisedSandbox

FEW_PATHS = 2000
IN_R = (
    "R option digits",
    "R generators",
    "R loaded",
    "R temporary",
    "R next connection",
    "place R environment",
)
IN_KERNEL = ("descriptor 0", "room memory", "call getpid()")


@pytest.fixture
def bench_in(r_tree: Path, sandbox: SupervisedSandbox) -> Iterator[Callable[..., GateBench]]:
    image = StoredImage("r", f"sha256:{0:064}", r_tree, "not looked at", "/usr/bin/python3")
    assert starts_r(image)
    with ExitStack() as undo:

        def made(mode: str, *, seats: int = 1) -> GateBench:
            bench = GateBench(
                sandbox, image, warm=mode == "warm", most=FEW_PATHS, first_slot=80, language=R, seats=seats
            )
            return undo.enter_context(bench)

        yield made


def moved(bench: GateBench) -> list[str]:
    """What a look finds different after a hostile run, and is on no list."""
    bench.look()
    before = bench.look()
    assert before.keys() >= {*IN_R, *IN_KERNEL}
    bench.start(senders.ALL_IN_R, 0).result()
    found = judge.differing([Round(True, before, bench.look())], before)
    return sorted(key for key in found if known(key) is None)


@pytest.mark.deep("the gate in a second language; test_warm_r.py asks what a run in R finds of a hostile one")
def test_a_run_in_r_leaves_nothing_that_another_finds(bench_in) -> None:
    assert moved(bench_in("warm")) == []


@pytest.mark.deep("the control: what R does between two runs, the next one finds")
def test_it_would_if_r_did_anything_for_each_run(bench_in, monkeypatch) -> None:
    path = "sandbox_images/supervisor/zygote.py"
    library = dict(slot._library())
    everywhere = "payload.ctypes.c_void_p.in_dll(self._before[0], 'R_GlobalEnv')"
    moves = "options(digits = getOption(\\'digits\\') %% 15 + 1)"
    keeps = f"self._before[0].R_ParseEvalString(b'{moves}', {everywhere})"
    source = library[path].decode()
    assert "            seed_again()\n" in source
    library[path] = source.replace("            seed_again()\n", f"            {keeps}\n").encode()
    monkeypatch.setattr(slot, "_library", lambda: library)
    assert "R option digits" in moved(bench_in("warm"))


@pytest.mark.deep("each sender in R by itself, and all at once in each place")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("mode", ["warm", "cold"])
def test_nothing_unlisted_moves_for_any_sender_in_r(mode, bench_in) -> None:
    asked = in_r() if mode == "warm" else [(senders.ALL_IN_R, how) for how in (How.SAME_SLOT, How.BESIDE)]
    report = Search(bench_in(mode, seats=2), mode=mode, say=lambda _: None, learned=6).asked(asked)
    assert not report.findings, "\n".join(map(str, report.findings))
