"""The gate sees: each defence is taken away, and the value that it kept still is a finding."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from host_devices import host_nodes

from sandbox_images.supervisor import confine
from worker.sandbox.gate.bench import Sending
from worker.sandbox.gate.report import Finding, How

SOURCES = Path(confine.__file__).parent
AT_ITS_START = "each run makes its file systems when it starts"
MEMORY = "memory of another"  # what a cold run's program is started with is its own
_NO_HYGIENE = ("hygiene.py", "if found != wanted", "if 0")
_LET_THE_KERNEL = "return 0, 0, _LET_THE_KERNEL\n        "


@dataclass(frozen=True)
class Removed:
    """A defence: what is changed in the source (file, text, other text), and a value that then moves.
    `sender`: who moves it, and from where; empty: quiet runs suffice.
    """

    changes: tuple[tuple[str, str, str], ...]
    moves: str
    sender: str = ""
    how: How = How.SAME_SLOT


_ALL_NAMES = "self._names = getattr(self, '_names', []) + os.listdir('/run/dpgate/in')"
QUICK = {
    "device nodes can be written": Removed(
        (
            ("main.py", "kernel.make_read_only(node)", "pass"),
            ("hygiene.py", "if writable and", "if 0 and"),
        ),
        "path /dev/null mtime",
        "device_times",
        How.OTHER_SEAT,
    ),
    "folders keep the time at which they were made": Removed(
        (("filesystems.py", 'os.utime(".", _LONG_AGO, dir_fd=folder)', "pass"),), "path /dev/shm mtime"
    ),
    "sources lie in the scratch folder": Removed(
        (("main.py", "    copy_pipeline()\n", ""),), "path /pipeline/gate.py ino"
    ),
}
SLOW = {
    "the kernel numbers pipes": Removed(
        (("answers.py", "where, flags = ", f"{_LET_THE_KERNEL}where, flags = "),),
        "opened pipe 0 ino",
        "many_pipes",
        How.BESIDE,
    ),
    "the kernel says how much memory is free": Removed(
        (
            (
                "answers.py",
                "kernel.put_into(process, arguments[0], self._machine)\n        ",
                _LET_THE_KERNEL,
            ),
        ),
        r"call sysinfo\(\)\.0\[\d+\]",
        "memory",
        How.BESIDE,
    ),
    "the kernel says how much space is free": Removed(
        (
            (
                "answers.py",
                "kernel.put_into(process, arguments[1], self._space)\n        ",
                _LET_THE_KERNEL,
            ),
        ),
        r"call statfs\(/.*\)\.0\[\d+\]",
    ),
    "a run has a /proc": Removed((("confine.py", "if procfs:", "if True:"),), "content /proc/self/.*"),
    "there is no filter": Removed(
        (("confine.py", 'steps.call("filter", ', '(lambda *_: None)("filter", '),), "opened (socket|memfd).*"
    ),
    "the forking process reads the names in a block": Removed(
        (
            (
                "zygote.py",
                "        os.pwrite(self._numbers, ",
                f"        {_ALL_NAMES}\n        os.pwrite(self._numbers, ",
            ),
        ),
        MEMORY,
        "names",
    ),
    AT_ITS_START: Removed(
        (
            (
                "filesystems.py",
                "self._renew([role for role in self._new if role in _HANDED_OVER])",
                "self._renew(list(self._new))",
            ),
            (
                "filesystems.py",
                "        self._renew([role for role in self._new if role not in _HANDED_OVER])",
                "        for role in self._new:\n            os.dup2(self._lock, self._new[role])\n",
            ),
            _NO_HYGIENE,
        ),
        "(new|path|opened) .* dev",
        "orphans",
        How.BESIDE,
    ),
    "the output of a run stays": Removed(
        (
            (
                "filesystems.py",
                "self._renew([role for role in self._new if role in _HANDED_OVER])",
                "pass",
            ),
            (
                "filesystems.py",
                "self._attach(_OUTPUT, OUTPUT, attached)",
                "os.path.ismount(OUTPUT) or self._attach(_OUTPUT, OUTPUT, [])",
            ),
            _NO_HYGIENE,
        ),
        "(path|content|folder) /out.*",
    ),
}


def _found(removed: Removed, search, doctored: Callable[..., None]) -> list[Finding]:
    for name, text, other in removed.changes:
        doctored(name, lambda source, text=text, other=other: source.replace(text, other))
    with host_nodes():
        if not removed.sender:
            return list(search().quiet()[1])
        return list(search().experiment(Sending(removed.sender, (removed.sender,)), removed.how).findings)


def _shows(findings: list[Finding], removed: Removed) -> bool:
    return any(re.fullmatch(removed.moves, finding.key) for finding in findings)


def test_what_is_to_be_taken_away_is_there() -> None:
    """Said in each run of the tests also of the defences that are taken away in the deep ring alone."""
    for name, removed in (QUICK | SLOW).items():
        for file, text, _ in removed.changes:
            assert text in (SOURCES / file).read_text(encoding="utf-8"), name


@pytest.mark.parametrize("removed", QUICK.values(), ids=QUICK)
def test_a_defence_that_is_gone_is_a_finding(removed, search, doctored):
    findings = _found(removed, search, doctored)
    assert _shows(findings, removed), findings


@pytest.mark.deep("more defences, each taken away")
@pytest.mark.parametrize(
    "name", [name for name in SLOW if SLOW[name].moves != MEMORY and name != AT_ITS_START]
)
def test_each_other_defence_that_is_gone_is_a_finding(name, search, doctored):
    findings = _found(SLOW[name], search, doctored)
    assert _shows(findings, SLOW[name]), findings


@pytest.mark.deep("more defences, each taken away")
@pytest.mark.parametrize("mode", ["cold"])  # in warm slots nothing moves that others would see
def test_what_is_made_when_a_run_starts_is_a_finding(search, doctored):
    findings = _found(SLOW[AT_ITS_START], search, doctored)
    assert _shows(findings, SLOW[AT_ITS_START]), findings


@pytest.mark.deep("more defences, each taken away")
@pytest.mark.parametrize("name", [name for name in SLOW if SLOW[name].moves == MEMORY])
@pytest.mark.parametrize("mode", ["warm"])  # a cold run has no memory of the process that forks it
def test_what_the_forking_process_learns_is_a_finding(name, search, doctored):
    findings = _found(SLOW[name], search, doctored)
    assert _shows(findings, SLOW[name]), findings
