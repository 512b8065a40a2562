"""A warm run in R is a fork of an R that has started: it finds what `Rscript script` would, and nothing that
runs would share.
"""

import struct
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from base_images import base_tree

from worker.sandbox.core import slot
from worker.sandbox.core.images import StoredImage
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import MIB, Audience, Limits, RunResult, SlotOrder
from worker.sandbox.supervised import SupervisedSandbox

LOOK = b"""
environment <- Sys.getenv()
print(environment[setdiff(names(environment), "R_SESSION_TMPDIR")])
print(commandArgs()); print(search()); print(getwd()); print(interactive()); print(ls(all.names = TRUE))
print(dirname(tempdir())); print(file.exists(tempdir())); print(Sys.getpid()); print(Sys.getlocale())
print(readLines(file("stdin"))); print(.libPaths()); print(RNGkind()); set.seed(3); print(runif(1))
print(system("echo said", intern = TRUE)); deep <- function(n) deep(n + 1)
print(class(try(deep(1), silent = TRUE))); print(options()[c("digits", "warn", "OutDec", "encoding")])
library(jsonlite); print(search()[2]); print(list.files("/proc/self/fd"))
1:3
warning("careful")
.Last <- function() cat("last\\n")
(function() stop("no such column"))()
"""
OWN = b"""
draws <- c(basename(tempdir()), basename(tempfile()), runif(1))
cat(file = "/out/own", draws, proc.time()[["elapsed"]] < 0.5)
"""
DRAWN = "evaluate(b'stats::runif(1)', everywhere)\n    "
FORGETS = "    for text in _statements"


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """Where the user of a slot can get at it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        yield base_tree("r", Path(folder))


@pytest.fixture
def sandbox(open_folder: Path) -> Iterator[SupervisedSandbox]:
    open_folder.chmod(0o777)
    with SupervisedSandbox(describe(), scratch_root=open_folder / "s", allow_disk_scratch=True) as it:
        yield it


def ask(tree: Path, script: bytes, *, warm: tuple[str, ...] | None) -> SlotOrder:
    return SlotOrder(
        image=StoredImage("r", f"sha256:{0:064}", tree, "not looked at", "/usr/bin/python3"),
        code={"app.R": script},
        command=("Rscript", "/pipeline/app.R", "a word", "{level}"),
        levels=("group",),
        outputs=("own",),
        limits=Limits(wall_s=20, cpu_s=20, memory_bytes=512 * MIB),
        audience=Audience.TWIN,
        warm=warm,
    )


def said(result: RunResult) -> tuple[object, ...]:
    assert result.detail is not None
    return result.detail.cause.name, result.detail.exit_code, result.detail.tail


def own(result: RunResult) -> list[str]:
    assert result.outputs is not None, said(result)
    return result.outputs["own"].decode().split()


def edited(monkeypatch: pytest.MonkeyPatch, name: str, *changes: tuple[str, str]) -> None:
    path, library = f"sandbox_images/supervisor/{name}", dict(slot._library())
    source = library[path].decode()
    for old, new in changes:
        assert old in source, f"nothing to change in {name}"
        source = source.replace(old, new)
    monkeypatch.setattr(slot, "_library", lambda: {**library, path: source.encode()})


def times_of(opened: slot.SupervisedSlot, since: int) -> int:
    """How often its zygote has a moment since then in its memory, as seconds."""
    process = opened._seat.process
    assert process is not None
    number, now, found = slot_number(process._zygote), int(time.time()) + 1, 0
    with open(f"/proc/{number}/maps") as maps, open(f"/proc/{number}/mem", "rb", 0) as memory:
        for line in maps:
            first, last = (int(bound, 16) for bound in line.split()[0].split("-"))
            if " rw-p " in line:
                memory.seek(first)
                content = memory.read(last - first)
                for second in range(since, now + 1):
                    found += content.count(struct.pack("<q", second))
    return found


def slot_number(pidfd: int) -> int:
    text = Path(f"/proc/self/fdinfo/{pidfd}").read_text()
    return int(text.partition("Pid:")[2].split()[0])


def test_a_warm_run_in_r_finds_what_a_cold_one_does(tree, sandbox) -> None:
    with sandbox.open_slot(ask(tree, LOOK, warm=None), slot=1) as it:
        cold = said(it.run({}))
    with sandbox.open_slot(ask(tree, LOOK, warm=("jsonlite",)), slot=2) as it:
        warm = said(it.run({}))
    assert warm == cold
    assert cold[:2] == ("EXIT", 1)
    assert "no such column" in str(cold[2])


def test_runs_in_r_share_no_draw_folder_or_clock(tree, sandbox, monkeypatch) -> None:
    """Not even where a package draws when it is loaded."""
    edited(monkeypatch, "warm_r.py", (FORGETS, f"    {DRAWN}for text in _statements"))
    since = int(time.time())
    with sandbox.open_slot(ask(tree, OWN, warm=("jsonlite",)), slot=1) as it:
        assert times_of(it, since) == 0
        one, other = own(it.run({})), own(it.run({}))
    assert all(left != right for left, right in zip(one[:3], other[:3], strict=True))
    assert one[3] == other[3] == "TRUE"


def test_they_would_if_r_stayed_as_it_had_started(tree, sandbox, monkeypatch) -> None:
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
    since = int(time.time())
    with sandbox.open_slot(ask(tree, OWN, warm=("jsonlite",)), slot=1) as it:
        assert times_of(it, since) > 0
        one, other = own(it.run({})), own(it.run({}))
    assert one[:3] == other[:3]
    assert other[3] == "FALSE"
