"""A warm run in R is a fork of an R that has started: it finds what `Rscript script` would, and nothing that
another run has left or that all runs would share.

One slot runs all scripts. So its pipeline lies where the test can exchange it: it makes no copy of its own.
"""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from r_scripts import ENDS, HOSTILE, LOOK, MORE, OWN, PROFILE, SURROUNDINGS
from waiting import let_pass

from sandbox_images.supervisor.warm_r import PACKAGES
from worker.sandbox.core import slot
from worker.sandbox.core.images import StoredImage
from worker.sandbox.core.process import Report
from worker.sandbox.protocol import MIB, Audience, Limits, RunResult, SlotOrder
from worker.sandbox.supervised import SupervisedSandbox, SupervisedSlot
from worker.sandbox.supervised import sandbox as supervised_sandbox

READS = b"""
tables <- lapply(1:60, function(each) {
  read.delim(text = "a\tb\tc\n1\tx\t2.5", colClasses = "character", na.strings = NULL, quote = "")
})
total <- 0
for (each in rep(tables, 20)) total <- total + length(strsplit(paste(each, collapse = "-"), "-")[[1]])
writeLines(format(total), "/out/own")
"""
MARK = b"x7qMarkOfAnother"
DRAWN = "evaluate(b'stats::runif(1)', everywhere)\n    "
FORGETS = "    for text in _statements"
EXCHANGED = ("main.py", ("    copy_pipeline()\n", ""))


@pytest.fixture(scope="module")
def tree(r_tree: Path) -> Path:
    return r_tree


@pytest.fixture(scope="module")
def began() -> int:
    return int(time.time())


@pytest.fixture(scope="module")
def warm(began: int, tree: Path, sandbox: SupervisedSandbox) -> Iterator[SupervisedSlot]:
    """With an R that has drawn before its runs, as a package may when it is loaded."""
    with pytest.MonkeyPatch.context() as patch:
        edited(patch, "warm_r.py", (FORGETS, f"    {DRAWN}for text in _statements"))
        edited(patch, *EXCHANGED)
        opened = sandbox.open_slot(ask(tree, warm=PACKAGES), slot=1)
    with opened:
        yield opened


def ask(tree: Path, *, warm: tuple[str, ...] | None, **more: object) -> SlotOrder:
    facts = {
        "image": StoredImage("r", f"sha256:{0:064}", tree, "not looked at", "/usr/bin/python3"),
        "code": {"app.R": b"", "profile.R": PROFILE},
        "command": ("Rscript", "/pipeline/app.R", "a word", "{level}"),
        "levels": ("group",),
        "outputs": ("own",),
        "limits": Limits(wall_s=20, cpu_s=20, memory_bytes=1024 * MIB, file_bytes=MIB),
        "audience": Audience.TWIN,
        "warm": warm,
    }
    return SlotOrder(**{**facts, **more})


def run(opened: SupervisedSlot, script: bytes, block: dict[str, bytes] | None = None) -> RunResult:
    path = opened._places.code / "app.R"
    facts = path.stat()
    path.chmod(0o700)
    path.write_bytes(script)
    path.chmod(facts.st_mode)
    os.utime(path, (facts.st_atime, facts.st_mtime))
    return opened.run(block or {})


def said(result: RunResult) -> tuple[object, ...]:
    assert result.detail is not None
    return result.detail.cause.name, result.detail.exit_code, result.detail.tail


def own(result: RunResult) -> str:
    assert result.outputs is not None, said(result)
    return result.outputs["own"].decode()


def edited(monkeypatch: pytest.MonkeyPatch, name: str, *changes: tuple[str, str]) -> None:
    path, library = f"sandbox_images/supervisor/{name}", dict(slot._library())
    source = library[path].decode()
    for old, new in changes:
        assert old in source, f"nothing to change in {name}"
        source = source.replace(old, new)
    monkeypatch.setattr(slot, "_library", lambda: {**library, path: source.encode()})


def memory_of(opened: SupervisedSlot) -> Iterator[tuple[str, bytes]]:
    """Of the process that its runs are forked from: what of it can be written, and how it is mapped."""
    process = opened._seat.process
    assert process is not None
    number = int(Path(f"/proc/self/fdinfo/{process._zygote}").read_text().partition("Pid:")[2].split()[0])
    with open(f"/proc/{number}/maps") as maps, open(f"/proc/{number}/mem", "rb", 0) as memory:
        for line in maps:
            place, rights = line.split()[:2]
            first, last = (int(bound, 16) for bound in place.split("-"))
            if "w" in rights:
                memory.seek(first)
                yield rights, memory.read(last - first)


def times_of(opened: SupervisedSlot, since: int) -> int:
    """How often it has a moment since then in its memory, in seconds."""
    found = 0
    for _, content in memory_of(opened):
        for kind in ("<i8", "<f8"):
            numbers = np.frombuffer(content, kind)
            found += int(((numbers >= since) & (numbers < time.time() + 1)).sum())
    return found


def test_a_warm_run_in_r_finds_what_a_cold_one_does(tree, sandbox, warm, monkeypatch) -> None:
    edited(monkeypatch, *EXCHANGED)
    with sandbox.open_slot(ask(tree, warm=None), slot=2) as it:
        cold = said(run(it, SURROUNDINGS))

    assert said(run(warm, SURROUNDINGS)) == cold
    assert cold[:2] == ("EXIT", 1)
    assert "no such column" in str(cold[2])


def test_a_run_copies_fewer_pages_than_where_gaps_are_left(tree, sandbox, monkeypatch) -> None:
    copied: list[list[int]] = []

    def judged(self: SupervisedSlot, report: Report) -> RunResult:
        copied[-1].append(report.message["usage"]["faults"])
        return judge(self, report)

    judge = SupervisedSlot._judge
    monkeypatch.setattr(SupervisedSlot, "_judge", judged)
    edited(monkeypatch, *EXCHANGED)
    for changes in ((), (("    heap_of_r.fill_gaps(library)\n", ""),)):
        copied.append([])
        edited(monkeypatch, "warm_r.py", *changes)
        with sandbox.open_slot(ask(tree, warm=("jsonlite",)), slot=2) as opened:
            for _ in range(3):
                assert own(run(opened, READS)) == "3600\n"
    filled, left = map(min, copied)
    assert filled < 0.75 * left, copied


def test_it_ends_as_a_cold_one_does(warm, subtests) -> None:
    for name, (script, outcome) in ENDS.items():
        with subtests.test(msg=name):
            assert said(run(warm, script)) == outcome


@pytest.mark.deep("more ends, each also cold")
def test_all_ends_are_as_those_of_a_cold_one(tree, sandbox, warm, subtests, monkeypatch) -> None:
    edited(monkeypatch, *EXCHANGED)
    with sandbox.open_slot(ask(tree, warm=None), slot=2) as it:
        for name, script in {**MORE, **{name: script for name, (script, _) in ENDS.items()}}.items():
            with subtests.test(msg=name):
                assert said(run(warm, script)) == said(run(it, script))


def test_runs_in_r_share_no_draw_folder_or_clock(tree, sandbox, warm) -> None:
    one, other = own(run(warm, OWN)).split(), own(run(warm, OWN)).split()
    assert all(left != right for left, right in zip(one[:3], other[:3], strict=True))
    assert one[3] == other[3] == "TRUE"


def test_a_run_in_r_finds_nothing_of_a_hostile_one(began, warm) -> None:
    """Nor does the process that forks them learn of it, share memory with it, or know when it began."""
    before = own(run(warm, LOOK))
    result = run(warm, HOSTILE, {"asked": b"stop\n", "more": MARK * 1000})
    assert re.search("all sent\n(.*\n)*Error: halted\n", str(said(result)[2]))
    assert own(run(warm, LOOK)) == before
    shared = [len(content) for rights, content in memory_of(warm) if rights.endswith("s")]
    assert shared == [os.sysconf("SC_PAGESIZE")]  # where the kernel writes how a run has ended
    assert not any(MARK in content for _, content in memory_of(warm))
    assert times_of(warm, began) == 1  # with which a run's clock does not begin


@pytest.mark.deep("more ends of a hostile run")
@pytest.mark.parametrize("end", ["quit", "crash"])
def test_nor_however_that_has_ended(end, warm) -> None:
    before = own(run(warm, LOOK))
    assert "all sent" in str(said(run(warm, HOSTILE, {"asked": end.encode(), "more": MARK * 1000}))[2])
    assert own(run(warm, LOOK)) == before


def test_it_would_if_r_stayed_as_it_had_started_or_did_anything_after(tree, sandbox, monkeypatch) -> None:
    edited(
        monkeypatch,
        "payload.py",
        ("    library.R_reInitTempDir(0)\n", ""),
        ('library, "R_TempDir").value = None', 'library, "R_TempDir").value'),
        ("    library.R_setStartTime()\n", ""),
        ("    ctypes.PyDLL(None).srand(int.from_bytes(os.urandom(4)))\n", ""),
    )
    edited(
        monkeypatch,
        "warm_r.py",
        (FORGETS, f"    {DRAWN}for text in _statements"),
        ('rm(".Random.seed", envir', 'list(".Random.seed", e'),
        ("    _forget_when()\n", ""),
    )
    edited(monkeypatch, *EXCHANGED)
    everywhere = "payload.ctypes.c_void_p.in_dll(self._before[0], 'R_GlobalEnv')"
    keeps = f"self._before[0].R_ParseEvalString(b'x <- c(get0(\\'x\\'), 1:999)', {everywhere})"
    edited(monkeypatch, "zygote.py", ("            seed_again()\n", f"            {keeps}\n"))
    monkeypatch.setattr(supervised_sandbox, "check_order", lambda _: None)
    since = int(time.time())
    order = ask(tree, warm=("jsonlite",), environment={"R_PROFILE_USER": "/pipeline/profile.R"})
    with sandbox.open_slot(order, slot=1) as it:
        assert times_of(it, since) > 1
        let_pass(0.5, because="a run looks back for as long")
        one, other = own(run(it, OWN)).split(), own(run(it, OWN)).split()
        looks = [own(run(it, LOOK)) for _ in range(2)]
    assert looks[0] != looks[1]
    assert one[:3] == other[:3]
    assert other[3:] == ["FALSE", "TRUE"]  # and that a profile has seen what a run does not
